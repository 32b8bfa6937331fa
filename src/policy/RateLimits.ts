import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { CallerShape } from "../domain/Caller.ts"
import type { RateLimited } from "../domain/GatewayError.ts"

export interface RateLimit {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly concurrentRequests: number | null
}

/** Ends the request's share of the concurrency limits; idempotent. */
export type Release = () => void

export interface RateLimitsShape {
  /** Counts one request of about `tokens` prompt tokens against the key and the project (0 for the model list). */
  readonly admit: (caller: CallerShape, tokens: number) => Effect.Effect<Release, RateLimited>
}

/** How often a key and a project may call; off unless configured. */
export class RateLimits extends Context.Tag("gateway/policy/RateLimits")<RateLimits, RateLimitsShape>() {}
