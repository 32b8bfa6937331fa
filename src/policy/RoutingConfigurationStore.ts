import { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { ProjectId } from "../domain/Ids.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import { Int8 } from "../sql/Rows.ts"
import { fromSql } from "../sql/StoreErrors.ts"

/** BIGINT columns arrive as text. */
const Price = Schema.NullOr(Int8)
const Strings = Schema.Array(Schema.String)

const RoutingConfigurationColumns = Schema.Struct({
  slug: Schema.String,
  name: Schema.String,
  models_allow: Schema.NullOr(Strings),
  models_deny: Strings,
  providers_allow: Schema.NullOr(Strings),
  providers_deny: Strings,
  alpha: Schema.NullOr(Schema.Number),
  max_input_price_microusd_per_million: Price,
  max_output_price_microusd_per_million: Price,
  enable_fallback: Schema.Boolean
})
export type RoutingConfigurationColumns = typeof RoutingConfigurationColumns.Type

const RoutingConfigurationRow = Schema.Struct({
  ...RoutingConfigurationColumns.fields,
  id: Schema.UUID,
  is_active: Schema.Boolean
})
export type RoutingConfigurationRow = typeof RoutingConfigurationRow.Type

export interface RoutingConfigurationStoreShape {
  /** By slug, in code point order. */
  readonly list: (project: ProjectId) => Effect.Effect<ReadonlyArray<RoutingConfigurationRow>, StoreUnavailable>
  /**
   * Replaces the configurations that the operator's file manages by these. One with an existing slug replaces that one, until it is
   * not among them any more. False when nothing changed.
   */
  readonly replaceManaged: (
    project: ProjectId,
    configurations: ReadonlyArray<RoutingConfigurationColumns>
  ) => Effect.Effect<boolean, StoreUnavailable>
}

/** The rows of routing configurations. */
export class RoutingConfigurationStore extends Context.Tag("gateway/policy/RoutingConfigurationStore")<
  RoutingConfigurationStore,
  RoutingConfigurationStoreShape
>() {
  static readonly layer: Layer.Layer<RoutingConfigurationStore, never, SqlClient | ChangeNotifications | IdGenerator> =
    Layer.effect(
      this,
      Effect.suspend(() => make)
    )
}

const Changed = Schema.Struct({ slug: Schema.String })

/**
 * Of an update of `routing_configuration c`: gives it the settings of its version `v`. `set` stands behind `set`, `settings` behind
 * the table of the versions in `from`.
 */
export const ofVersion = {
  set: `name = s.name, models_allow = s.models, models_deny = '{}', providers_allow = s.providers, providers_deny = '{}',
    alpha = s.alpha, max_input_price_microusd_per_million = s.max_input_price_microusd_per_million,
    max_output_price_microusd_per_million = s.max_output_price_microusd_per_million, enable_fallback = s.enable_fallback,
    is_active = true, active_version = v.version, updated_at = now()`,
  settings: `cross join lateral jsonb_to_record(v.settings) as s(name text, models text[], providers text[],
    alpha double precision, max_input_price_microusd_per_million bigint, max_output_price_microusd_per_million bigint,
    enable_fallback boolean)`
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  const changes = yield* ChangeNotifications
  const ids = yield* IdGenerator

  const list = SqlSchema.findAll({
    Request: ProjectId,
    Result: RoutingConfigurationRow,
    execute: (project) => sql`
      select id, slug, name, models_allow, models_deny, providers_allow, providers_deny, alpha,
        max_input_price_microusd_per_million, max_output_price_microusd_per_million, enable_fallback, is_active
      from routing_configuration where project_id = ${project} order by slug collate "C"`
  })
  const upsertManaged = SqlSchema.findAll({
    Request: Schema.Struct({ project: ProjectId, columns: RoutingConfigurationColumns }),
    Result: Changed,
    execute: ({ columns, project }) => sql`
      insert into routing_configuration as old (
        id, project_id, slug, name, models_allow, models_deny, providers_allow, providers_deny, alpha,
        max_input_price_microusd_per_million, max_output_price_microusd_per_million, enable_fallback,
        is_active, managed_by_configuration
      ) values (
        ${ids.uuid()}, ${project}, ${columns.slug}, ${columns.name}, ${columns.models_allow}, ${columns.models_deny},
        ${columns.providers_allow}, ${columns.providers_deny}, ${columns.alpha},
        ${columns.max_input_price_microusd_per_million}, ${columns.max_output_price_microusd_per_million},
        ${columns.enable_fallback}, true, true
      )
      on conflict (project_id, slug) do update set
        name = excluded.name, models_allow = excluded.models_allow, models_deny = excluded.models_deny,
        providers_allow = excluded.providers_allow, providers_deny = excluded.providers_deny, alpha = excluded.alpha,
        max_input_price_microusd_per_million = excluded.max_input_price_microusd_per_million,
        max_output_price_microusd_per_million = excluded.max_output_price_microusd_per_million,
        enable_fallback = excluded.enable_fallback, is_active = true, managed_by_configuration = true,
        active_version = null, updated_at = now()
      where (
        old.name, old.models_allow, old.models_deny, old.providers_allow, old.providers_deny, old.alpha,
        old.max_input_price_microusd_per_million, old.max_output_price_microusd_per_million, old.enable_fallback,
        old.is_active, old.managed_by_configuration
      ) is distinct from (
        excluded.name, excluded.models_allow, excluded.models_deny, excluded.providers_allow, excluded.providers_deny,
        excluded.alpha, excluded.max_input_price_microusd_per_million, excluded.max_output_price_microusd_per_million,
        excluded.enable_fallback, true, true
      )
      returning slug`
  })
  const NoLongerManaged = Schema.Struct({ project: ProjectId, kept: Strings })
  /** Those that a person had made before the file named them: as the newest version says. */
  const release = SqlSchema.findAll({
    Request: NoLongerManaged,
    Result: Changed,
    execute: ({ kept, project }) => sql`
      update routing_configuration c set managed_by_configuration = false, ${sql.literal(ofVersion.set)}
      from routing_configuration_version v ${sql.literal(ofVersion.settings)}
      where c.project_id = ${project} and c.managed_by_configuration and c.slug <> all (${kept}::text[]) and v.configuration_id = c.id
        and v.version = (select max(version) from routing_configuration_version where configuration_id = c.id)
      returning c.slug`
  })
  const removeManaged = SqlSchema.findAll({
    Request: NoLongerManaged,
    Result: Changed,
    execute: ({ kept, project }) => sql`
      delete from routing_configuration
      where project_id = ${project} and managed_by_configuration and slug <> all (${kept}::text[]) returning slug`
  })

  return RoutingConfigurationStore.of({
    list: flow(list, fromSql),
    replaceManaged: (project, configurations) =>
      changes.commit((announce) =>
        Effect.gen(function* () {
          const kept = configurations.map(({ slug }) => slug)
          const released = yield* release({ project, kept })
          const removed = yield* removeManaged({ project, kept })
          const written = yield* Effect.forEach(configurations, (columns) => upsertManaged({ project, columns }))
          const changed = released.length + removed.length + written.flat().length > 0
          if (changed) yield* announce({ kind: "configurations", id: project })
          return changed
        })
      )
  })
})
