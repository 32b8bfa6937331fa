import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { closedWithin } from "../domain/Closing.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import type { Provider, ProviderCall, Receiver, Upstream } from "./Provider.ts"
import type { Probed } from "./probe/Probe.ts"

/** Starts attempts, and asks about credentials. */
export interface ProvidersShape {
  /** Starts the attempt at the provider of `call.model`; a model of an unknown provider is a defect. */
  readonly open: (call: ProviderCall, receiver: Receiver) => Upstream
  /** Whether there is such a provider, and calls of it can bring a credential of their own. */
  readonly takesCredentials: (providerId: string) => boolean
  /**
   * Asks the provider about a credential, its own one unless another is given, without the cost of a call; `null` where there
   * is no such provider or it cannot be asked.
   */
  readonly probe: (providerId: string, credential?: ProviderCredential) => Effect.Effect<Probed | null>
}

/** Dispatches a call to the provider with the model's `providerId`. */
export class Providers extends Context.Tag("gateway/provider/Providers")<Providers, ProvidersShape>() {
  /** Exactly these providers. */
  static readonly layerOf = (providers: Iterable<Provider>): Layer.Layer<Providers> =>
    Layer.scoped(
      this,
      Effect.suspend(() => {
        const all = [...providers]
        return Effect.as(closedWithScope(all), make(all))
      })
    )
}

export const make = (providers: Iterable<Provider>): ProvidersShape => {
  const byId = new Map<string, Provider>()
  for (const provider of providers) byId.set(provider.id, provider)
  return {
    open: (call, receiver) => {
      const provider = byId.get(call.model.providerId)
      if (provider === undefined) throw new Error(`no provider is registered for the model ${call.model.id}`)
      if (call.credential !== undefined && provider.takesCredentials !== true) {
        throw new Error(`the provider ${provider.id} was given a credential that it does not use`)
      }
      return provider.open(call, receiver)
    },
    takesCredentials: (providerId) => byId.get(providerId)?.takesCredentials === true,
    probe: (providerId, credential) => byId.get(providerId)?.probe?.(credential) ?? Effect.succeed(null)
  }
}

/** A finalizer of an application's provider may wait for what never answers. */
const maxCloseMillis = 5_000

/** Closes the providers with the scope, before what was built before. */
export const closedWithScope = (providers: ReadonlyArray<Provider>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.addFinalizer(() => Effect.forEach(providers, closed, { concurrency: "unbounded", discard: true }))

const closed = ({ close, id }: Provider): Effect.Effect<void> =>
  close === undefined
    ? Effect.void
    : Effect.disconnect(Effect.interruptible(close)).pipe(
        closedWithin(maxCloseMillis),
        Effect.flatMap((ended) =>
          Option.isSome(ended) ? Effect.void : Effect.logWarning("calls of a provider have not ended as it was closed")
        ),
        Effect.catchAllCause((cause) => Effect.logError("a provider has failed as it was closed", cause)),
        Effect.annotateLogs({ provider: id })
      )
