import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { ProjectId } from "../domain/Ids.ts"
import type { Timers } from "../domain/Timers.ts"
import type { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import * as RowCache from "../sql/RowCache.ts"
import type { RoutingConfiguration } from "./ProjectPolicy.ts"
import { type RoutingConfigurationRow, RoutingConfigurationStore } from "./RoutingConfigurationStore.ts"

/** Reads what `auto:<slug>` chooses from. */
export interface RoutingConfigurationsShape {
  /** The project's routing configurations in order of their slugs, cached like its policy. */
  readonly ofProject: (project: ProjectId) => Effect.Effect<ReadonlyArray<RoutingConfiguration>, StoreUnavailable>
  /** What `ofProject` would give now, if that is in memory; `undefined`, or no such member: it has to be read. */
  readonly peek?: (project: ProjectId) => ReadonlyArray<RoutingConfiguration> | undefined
}

/** The routing configurations of projects, for calls. */
export class RoutingConfigurations extends Context.Tag("gateway/policy/RoutingConfigurations")<
  RoutingConfigurations,
  RoutingConfigurationsShape
>() {
  /** @internal */
  static readonly layer: Layer.Layer<
    RoutingConfigurations,
    never,
    RoutingConfigurationStore | ChangeNotifications | Timers
  > = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )

  /** No project has any. */
  static readonly layerNone: Layer.Layer<RoutingConfigurations> = Layer.succeed(this, {
    ofProject: () => Effect.succeed(none),
    peek: () => none
  })
}

const none: ReadonlyArray<RoutingConfiguration> = []

const make = Effect.gen(function* () {
  const store = yield* RoutingConfigurationStore
  const cache = yield* RowCache.make<ReadonlyArray<RoutingConfiguration>, ReadonlyArray<RoutingConfiguration>>({
    load: (id) => Effect.map(store.list(ProjectId.make(id)), (rows) => rows.map(configurationOf)),
    absent: [],
    kinds: ["configurations"]
  })
  return RoutingConfigurations.of({
    ofProject: cache.get,
    peek: cache.peek
  })
})

const configurationOf = (row: RoutingConfigurationRow): RoutingConfiguration => ({
  id: row.id,
  slug: row.slug,
  models: { allow: row.models_allow, deny: row.models_deny },
  providers: { allow: row.providers_allow, deny: row.providers_deny },
  maxInputPriceMicroUsdPerMillion: row.max_input_price_microusd_per_million,
  maxOutputPriceMicroUsdPerMillion: row.max_output_price_microusd_per_million,
  alpha: row.alpha,
  enableFallback: row.enable_fallback,
  isActive: row.is_active
})
