import type * as Redacted from "effect/Redacted"

/** Of the `OIDC_*` variables. */
export interface OidcOptions {
  /** As it stands in `iss`, to the letter. */
  readonly issuer: string
  /** What `aud` must contain in a token that is sent as bearer. */
  readonly audience: string
  readonly clientId: string
  /** `null`: a public client. */
  readonly clientSecret: Redacted.Redacted | null
  /** The claim that makes an operator; `null`: nobody is one. */
  readonly operator: { readonly claim: string; readonly value: string } | null
}

/** How far the clocks of the issuer and of the gateway may be apart. */
export const leewaySeconds = 60
