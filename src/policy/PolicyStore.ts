import { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { ProjectId } from "../domain/Ids.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import { Int8 } from "../sql/Rows.ts"
import { fromSql } from "../sql/StoreErrors.ts"

/** BIGINT columns arrive as text. */
const Price = Schema.NullOr(Int8)
const Patterns = Schema.NullOr(Schema.Array(Schema.String))

const PolicyColumns = Schema.Struct({
  allowed_models: Patterns,
  excluded_models: Patterns,
  allowed_providers: Patterns,
  excluded_providers: Patterns,
  max_input_price_microusd_per_million: Price,
  max_output_price_microusd_per_million: Price,
  default_alpha: Schema.NullOr(Schema.Number),
  exploration_share: Schema.Number,
  enable_fallback: Schema.Boolean
})
export type PolicyColumns = typeof PolicyColumns.Type

const FieldsOfExperiment = Schema.Struct({
  default_alpha: Schema.optional(Schema.NullOr(Schema.Number)),
  excluded_models: Schema.optional(Patterns),
  alpha: Schema.optional(Schema.NullOr(Schema.Number))
})

const PolicyRow = Schema.Struct({
  ...PolicyColumns.fields,
  policy_version: Schema.Int,
  managed_by_configuration: Schema.Boolean
})
export type PolicyRow = typeof PolicyRow.Type

/** A running experiment, as calls need it. */
const HeldOutRow = Schema.Struct({
  id: Schema.UUID,
  share: Schema.Number,
  slug: Schema.NullOr(Schema.String),
  before: FieldsOfExperiment,
  after: FieldsOfExperiment
})
export type HeldOutRow = typeof HeldOutRow.Type

const CallPolicyRow = Schema.Struct({ ...PolicyRow.fields, experiment: Schema.NullOr(HeldOutRow) })
export type CallPolicyRow = typeof CallPolicyRow.Type

export interface PolicyStoreShape {
  readonly find: (project: ProjectId) => Effect.Effect<PolicyRow | undefined, StoreUnavailable>
  /** The policy with the experiment that runs, both as they are at one time. */
  readonly findForCalls: (project: ProjectId) => Effect.Effect<CallPolicyRow | undefined, StoreUnavailable>
  /** Writes the complete policy; false, and no new version, when nothing changed. */
  readonly write: (
    project: ProjectId,
    policy: PolicyColumns,
    managedByConfiguration: boolean
  ) => Effect.Effect<boolean, StoreUnavailable>
  /** The policy stays as it is and is no longer managed by the configuration file. */
  readonly release: (project: ProjectId) => Effect.Effect<void, StoreUnavailable>
  /** For changes that belong to the project's policy but are in other tables. */
  readonly raiseVersion: (project: ProjectId) => Effect.Effect<void, StoreUnavailable>
}

/** The policy columns of projects. */
export class PolicyStore extends Context.Tag("gateway/policy/PolicyStore")<PolicyStore, PolicyStoreShape>() {
  static readonly layer: Layer.Layer<PolicyStore, never, SqlClient | ChangeNotifications> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  const changes = yield* ChangeNotifications

  const find = SqlSchema.findOne({
    Request: ProjectId,
    Result: PolicyRow,
    execute: (project) => sql`
      select allowed_models, excluded_models, allowed_providers, excluded_providers,
        max_input_price_microusd_per_million, max_output_price_microusd_per_million,
        default_alpha, exploration_share, enable_fallback, policy_version, managed_by_configuration
      from project where id = ${project}`
  })
  const findForCalls = SqlSchema.findOne({
    Request: ProjectId,
    Result: CallPolicyRow,
    execute: (project) => sql`
      select p.allowed_models, p.excluded_models, p.allowed_providers, p.excluded_providers,
        p.max_input_price_microusd_per_million, p.max_output_price_microusd_per_million,
        p.default_alpha, p.exploration_share, p.enable_fallback, p.policy_version, p.managed_by_configuration,
        case when e.id is not null then jsonb_build_object('id', e.id, 'share', e.share, 'slug', e.slug,
          'before', e.fields_before, 'after', e.fields_after) end as experiment
      from project p left join experiment e on e.project_id = p.id and e.state = 'running' where p.id = ${project}`
  })
  const update = SqlSchema.findOne({
    Request: Schema.Struct({ project: ProjectId, policy: PolicyColumns, managed: Schema.Boolean }),
    Result: Schema.Struct({ id: ProjectId }),
    execute: ({ managed, policy, project }) => {
      const next = sql`(
        ${policy.allowed_models}::text[], ${policy.excluded_models}::text[],
        ${policy.allowed_providers}::text[], ${policy.excluded_providers}::text[],
        ${policy.max_input_price_microusd_per_million}::bigint, ${policy.max_output_price_microusd_per_million}::bigint,
        ${policy.default_alpha}::float8, ${policy.exploration_share}::float8, ${policy.enable_fallback}::boolean
      )`
      const columns = sql`(
        allowed_models, excluded_models, allowed_providers, excluded_providers,
        max_input_price_microusd_per_million, max_output_price_microusd_per_million,
        default_alpha, exploration_share, enable_fallback
      )`
      return sql`
        update project set ${columns} = row ${next}, managed_by_configuration = ${managed},
          policy_version = policy_version + 1, updated_at = now()
        where id = ${project} and ${columns} is distinct from ${next} returning id`
    }
  })
  const mark = (project: ProjectId, managed: boolean) => sql`
    update project set managed_by_configuration = ${managed}
    where id = ${project} and managed_by_configuration <> ${managed}`

  return PolicyStore.of({
    find: flow(find, Effect.map(Option.getOrUndefined), fromSql),
    findForCalls: flow(findForCalls, Effect.map(Option.getOrUndefined), fromSql),
    write: (project, policy, managed) =>
      changes.commit((announce) =>
        Effect.gen(function* () {
          const changed = Option.isSome(yield* update({ project, policy, managed }))
          yield* mark(project, managed)
          if (changed) yield* announce({ kind: "project", id: project })
          return changed
        })
      ),
    release: (project) => fromSql(Effect.asVoid(mark(project, false))),
    raiseVersion: (project) =>
      changes.commit((announce) =>
        sql`update project set policy_version = policy_version + 1, updated_at = now() where id = ${project}`.pipe(
          Effect.zipRight(announce({ kind: "project", id: project }))
        )
      )
  })
})
