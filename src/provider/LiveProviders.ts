import * as Effect from "effect/Effect"
import type { CatalogShape, Snapshot } from "../catalog/Catalog.ts"
import type { Model } from "../domain/Model.ts"
import type { ProviderCall, Receiver, Upstream } from "./Provider.ts"
import type { ProvidersShape } from "./Providers.ts"

/** The providers of one configuration with the models that they serve. */
export interface Generation {
  readonly providers: ProvidersShape
  readonly snapshot: Snapshot
  /** With the models that only calls with a credential of their own can use. */
  readonly callerSnapshot: Snapshot
}

/**
 * The current providers and catalog. Models of an earlier generation stay with its providers: a call that was ranked before
 * a replacement falls back as it was ranked, with the credentials that it began with.
 */
export class LiveProviders implements ProvidersShape, CatalogShape {
  private current: Generation
  private readonly earlier = new WeakMap<Model, ProvidersShape>()

  constructor(first: Generation) {
    this.current = first
  }

  readonly snapshot = (): Snapshot => this.current.snapshot

  readonly callerSnapshot = (): Snapshot => this.current.callerSnapshot

  readonly open = (call: ProviderCall, receiver: Receiver): Upstream =>
    (this.earlier.get(call.model) ?? this.current.providers).open(call, receiver)

  readonly takesCredentials = (providerId: string): boolean => this.current.providers.takesCredentials(providerId)

  readonly probe: ProvidersShape["probe"] = (providerId, credential) =>
    Effect.suspend(() => this.current.providers.probe(providerId, credential))

  replace(next: Generation): void {
    const { callerSnapshot, providers, snapshot } = this.current
    for (const model of snapshot.models) this.earlier.set(model, providers)
    for (const model of callerSnapshot.models) this.earlier.set(model, providers)
    // such as the simulated ones, which are the same in every generation
    for (const model of next.snapshot.models) this.earlier.delete(model)
    for (const model of next.callerSnapshot.models) this.earlier.delete(model)
    this.current = next
  }
}
