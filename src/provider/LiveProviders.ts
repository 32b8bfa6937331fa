import * as Effect from "effect/Effect"
import type { CatalogShape, Snapshot } from "../catalog/Catalog.ts"
import type { Model } from "../domain/Model.ts"
import type { ProviderCall, Receiver, Upstream } from "./Provider.ts"
import type { ProvidersShape } from "./Providers.ts"

/** The providers of one configuration with the models that they serve. */
export interface Generation {
  readonly providers: ProvidersShape
  readonly snapshot: Snapshot
}

/**
 * The providers and the catalog in force. Models of an earlier generation stay with its providers: a call that was ranked before
 * a replacement falls back as it was ranked, with the credentials that it began with.
 */
export class LiveProviders implements ProvidersShape, CatalogShape {
  private current: Generation
  private readonly earlier = new WeakMap<Model, ProvidersShape>()

  constructor(first: Generation) {
    this.current = first
  }

  readonly snapshot = (): Snapshot => this.current.snapshot

  readonly open = (call: ProviderCall, receiver: Receiver): Upstream =>
    (this.earlier.get(call.model) ?? this.current.providers).open(call, receiver)

  readonly takesCredentials = (providerId: string): boolean => this.current.providers.takesCredentials(providerId)

  readonly probe: ProvidersShape["probe"] = (providerId, credential) =>
    Effect.suspend(() => this.current.providers.probe(providerId, credential))

  replace(next: Generation): void {
    const { providers, snapshot } = this.current
    const kept = new Set(next.snapshot.models)
    for (const model of snapshot.models) if (!kept.has(model)) this.earlier.set(model, providers)
    this.current = next
  }
}
