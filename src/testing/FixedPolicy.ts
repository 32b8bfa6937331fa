import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Policy, type ProjectPolicy, type RoutingConfiguration } from "../policy/Policy.ts"
import { Configurations } from "../routing/Configurations.ts"

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

/** Every project has the open policy, but for what is given here. */
export const layerPolicy = (policy: Partial<ProjectPolicy> = {}): Layer.Layer<Policy> =>
  Layer.succeed(Policy, { ofProject: () => Effect.succeed({ ...openPolicy, ...policy }) })

/** Every project has these routing configurations. */
export const layerConfigurations = (
  configurations: ReadonlyArray<RoutingConfiguration> = []
): Layer.Layer<Configurations> => Layer.succeed(Configurations, { ofProject: () => Effect.succeed(configurations) })
