import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Utils from "effect/Utils"
import type { Model } from "../domain/Model.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import { Breaker, priorFailure } from "./Breaker.ts"

export interface RouteHealth {
  /** Odds that the next attempt fails, 0 to 1, from recent outcomes. */
  readonly failure: number
  /** Not to be tried before this time (milliseconds since the epoch); 0 when it is ready. */
  readonly restingUntilMillis: number
  /** Typical time to first content, milliseconds; null without data. Only ever breaks ties. */
  readonly latencyMillis: number | null
}

export interface HealthShape {
  readonly of: (model: Model) => RouteHealth
  /** An attempt begins: what has rested is on trial with it, and rests for the others until it is decided. */
  readonly attempted: (model: Model) => void
  readonly succeeded: (model: Model, latencyMillis: number) => void
  /** Takes the effect that the error's facts name; errors of the client's own making change nothing. */
  readonly failed: (model: Model, error: ProviderError) => void
}

/** What recent calls tell about each route, in memory and per node. */
export class Health extends Context.Tag("gateway/routing/Health")<Health, HealthShape>() {
  static readonly layer: Layer.Layer<Health, never, Timers> = Layer.effect(
    this,
    Effect.map(Effect.all([Timers, Random.nextInt]), ([timers, seed]) => {
      const random = new Utils.PCGRandom(seed)
      return make(timers, () => random.number())
    })
  )
}

/** A 429 without a time rests the route this long, doubling to the cap while it goes on. */
const coolDownMillis = 5_000
const longestCoolDownMillis = 60_000
/** A cool-down is shortened by up to this share, so that nodes do not come back in step. */
const jitter = 0.25

/** Longer than this no named time is believed. */
const longestRetryAfterMillis = 3_600_000

/** A refused credential puts its provider out this long; then the next call is its trial. */
const brokenCredentialMillis = 300_000

/** A model that its provider no longer serves. */
const modelGoneMillis = 3_600_000

/** An answer without content is half a failure. */
const emptyWeight = 0.5

/** Share of the newest latency in the typical one. */
const latencyShare = 0.2

/** Routes and providers remembered at most; the catalog has far fewer, but it may change for ever. */
const mostRemembered = 10_000

interface RouteState {
  readonly breaker: Breaker
  latencyMillis: number | null
  coolingUntilMillis: number
  coolDowns: number
  goneUntilMillis: number
}

interface ProviderState {
  readonly origin: Breaker
  refusedUntilMillis: number
}

/** A route outside the list stands for itself: what befalls it tells nothing about its provider's other routes. */
const originOf = (model: Model): string => (model.listed ? model.providerId : model.id)

/** `random` answers from 0 to 1. */
export const make = (timers: TimersShape, random: () => number): HealthShape => {
  const routes = new Map<string, RouteState>()
  const providers = new Map<string, ProviderState>()
  const routeOf = (model: Model): RouteState => remembered(routes, model.id, newRoute)
  const providerOf = (model: Model): ProviderState => remembered(providers, originOf(model), newProvider)

  const coolDown = (route: RouteState, now: number, namedMillis: number | null): void => {
    if (namedMillis !== null) {
      route.coolingUntilMillis = Math.max(
        route.coolingUntilMillis,
        now + Math.max(0, Math.min(longestRetryAfterMillis, namedMillis))
      )
      return
    }
    // Calls that were under way together are limited together: that is one cool-down, not several.
    if (now < route.coolingUntilMillis) return
    const millis = Math.min(longestCoolDownMillis, coolDownMillis * 2 ** Math.min(route.coolDowns, 10))
    route.coolDowns++
    route.coolingUntilMillis = now + millis * (1 - jitter * random())
  }

  return {
    of: (model) => {
      const route = routes.get(model.id)
      const provider = providers.get(originOf(model))
      if (route === undefined && provider === undefined) return unknownHealth
      const now = timers.now()
      const outUntilMillis = Math.max(route?.goneUntilMillis ?? 0, provider?.refusedUntilMillis ?? 0)
      const restingUntilMillis = Math.max(
        outUntilMillis,
        route?.breaker.restingUntilMillis ?? 0,
        route?.coolingUntilMillis ?? 0,
        provider?.origin.restingUntilMillis ?? 0
      )
      return {
        failure:
          outUntilMillis > now
            ? 1
            : Math.max(route?.breaker.failure(now) ?? priorFailure, provider?.origin.failure(now) ?? priorFailure),
        restingUntilMillis: restingUntilMillis > now ? restingUntilMillis : 0,
        latencyMillis: route?.latencyMillis ?? null
      }
    },
    attempted: (model) => {
      const route = routes.get(model.id)
      const provider = providers.get(originOf(model))
      if (route === undefined && provider === undefined) return
      const now = timers.now()
      route?.breaker.attempted(now)
      provider?.origin.attempted(now)
    },
    succeeded: (model, latencyMillis) => {
      const now = timers.now()
      const route = routeOf(model)
      route.breaker.succeeded(now)
      route.coolDowns = 0
      route.latencyMillis =
        route.latencyMillis === null
          ? latencyMillis
          : route.latencyMillis + latencyShare * (latencyMillis - route.latencyMillis)
      providers.get(originOf(model))?.origin.succeeded(now)
    },
    failed: (model, error) => {
      const now = timers.now()
      switch (error.facts.health) {
        case "none":
          return
        case "origin":
          return providerOf(model).origin.failed(now, 1)
        case "route": {
          const route = routeOf(model)
          route.breaker.failed(now, error.reason._tag === "EmptyCompletion" ? emptyWeight : 1)
          if (error.retryAfterMillis !== null) coolDown(route, now, error.retryAfterMillis)
          return
        }
        case "cool-down":
          return coolDown(routeOf(model), now, error.retryAfterMillis)
        case "credential":
          providerOf(model).refusedUntilMillis = now + brokenCredentialMillis
          return
        case "candidate":
          routeOf(model).goneUntilMillis = now + modelGoneMillis
          return
      }
    }
  }
}

const unknownHealth: RouteHealth = { failure: priorFailure, restingUntilMillis: 0, latencyMillis: null }

const newRoute = (): RouteState => ({
  breaker: new Breaker(),
  latencyMillis: null,
  coolingUntilMillis: 0,
  coolDowns: 0,
  goneUntilMillis: 0
})

const newProvider = (): ProviderState => ({ origin: new Breaker(), refusedUntilMillis: 0 })

/** Forgets what it has known longest when it is full. */
const remembered = <A>(states: Map<string, A>, key: string, create: () => A): A => {
  const known = states.get(key)
  if (known !== undefined) return known
  if (states.size >= mostRemembered) {
    const oldest = states.keys().next()
    if (oldest.done !== true) states.delete(oldest.value)
  }
  const state = create()
  states.set(key, state)
  return state
}
