import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConfigIssue, InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { issuesWithin, layerIfValid } from "../domain/OptionIssues.ts"
import type { Timers } from "../domain/Timers.ts"
import { Database } from "../sql/Database.ts"
import { Policy } from "./Policy.ts"
import { PolicyStore } from "./PolicyStore.ts"
import { issuesOfRateLimits, noRateLimits, type RateLimitOptions, RateLimits } from "./RateLimits.ts"
import { RoutingConfigurationStore } from "./RoutingConfigurationStore.ts"
import { RoutingConfigurations } from "./RoutingConfigurations.ts"
import * as StoredRateLimits from "./StoredRateLimits.ts"

/** What applies to every project. */
export interface PolicyOptions {
  /**
   * Of each key and each project that has none of its own, over all processes that share a database, each `null` or 1 to
   * 1,000,000,000; default: no limit.
   */
  readonly rateLimits?: RateLimitOptions
}

/**
 * What a call may do, from the database: the policies and routing configurations of projects, and rate limits. Fails with
 * `InvalidConfiguration` where a limit is neither `null` nor a whole number above zero.
 *
 * A project that is not in the database may use no model, and a warning in the log says so: `Projects.create` makes one for an account of
 * `Accounts`; a program without projects takes `Policy.layerOpen` in place of this Layer.
 */
export const PolicyLayer = (options: PolicyOptions = {}) =>
  layerIfValid(
    () => issuesOfPolicyOptions(options),
    () =>
      Layer.mergeAll(Policy.layer, RoutingConfigurations.layer, rateLimits(options)).pipe(
        Layer.provide([PolicyStore.layer, RoutingConfigurationStore.layer])
      )
  )

/** What is wrong with the options. */
export const issuesOfPolicyOptions = ({ rateLimits = noRateLimits }: PolicyOptions): ReadonlyArray<ConfigIssue> =>
  issuesWithin("rateLimits", issuesOfRateLimits(rateLimits))

/** The embedded database belongs to one process, which can count by itself. */
const rateLimits = ({
  rateLimits: limits = noRateLimits
}: PolicyOptions): Layer.Layer<RateLimits, InvalidConfiguration, Database | IdGenerator | Timers> =>
  Layer.unwrapEffect(
    Effect.map(
      Database,
      ({ kind }): Layer.Layer<RateLimits, InvalidConfiguration, Database | IdGenerator | Timers> =>
        kind === "postgres" ? StoredRateLimits.layer(limits) : RateLimits.layerMemory(limits)
    )
  )
