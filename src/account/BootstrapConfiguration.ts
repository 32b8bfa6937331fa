import * as Effect from "effect/Effect"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { AccountStore } from "../identity/AccountStore.ts"
import { ProjectStore } from "../identity/ProjectStore.ts"
import { type PolicyColumns, PolicyStore } from "../policy/PolicyStore.ts"
import { type ConfigurationColumns, ConfigurationStore } from "../routing/ConfigurationStore.ts"

/** One of `routingConfigurations`. `models` and `providers` are what it may choose among; `null` is everything. */
export interface ConfiguredRouting {
  readonly slug: string
  readonly name: string | null
  readonly models: ReadonlyArray<string> | null
  readonly providers: ReadonlyArray<string> | null
  readonly alpha: number | null
  readonly max_input_price_microusd_per_million: number | null
  readonly max_output_price_microusd_per_million: number | null
  readonly enable_fallback: boolean
}

/**
 * Writes the operator's `policy` and `routingConfigurations` to project "default", at every start. Without a policy the
 * last one stays in force, now open to change elsewhere: leaving a line out of a file must not lift a restriction.
 * Configurations that the file no longer names are removed. True when that changed anything.
 */
export const applyConfiguration: (
  policy: PolicyColumns | undefined,
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
      if (policy === undefined) yield* policies.release(project)
      const policyChanged = policy !== undefined && (yield* policies.write(project, policy, true))
      if (routingChanged && !policyChanged) yield* policies.raiseVersion(project)
      return routingChanged || policyChanged
    })
    return yield* accounts.atStart(apply)
  })

const columnsOf = ({ models, name, providers, ...others }: ConfiguredRouting): ConfigurationColumns => ({
  ...others,
  name: name ?? others.slug,
  models_allow: models,
  models_deny: [],
  providers_allow: providers,
  providers_deny: []
})
