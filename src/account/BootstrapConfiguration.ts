import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { AccountStore } from "../identity/AccountStore.ts"
import { ProjectStore } from "../identity/ProjectStore.ts"
import type { Limits } from "../policy/Policy.ts"
import { type PolicyColumns, PolicyStore } from "../policy/PolicyStore.ts"
import { type ConfigurationColumns, ConfigurationStore } from "../routing/ConfigurationStore.ts"

/** The operator's rules for project "default". */
export interface ConfiguredPolicy extends Limits {
  readonly defaultAlpha: number | null
  readonly enableFallback: boolean
}

export interface ConfiguredRouting extends Limits {
  readonly slug: string
  readonly name: string | null
  readonly alpha: number | null
  readonly enableFallback: boolean
}

/**
 * Writes the operator's `policy` and `routingConfigurations` to project "default", at every start. Without a policy the
 * last one stays in force, now open to change elsewhere: leaving a line out of a file must not lift a restriction.
 * Configurations that the file no longer names are removed. True when that changed anything.
 */
export const applyConfiguration: (
  policy: ConfiguredPolicy | null,
  configurations: ReadonlyArray<ConfiguredRouting>
) => Effect.Effect<boolean, StoreUnavailable, AccountStore | ConfigurationStore | PolicyStore | ProjectStore> =
  Effect.fn("Bootstrap.applyConfiguration")(function* (policy, configurations) {
    const accounts = yield* AccountStore
    const projects = yield* ProjectStore
    const policies = yield* PolicyStore
    const store = yield* ConfigurationStore

    const apply = Effect.gen(function* () {
      const project = yield* projects.findDefault
      if (project === undefined) return yield* Effect.dieMessage("the first start has made no default project")
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
  enable_fallback: policy.enableFallback
})

const columnsOf = (routing: ConfiguredRouting): ConfigurationColumns => ({
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

const capsOf = (limits: Limits) => ({
  max_input_price_microusd_per_million: limits.maxInputPriceMicroUsdPerMillion,
  max_output_price_microusd_per_million: limits.maxOutputPriceMicroUsdPerMillion
})
