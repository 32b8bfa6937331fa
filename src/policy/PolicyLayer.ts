import * as Layer from "effect/Layer"
import { Policy } from "./Policy.ts"
import { PolicyStore } from "./PolicyStore.ts"
import { type RateLimitOptions, RateLimits } from "./RateLimits.ts"
import { RoutingConfigurationStore } from "./RoutingConfigurationStore.ts"
import { RoutingConfigurations } from "./RoutingConfigurations.ts"

export interface PolicyOptions {
  /** Of each key and each project, per process; without them nothing is limited. */
  readonly rateLimits?: RateLimitOptions
}

/** What a call may do, from the database: the policies and routing configurations of projects, and rate limits. */
export const PolicyLayer = (options: PolicyOptions = {}) =>
  Layer.mergeAll(
    Policy.layer,
    RoutingConfigurations.layer,
    options.rateLimits === undefined ? RateLimits.layerOff : RateLimits.layerMemory(options.rateLimits)
  ).pipe(Layer.provide([PolicyStore.layer, RoutingConfigurationStore.layer]))
