import { BoundedMap } from "../domain/BoundedMap.ts"
import type { CredentialId } from "../domain/Ids.ts"
import type { Model } from "../domain/Model.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import { Breaker } from "./Breaker.ts"
import { type RouteHealth, unknownHealth } from "./RouteHealth.ts"

/** How a model can be used with one credential. */
export interface Access {
  coolingUntilMillis: number
  coolDowns: number
  goneUntilMillis: number
}

/** With the credential of its provider. */
interface RouteState extends Access {
  readonly breaker: Breaker
  /** While nothing is against it; replaced with each latency, so that a ranking allocates nothing for it. */
  healthy: RouteHealth
}

interface ProviderState {
  readonly origin: Breaker
  rejectedUntilMillis: number
}

/** A project's own credential: `models` by id. */
interface CredentialState {
  readonly models: BoundedMap<string, Access>
  rejectedUntilMillis: number
}

/** Routes and providers in memory; a catalog has far fewer, but it may change any number of times. */
const keptStates = 5_000

/** An unlisted route has an origin of its own: its failures are no evidence about its provider's other routes. */
export const originOf = (model: Model): string => (model.listed ? model.providerId : model.id)

/** What is remembered of routes, providers and credentials; the functions add what is not there yet. */
export class HealthStates {
  /** By id of the model. */
  readonly routes = new BoundedMap<string, RouteState>(keptStates)
  /** By `originOf`. */
  readonly providers = new BoundedMap<string, ProviderState>(keptStates)
  readonly credentials = new BoundedMap<string, CredentialState>(keptStates)
  /** The versions of the credentials that are used. */
  private readonly versions = new BoundedMap<string, string>(keptStates)
  /** When a provider or a credential was last changed, by its id; only those that were. */
  private readonly changedAtMillis = new BoundedMap<string, number>(keptStates)

  routeOf(model: Model): RouteState {
    return stateOf(this.routes, model.id, newRoute)
  }

  providerOf(model: Model): ProviderState {
    return stateOf(this.providers, originOf(model), newProvider)
  }

  credentialOf(id: CredentialId): CredentialState {
    return stateOf(this.credentials, id, newCredential)
  }

  /** `null`: with the credential of the provider. */
  accessOf(model: Model, credential: CredentialId | null): Access {
    return credential === null
      ? this.routeOf(model)
      : stateOf(this.credentialOf(credential).models, model.id, newAccess)
  }

  /** Whether its secret has changed. */
  uses({ id, version }: Pick<ProviderCredential, "id" | "version">, now: number): boolean {
    const known = stateOf(this.versions, id, () => version)
    if (known === version) return false
    this.versions.set(id, version)
    this.credentials.delete(id)
    this.changedAtMillis.set(id, now)
    return true
  }

  /** A call that began then was made with a provider or a credential that has been changed since. */
  isOutdated({ providerId }: Model, credential: CredentialId | null, beganAtMillis: number): boolean {
    if (this.changedAtMillis.size === 0) return false
    const changedAtMillis = (id: string) => this.changedAtMillis.get(id) ?? Number.NEGATIVE_INFINITY
    return (
      beganAtMillis < changedAtMillis(providerId) ||
      (credential !== null && beganAtMillis < changedAtMillis(credential))
    )
  }

  /** A provider with its routes. */
  forget(providerId: string, now: number): void {
    this.changedAtMillis.set(providerId, now)
    const prefix = `${providerId}/`
    for (const known of [this.routes, this.providers]) {
      known.forEach((_, id) => {
        if (id === providerId || id.startsWith(prefix)) known.delete(id)
      })
    }
  }
}

const newRoute = (): RouteState => ({
  breaker: new Breaker(),
  healthy: unknownHealth,
  coolingUntilMillis: 0,
  coolDowns: 0,
  goneUntilMillis: 0
})

const newAccess = (): Access => ({ coolingUntilMillis: 0, coolDowns: 0, goneUntilMillis: 0 })

const newCredential = (): CredentialState => ({ models: new BoundedMap(keptStates), rejectedUntilMillis: 0 })

const newProvider = (): ProviderState => ({ origin: new Breaker(), rejectedUntilMillis: 0 })

const stateOf = <A extends NonNullable<unknown>>(states: BoundedMap<string, A>, key: string, create: () => A): A => {
  const known = states.get(key)
  if (known !== undefined) return known
  const state = create()
  states.set(key, state)
  return state
}
