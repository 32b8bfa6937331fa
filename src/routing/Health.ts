import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Utils from "effect/Utils"
import type { CredentialId } from "../domain/Ids.ts"
import type { Model } from "../domain/Model.ts"
import type { ProviderCredential } from "../domain/ProviderCredential.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import { priorFailure } from "./Breaker.ts"
import * as Circuits from "./Circuits.ts"
import { type Access, HealthStates, originOf } from "./HealthStates.ts"
import { type RouteHealth, unknownHealth } from "./RouteHealth.ts"

/**
 * What is known of routes, read and written without an Effect. What only concerns a credential (it is rejected, limited, or has no
 * access to a model) is kept for each by itself: for a project's own one where it is named, else for that of the provider.
 * Everything else is shared.
 */
export interface HealthShape {
  /** Of the route to a model. `nowMillis`: for a ranking, which asks about many models at one moment. */
  readonly of: (model: Model, credential?: CredentialId | null, nowMillis?: number) => RouteHealth
  /**
   * Of these places by model id, those of the routes of which something is known with the credential of their provider; `null`
   * where it may be any.
   */
  readonly knownIn: (places: ReadonlyMap<string, number>) => ReadonlyArray<number> | null
  /** An attempt begins; a half-open circuit stays open for other calls until this probe is decided. */
  readonly attempted: (model: Model) => void
  /**
   * The attempt has answered, its first content after this time. `beganAtMillis`: the call, by `Timers`; now where it is left out. It
   * has no effect where the call began before its provider or its credential was changed.
   */
  readonly succeeded: (
    model: Model,
    latencyMillis: number,
    credential?: CredentialId | null,
    beganAtMillis?: number
  ) => void
  /**
   * Has the effect that the error's `facts.health` names; errors of the client have none, nor has one of a call that began before its
   * provider or its credential was changed.
   */
  readonly failed: (
    model: Model,
    error: ProviderError,
    credential?: CredentialId | null,
    beganAtMillis?: number
  ) => void
  /** The provider has changed: what is known of it and its routes says nothing any more. */
  readonly forget: (providerId: string) => void
  /** These are about to be used: what is known of one whose secret has changed since says nothing any more. */
  readonly uses: (credentials: ReadonlyArray<Pick<ProviderCredential, "id" | "version">>) => void
}

/** Health of each route from recent calls, in memory and per node. */
export class Health extends Context.Tag("gateway/routing/Health")<Health, HealthShape>() {
  /** Circuit breakers and rates of failure, empty at the start. */
  static readonly layer: Layer.Layer<Health, never, Timers> = Layer.scoped(
    this,
    Effect.map(Effect.all([Timers, Random.nextInt, Circuits.make]), ([timers, seed, circuits]) => {
      const random = new Utils.PCGRandom(seed)
      return make(timers, () => random.number(), circuits)
    })
  )
}

/** The cool-down after a 429 without Retry-After; it doubles up to the cap while 429s go on. */
const coolDownMillis = 5_000
const maxCoolDownMillis = 60_000
/** A cool-down is shortened by up to this share, so that nodes do not come back in step. */
const jitter = 0.25

/** A provider's Retry-After is cut to this. */
const maxRetryAfterMillis = 3_600_000

/** A rejected credential opens the circuit of its provider for this long. */
const rejectedCredentialMillis = 300_000

/** How long a model that its provider no longer serves is out. */
const modelGoneMillis = 3_600_000

/** Weight of a response without content. */
const emptyWeight = 0.5

/** Share of the newest latency in the moving average. */
const latencyShare = 0.2

