import type * as Redacted from "effect/Redacted"
import type { CredentialId } from "./Ids.ts"

/** A project's own credential of a provider. */
export interface ProviderCredential {
  /** Of the credential. */
  readonly id: CredentialId
  /** Whose calls it authenticates. */
  readonly providerId: string
  /** What is sent to the provider. */
  readonly secret: Redacted.Redacted
  /** Another one with each secret: what is known of the last one says nothing of the next. */
  readonly version: string
  /** Ids, `<prefix>/*` or `*`; `null`: every model of the provider. */
  readonly allowedModels: ReadonlyArray<string> | null
}
