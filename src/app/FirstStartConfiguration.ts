import * as Effect from "effect/Effect"
import type { ConfiguredPolicy, ConfiguredRouting } from "../config/Settings.ts"
import type { RoutingRestrictions } from "../domain/Chat.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { AccountStore } from "../identity/projects/AccountStore.ts"
import { ProjectStore } from "../identity/projects/ProjectStore.ts"
import { type PolicyColumns, PolicyStore } from "../policy/PolicyStore.ts"
import { type RoutingConfigurationColumns, RoutingConfigurationStore } from "../policy/RoutingConfigurationStore.ts"

/**
 * Writes the configured `policy` and `routingConfigurations` to project "default" at every start. Without a configured policy the
 * last policy stays active and becomes editable elsewhere: removing a line from a file must not lift a restriction.
 * Configurations that are no longer in the file are removed, but for what people had made before the file named it, which is theirs again.
 * True when anything changed.
 */
export const applyConfiguration: (
  policy: ConfiguredPolicy | null,
  configurations: ReadonlyArray<ConfiguredRouting>
) => Effect.Effect<boolean, StoreUnavailable, AccountStore | RoutingConfigurationStore | PolicyStore | ProjectStore> =
  Effect.fn("Bootstrap.applyConfiguration")(function* (policy, configurations) {
    const accounts = yield* AccountStore
    const projects = yield* ProjectStore
    const policies = yield* PolicyStore
    const store = yield* RoutingConfigurationStore

    const apply = Effect.gen(function* () {
      const project = yield* projects.findDefault
      if (project === undefined) return yield* Effect.dieMessage("the first start has made no default project")
      // before what belongs to it, as whoever changes it by the account API
      yield* projects.lock(project)
      const routingChanged = yield* store.replaceManaged(project, configurations.map(columnsOf))
      if (policy === null) yield* policies.release(project)
      const policyChanged = policy !== null && (yield* policies.write(project, policyColumns(policy), true))
      if (routingChanged && !policyChanged) yield* policies.raiseVersion(project)
      return routingChanged || policyChanged
    })
    return yield* accounts.atStart(apply)
  })

const policyColumns = (policy: ConfiguredPolicy): PolicyColumns => ({
  allowed_models: policy.models.allow,
  excluded_models: policy.models.deny,
  allowed_providers: policy.providers.allow,
  excluded_providers: policy.providers.deny,
  ...capsOf(policy),
  default_alpha: policy.defaultAlpha,
  exploration_share: policy.explorationShare,
  enable_fallback: policy.enableFallback
})

const columnsOf = (routing: ConfiguredRouting): RoutingConfigurationColumns => ({
  slug: routing.slug,
  name: routing.name ?? routing.slug,
  models_allow: routing.models.allow,
  models_deny: routing.models.deny,
  providers_allow: routing.providers.allow,
  providers_deny: routing.providers.deny,
  ...capsOf(routing),
  alpha: routing.alpha,
  enable_fallback: routing.enableFallback
})

const capsOf = (restrictions: RoutingRestrictions) => ({
  max_input_price_microusd_per_million: restrictions.maxInputPriceMicroUsdPerMillion,
  max_output_price_microusd_per_million: restrictions.maxOutputPriceMicroUsdPerMillion
})