/** `random` returns a number from 0 to 1. */
export const make = (
  timers: TimersShape,
  random: () => number,
  circuits: Circuits.CircuitsShape = Circuits.unwatched
): HealthShape => {
  const states = new HealthStates()
  return {
    of: (model, credential = null, nowMillis) => healthOf(states, timers, model, credential, nowMillis),
    knownIn: (places) => knownPlaces(states, places),
    attempted: (model) => {
      const route = states.routes.get(model.id)
      const provider = states.providers.get(originOf(model))
      if (route === undefined && provider === undefined) return
      const now = timers.now()
      route?.breaker.attempted(now)
      provider?.origin.attempted(now)
    },
    succeeded: (model, latencyMillis, credential = null, beganAtMillis = timers.now()) => {
      if (states.isOutdated(model, credential, beganAtMillis)) return
      succeeded(states, circuits, timers.now(), model, latencyMillis, credential)
    },
    failed: (model, error, credential = null, beganAtMillis = timers.now()) => {
      if (states.isOutdated(model, credential, beganAtMillis)) return
      const opened = failed(states, random, timers.now(), model, error, credential)
      for (const { scope, untilMillis } of opened) {
        const shared = scope === "route" || scope === "origin"
        circuits.opened(circuitOf(scope, model, shared ? null : credential), error.reason._tag, untilMillis)
      }
    },
    forget: (providerId) => {
      states.forget(providerId, timers.now())
      // projects' own credentials for it are the same as before
      circuits.forgotten(({ credential, provider }) => credential === null && provider === providerId)
    },
    uses: (credentials) => {
      for (const used of credentials) {
        if (states.uses(used, timers.now())) circuits.forgotten(({ credential }) => credential === used.id)
      }
    }
  }
}

const healthOf = (
  { credentials, providers, routes }: HealthStates,
  timers: TimersShape,
  model: Model,
  credential: CredentialId | null,
  nowMillis: number | undefined
): RouteHealth => {
  const route = routes.get(model.id)
  // none is known where none has failed
  const provider = providers.size === 0 ? undefined : providers.get(originOf(model))
  const own = credential === null ? undefined : credentials.get(credential)
  if (route === undefined && provider === undefined && own === undefined) return unknownHealth
  const now = nowMillis ?? timers.now()
  const access = credential === null ? route : own?.models.get(model.id)
  const rejectedUntilMillis = (credential === null ? provider : own)?.rejectedUntilMillis ?? 0
  const outUntilMillis = Math.max(access?.goneUntilMillis ?? 0, rejectedUntilMillis)
  const openUntilMillis = Math.max(
    outUntilMillis,
    route?.breaker.openUntilMillis ?? 0,
    access?.coolingUntilMillis ?? 0,
    provider?.origin.openUntilMillis ?? 0
  )
  const failure =
    outUntilMillis > now
      ? 1
      : Math.max(route?.breaker.failure(now) ?? priorFailure, provider?.origin.failure(now) ?? priorFailure)
  const healthy = route?.healthy ?? unknownHealth
  if (failure === priorFailure && openUntilMillis <= now) return healthy
  return {
    failure,
    openUntilMillis: openUntilMillis > now ? openUntilMillis : 0,
    latencyMillis: healthy.latencyMillis
  }
}

const knownPlaces = (
  { providers, routes }: HealthStates,
  places: ReadonlyMap<string, number>
): ReadonlyArray<number> | null => {
  // what is known of a provider holds for all of its routes
  if (providers.size > 0 || routes.size > places.size) return null
  const known: Array<number> = []
  routes.forEach((_, id) => {
    const at = places.get(id)
    if (at !== undefined) known.push(at)
  })
  return known
}

