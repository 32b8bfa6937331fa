import * as Redacted from "effect/Redacted"
import type { UpstreamBody } from "../protocols/shared/UpstreamBody.ts"

/** The request as it will be sent, for schemes that sign it. */
export interface Outgoing {
  /** Default POST. */
  readonly method?: "GET" | "POST" | "PUT" | "DELETE"
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: UpstreamBody
}

/** How requests to a provider are authenticated. */
export interface Auth {
  /** Headers to add. */
  readonly headers: (outgoing: Outgoing, nowMillis: number) => Readonly<Record<string, string>>
  /** Secrets that must never appear in a message. */
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

export type AuthScheme = (credential: Redacted.Redacted) => Auth

export const none: Auth = { headers: () => ({}), secrets: [] }

export const bearer: AuthScheme = (credential) => ({
  headers: () => ({ authorization: `Bearer ${Redacted.value(credential)}` }),
  secrets: [credential]
})

export const header =
  (name: string): AuthScheme =>
  (credential) => ({
    headers: () => ({ [name]: Redacted.value(credential) }),
    secrets: [credential]
  })
