import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Policy } from "../../policy/Policy.ts"
import { openPolicy, type ProjectPolicy, type RoutingConfiguration } from "../../policy/ProjectPolicy.ts"
import { RateLimits } from "../../policy/RateLimits.ts"
import { RoutingConfigurations } from "../../policy/RoutingConfigurations.ts"

/** What `PolicyLayer` provides, fixed: one policy for every project, no rate limits. */
export const layer = (
  policy: Partial<ProjectPolicy> = {},
  configurations: ReadonlyArray<RoutingConfiguration> = []
): Layer.Layer<Policy | RoutingConfigurations | RateLimits> =>
  Layer.mergeAll(layerPolicy(policy), layerConfigurations(configurations), RateLimits.layerOff)

/** Every project has the open policy with these changes. */
export const layerPolicy = (policy: Partial<ProjectPolicy> = {}): Layer.Layer<Policy> =>
  Layer.succeed(Policy, { ofProject: () => Effect.succeed({ ...openPolicy, ...policy }) })

/** Every project has these routing configurations. */
export const layerConfigurations = (
  configurations: ReadonlyArray<RoutingConfiguration> = []
): Layer.Layer<RoutingConfigurations> =>
  Layer.succeed(RoutingConfigurations, { ofProject: () => Effect.succeed(configurations) })
