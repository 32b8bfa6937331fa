import { priorFailure } from "./Breaker.ts"

/** What recent calls say about a route. */
export interface RouteHealth {
  /** Probability that the next attempt fails, 0 to 1, from recent outcomes. */
  readonly failure: number
  /** The circuit is open until this time (milliseconds since the epoch); 0 when it is closed or half-open. */
  readonly openUntilMillis: number
  /** Moving average of the time to first content, milliseconds; null without data. Only breaks ties. */
  readonly latencyMillis: number | null
}

/** Of a route that nothing is known of. */
export const unknownHealth: RouteHealth = { failure: priorFailure, openUntilMillis: 0, latencyMillis: null }