const succeeded = (
  states: HealthStates,
  circuits: Circuits.CircuitsShape,
  now: number,
  model: Model,
  latencyMillis: number,
  credential: CredentialId | null
): void => {
  const { credentials, providers } = states
  const route = states.routeOf(model)
  const access = states.accessOf(model, credential)
  const own = credential === null ? providers.get(originOf(model)) : credentials.get(credential)
  if (route.breaker.succeeded(now)) circuits.closed(circuitOf("route", model, null))
  if (isOver(access.coolingUntilMillis, now)) {
    access.coolingUntilMillis = 0
    circuits.closed(circuitOf("rate_limit", model, credential))
  }
  if (isOver(access.goneUntilMillis, now)) {
    access.goneUntilMillis = 0
    circuits.closed(circuitOf("model", model, credential))
  }
  if (own !== undefined && isOver(own.rejectedUntilMillis, now)) {
    own.rejectedUntilMillis = 0
    circuits.closed(circuitOf("credential", model, credential))
  }
  access.coolDowns = 0
  const before = route.healthy.latencyMillis ?? latencyMillis
  route.healthy = { ...unknownHealth, latencyMillis: before + latencyShare * (latencyMillis - before) }
  if (providers.get(originOf(model))?.origin.succeeded(now) === true) {
    circuits.closed(circuitOf("origin", model, null))
  }
}

interface Opened {
  readonly scope: Circuits.Circuit["scope"]
  readonly untilMillis: number
}

/** The circuits that the failure opens. */
const failed = (
  states: HealthStates,
  random: () => number,
  now: number,
  model: Model,
  error: ProviderError,
  credential: CredentialId | null
): ReadonlyArray<Opened> => {
  const cooled = (): Opened => ({
    scope: "rate_limit",
    untilMillis: coolDown(states.accessOf(model, credential), now, error.retryAfterMillis, random)
  })
  switch (error.facts.health) {
    case "none":
      return []
    case "origin": {
      const { origin } = states.providerOf(model)
      return origin.failed(now, 1) ? [{ scope: "origin", untilMillis: origin.openUntilMillis }] : []
    }
    case "route": {
      const { breaker } = states.routeOf(model)
      const weight = error.reason._tag === "EmptyCompletion" ? emptyWeight : 1
      const broken: ReadonlyArray<Opened> = breaker.failed(now, weight)
        ? [{ scope: "route", untilMillis: breaker.openUntilMillis }]
        : []
      return error.retryAfterMillis === null ? broken : [...broken, cooled()]
    }
    case "cool-down":
      return [cooled()]
    case "credential": {
      const rejected = credential === null ? states.providerOf(model) : states.credentialOf(credential)
      rejected.rejectedUntilMillis = now + rejectedCredentialMillis
      return [{ scope: "credential", untilMillis: rejected.rejectedUntilMillis }]
    }
    case "candidate": {
      const access = states.accessOf(model, credential)
      access.goneUntilMillis = now + modelGoneMillis
      return [{ scope: "model", untilMillis: access.goneUntilMillis }]
    }
  }
}

/** When the route is used again; a provider that says when is believed. */
const coolDown = (access: Access, now: number, retryAfterMillis: number | null, random: () => number): number => {
  if (retryAfterMillis !== null) {
    access.coolingUntilMillis = Math.max(
      access.coolingUntilMillis,
      now + Math.max(0, Math.min(maxRetryAfterMillis, retryAfterMillis))
    )
    return access.coolingUntilMillis
  }
  // Concurrent calls that are limited together are one cool-down, not several.
  if (now < access.coolingUntilMillis) return access.coolingUntilMillis
  const millis = Math.min(maxCoolDownMillis, coolDownMillis * 2 ** Math.min(access.coolDowns, 10))
  access.coolDowns++
  access.coolingUntilMillis = now + millis * (1 - jitter * random())
  return access.coolingUntilMillis
}

/** A call that began before may succeed while the circuit is open. */
const isOver = (untilMillis: number, now: number): boolean => untilMillis > 0 && untilMillis <= now

const circuitOf = (
  scope: Circuits.Circuit["scope"],
  model: Model,
  credential: CredentialId | null
): Circuits.Circuit => {
  // an unlisted route has an origin of its own
  const isAll = scope === "credential" || scope === "origin"
  return { scope, provider: model.providerId, model: isAll && model.listed ? "" : model.id, credential }
}
