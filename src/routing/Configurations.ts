import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { ProjectId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import type { RoutingConfiguration } from "../policy/Policy.ts"
import { Changes } from "../sql/Changes.ts"
import * as RowCache from "../sql/RowCache.ts"
import { type ConfigurationRow, ConfigurationStore } from "./ConfigurationStore.ts"

export interface ConfigurationsShape {
  /** The project's routing configurations by slug, cached like its policy. */
  readonly ofProject: (project: ProjectId) => Effect.Effect<ReadonlyArray<RoutingConfiguration>, StoreUnavailable>
}

export class Configurations extends Context.Tag("gateway/routing/Configurations")<
  Configurations,
  ConfigurationsShape
>() {
  static readonly layer: Layer.Layer<Configurations, never, ConfigurationStore | Changes | Timers> = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const store = yield* ConfigurationStore
  const cache = yield* RowCache.make<ReadonlyArray<RoutingConfiguration>, ReadonlyArray<RoutingConfiguration>>({
    timers: yield* Timers,
    changes: yield* Changes,
    load: (id) => Effect.map(store.list(ProjectId.make(id)), (rows) => rows.map(configurationOf)),
    absent: [],
    kinds: ["configurations"],
    concerns: (change, _, id) => change.id === id,
    validMillis: () => Number.POSITIVE_INFINITY
  })
  return Configurations.of({
    ofProject: cache.get
  })
})

const configurationOf = (row: ConfigurationRow): RoutingConfiguration => ({
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
