import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Policy, type ProjectPolicy, type RoutingConfiguration } from "../../policy/Policy.ts"
import { RateLimits } from "../../policy/RateLimits.ts"
import { RoutingConfigurations } from "../../policy/RoutingConfigurations.ts"

/** What `PolicyLayer` provides, fixed: one policy for every project, no rate limits. */
export const layer = (
  policy: Partial<ProjectPolicy> = {},
  configurations: ReadonlyArray<RoutingConfiguration> = []
): Layer.Layer<Policy | RoutingConfigurations | RateLimits> =>
  Layer.mergeAll(layerPolicy(policy), layerConfigurations(configurations), RateLimits.layerOff)

/** Allows everything, with fallback. */
export const openPolicy: ProjectPolicy = {
  version: 1,
  models: { allow: null, deny: [] },
  providers: { allow: null, deny: [] },
  maxInputPriceMicroUsdPerMillion: null,
  maxOutputPriceMicroUsdPerMillion: null,
  defaultAlpha: null,
  enableFallback: true
}

/** Every project has the open policy with these changes. */
export const layerPolicy = (policy: Partial<ProjectPolicy> = {}): Layer.Layer<Policy> =>
  Layer.succeed(Policy, { ofProject: () => Effect.succeed({ ...openPolicy, ...policy }) })

/** Every project has these routing configurations. */
export const layerConfigurations = (
  configurations: ReadonlyArray<RoutingConfiguration> = []
): Layer.Layer<RoutingConfigurations> =>
  Layer.succeed(RoutingConfigurations, { ofProject: () => Effect.succeed(configurations) })
