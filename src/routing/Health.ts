import * as Context from "effect/Context"
import type { Model } from "../domain/Model.ts"
import type { ProviderError } from "../domain/ProviderError.ts"

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
  readonly succeeded: (model: Model, latencyMillis: number) => void
  /** Takes the effect that the error's facts name; errors of the client's own making change nothing. */
  readonly failed: (model: Model, error: ProviderError) => void
}

/** What recent calls tell about each route, in memory and per node. */
export class Health extends Context.Tag("gateway/routing/Health")<Health, HealthShape>() {}
