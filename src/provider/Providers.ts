import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Provider, ProviderCall, Receiver, Upstream } from "./Provider.ts"

export interface ProvidersShape {
  /** Starts the attempt at the provider of `call.model`; a model of an unknown provider is a defect. */
  readonly open: (call: ProviderCall, receiver: Receiver) => Upstream
}

/** Dispatches a call to the provider with the model's `providerId`. */
export class Providers extends Context.Tag("gateway/provider/Providers")<Providers, ProvidersShape>() {
  static readonly layerOf = (providers: Iterable<Provider>): Layer.Layer<Providers> =>
    Layer.succeed(this, make(providers))
}

export const make = (providers: Iterable<Provider>): ProvidersShape => {
  const byId = new Map<string, Provider>()
  for (const provider of providers) byId.set(provider.id, provider)
  return {
    open: (call, receiver) => {
      const provider = byId.get(call.model.providerId)
      if (provider === undefined) throw new Error(`no provider is registered for the model ${call.model.id}`)
      return provider.open(call, receiver)
    }
  }
}
