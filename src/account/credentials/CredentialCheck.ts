import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { Catalog } from "../../catalog/Catalog.ts"
import type { ChatRequest } from "../../domain/Chat.ts"
import { IdGenerator, nextRequestId } from "../../domain/IdGenerator.ts"
import type { Model } from "../../domain/Model.ts"
import type { ProviderCredential } from "../../domain/ProviderCredential.ts"
import { ProviderError } from "../../domain/ProviderError.ts"
import { Timers } from "../../domain/Timers.ts"
import { Providers } from "../../provider/Providers.ts"
import { credentialsFor } from "../../routing/CredentialChoice.ts"
import { decode } from "../../wire/chat/ChatRequest.ts"

/** What a provider says to a credential. */
export interface Checked {
  /** unknown: the provider could not be asked, or has failed for another reason than the credential. */
  readonly status: "accepted" | "rejected" | "unknown"
  /** The model that was asked; `null` where the credential allows none, or none had to be. */
  readonly model: string | null
  readonly latencyMillis: number
  readonly error: { readonly code: string; readonly message: string } | null
}

export interface CredentialCheckShape {
  /** Whether calls of this provider can bring a credential. */
  readonly takesCredentials: (providerId: string) => boolean
  /**
   * Asks the provider without cost, as for its list of models; where that says nothing about the credential, asks the cheapest model
   * that it allows for one token. For at most 5 seconds together.
   */
  readonly check: (credential: ProviderCredential) => Effect.Effect<Checked>
}

/** Tries credentials of projects at their providers. */
export class CredentialCheck extends Context.Tag("gateway/account/CredentialCheck")<
  CredentialCheck,
  CredentialCheckShape
>() {
  static readonly layer: Layer.Layer<CredentialCheck, never, Catalog | IdGenerator | Providers | Timers> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const maxCheckMillis = 5_000

const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const providers = yield* Providers
  const timers = yield* Timers
  const ids = yield* IdGenerator

  const ask = (model: Model, credential: ProviderCredential, millis: number) =>
    Effect.async<void, ProviderError>((resume) => {
      const fail = (error: ProviderError) => {
        late()
        resume(Effect.fail(error))
      }
      const upstream = providers.open(
        {
          requestId: nextRequestId(ids),
          model,
          request: question,
          effort: undefined,
          maxOutputTokens: 1,
          dropped: [],
          credential
        },
        {
          activity: () => {},
          event: () => {},
          end: () => {
            late()
            resume(Effect.void)
          },
          fail
        }
      )
      const late = timers.after(millis, () => {
        upstream.close()
        fail(new ProviderError({ providerId: model.providerId, reason: { _tag: "AnswerTimeout" } }))
      })
      return Effect.sync(() => {
        late()
        upstream.close()
      })
    })

  return CredentialCheck.of({
    takesCredentials: providers.takesCredentials,
    check: (credential) =>
      Effect.suspend(() => {
        const startedAtMillis = timers.now()
        const model = cheapest(
          catalog.callerSnapshot().models.filter((one) => credentialsFor([credential], one).length > 0)
        )
        if (model === undefined) return Effect.succeed(noModel)
        const takenMillis = () => timers.now() - startedAtMillis
        const checked = (asked: Model | null, status: Checked["status"], error: Checked["error"]): Checked => ({
          status,
          model: asked?.id ?? null,
          latencyMillis: Math.round(takenMillis()),
          error
        })
        const byOneToken = Effect.suspend(() =>
          Effect.match(ask(model, credential, Math.max(0, maxCheckMillis - takenMillis())), {
            onSuccess: () => checked(model, "accepted", null),
            onFailure: (error) =>
              error.reason._tag === "CredentialRejected"
                ? checked(model, "rejected", rejected)
                : checked(model, "unknown", {
                    code: error.facts.code,
                    message: error.callError.message ?? error.facts.message
                  })
          })
        )
        const probed = Effect.timeoutTo(providers.probe(credential.providerId, credential), {
          duration: maxCheckMillis,
          onSuccess: (found) => found?.status,
          onTimeout: () => undefined
        })
        return Effect.flatMap(probed, (status) => {
          if (status === "accepted") return Effect.sync(() => checked(null, "accepted", null))
          return status === "refused" ? Effect.sync(() => checked(null, "rejected", rejected)) : byOneToken
        })
      })
  })
})

const noModel: Checked = {
  status: "unknown",
  model: null,
  latencyMillis: 0,
  error: { code: "model_not_found", message: "The credential allows no model of its provider." }
}

const rejected = { code: "credential_rejected", message: "The provider rejected the credential." }

const cheapest = (models: ReadonlyArray<Model>): Model | undefined =>
  models.reduce<Model | undefined>(
    (best, model) => (best === undefined || outputPrice(model) < outputPrice(best) ? model : best),
    undefined
  )

const outputPrice = ({ prices }: Model): number => prices?.output ?? Number.POSITIVE_INFINITY

const question: ChatRequest = Either.getOrThrowWith(
  decode({ model: "auto", messages: [{ role: "user", content: "Hi" }] }),
  () => new Error("the question of a credential's check is no valid request")
)
