import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { IdGenerator } from "../domain/IdGenerator.ts"
import type { Timers } from "../domain/Timers.ts"
import { Database } from "../sql/Database.ts"
import { Policy } from "./Policy.ts"
import { PolicyStore } from "./PolicyStore.ts"
import { noRateLimits, type RateLimitOptions, RateLimits } from "./RateLimits.ts"
import { RoutingConfigurationStore } from "./RoutingConfigurationStore.ts"
import { RoutingConfigurations } from "./RoutingConfigurations.ts"
import * as StoredRateLimits from "./StoredRateLimits.ts"

/** What applies to every project. */
export interface PolicyOptions {
  /** Of each key and each project that has none of its own, over all processes that share a database; default: no limit. */
  readonly rateLimits?: RateLimitOptions
}

/** What a call may do, from the database: the policies and routing configurations of projects, and rate limits. */
export const PolicyLayer = (options: PolicyOptions = {}) =>
  Layer.mergeAll(Policy.layer, RoutingConfigurations.layer, rateLimits(options)).pipe(
    Layer.provide([PolicyStore.layer, RoutingConfigurationStore.layer])
  )

/** The embedded database belongs to one process, which can count by itself. */
const rateLimits = ({
  rateLimits: limits = noRateLimits
}: PolicyOptions): Layer.Layer<RateLimits, never, Database | IdGenerator | Timers> =>
  Layer.unwrapEffect(
    Effect.map(
      Database,
      ({ kind }): Layer.Layer<RateLimits, never, Database | IdGenerator | Timers> =>
        kind === "postgres" ? StoredRateLimits.layer(limits) : RateLimits.layerMemory(limits)
    )
  )
