import { createHmac, randomBytes } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { MasterKey, type MasterKeyShape } from "../../credentials/MasterKey.ts"
import * as Sealing from "../../credentials/Sealing.ts"
import type { SealingUnavailable } from "../../domain/AccountError.ts"
import type { ProjectId } from "../../domain/Ids.ts"

export interface WebhookSecretsShape {
  /** A new secret, and how it is stored. */
  readonly make: (
    project: ProjectId
  ) => Effect.Effect<{ readonly secret: Redacted.Redacted; readonly sealed: Uint8Array }, SealingUnavailable>
  /** `undefined` when no configured master key opens it. */
  readonly open: (project: ProjectId, sealed: Uint8Array) => Effect.Effect<Redacted.Redacted | undefined>
  /** The same secret under the current master key; `undefined` when no configured one opens it. */
  readonly resealed: (
    project: ProjectId,
    sealed: Uint8Array
  ) => Effect.Effect<"current" | Uint8Array | undefined, SealingUnavailable>
}

/** The secrets that sign what is sent to webhooks, sealed under the master key; each opens only as that of its own project. */
export class WebhookSecrets extends Context.Tag("gateway/account/WebhookSecrets")<
  WebhookSecrets,
  WebhookSecretsShape
>() {
  static readonly layer: Layer.Layer<WebhookSecrets, never, MasterKey> = Layer.effect(
    this,
    Effect.map(MasterKey, (masterKey) => make(masterKey))
  )
}

/** `webhook-signature` of Standard Webhooks. */
export const signatureOf = (secret: Redacted.Redacted, id: string, seconds: number, body: string): string => {
  const key = Buffer.from(Redacted.value(secret).slice(prefix.length), "base64")
  return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`
}

const prefix = "whsec_"
const secretBytes = 32
const purpose = "webhook secrets"
const contextOf = (project: ProjectId): string => `webhook of project ${project}`

const make = (masterKey: MasterKeyShape): WebhookSecretsShape => ({
  make: (project) =>
    Effect.map(masterKey.derived(purpose), (key) => {
      const secret = `${prefix}${randomBytes(secretBytes).toString("base64")}`
      return { secret: Redacted.make(secret), sealed: Sealing.seal(key, contextOf(project), secret) }
    }),
  open: (project, sealed) =>
    masterKey.accepted(purpose).pipe(
      Effect.map((keys) => Sealing.open(keys, contextOf(project), sealed)),
      Effect.map((secret) => (secret === undefined ? undefined : Redacted.make(secret))),
      Effect.catchTag("SealingUnavailable", () => Effect.succeed(undefined))
    ),
  resealed: (project, sealed) =>
    Effect.zipWith(masterKey.derived(purpose), masterKey.accepted(purpose), (current, accepted) => {
      if (Sealing.openWith(current, contextOf(project), sealed) !== undefined) return "current"
      const secret = Sealing.open(accepted, contextOf(project), sealed)
      return secret === undefined ? undefined : Sealing.seal(current, contextOf(project), secret)
    })
})
