import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { isId, ProjectId, UserId } from "../../domain/Ids.ts"
import { isStorable } from "../../domain/StorableText.ts"
import { ofVersion } from "../../policy/RoutingConfigurationStore.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

const Strings = Schema.Array(Schema.String)

/** What a version of a routing configuration says; the column `settings`. */
const RoutingSettings = Schema.Struct({
  name: Schema.String,
  models: Schema.NullOr(Strings),
  providers: Schema.NullOr(Strings),
  alpha: Schema.NullOr(Schema.Number),
  max_input_price_microusd_per_million: Schema.NullOr(Schema.Number),
  max_output_price_microusd_per_million: Schema.NullOr(Schema.Number),
  enable_fallback: Schema.Boolean
})
export type RoutingSettings = typeof RoutingSettings.Type

/** BIGINT columns arrive as text. */
const Price = Schema.NullOr(Int8)

const ProjectRouting = Schema.Struct({
  ...RoutingSettings.fields,
  max_input_price_microusd_per_million: Price,
  max_output_price_microusd_per_million: Price,
  id: Schema.UUID,
  projectId: ProjectId,
  slug: Schema.String,
  /** `null` where GATEWAY_CONFIG has it. */
  activeVersion: Schema.NullOr(Schema.Int),
  managedByConfiguration: Schema.Boolean,
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf
})
/** A routing configuration with the settings of its active version. */
export type ProjectRouting = typeof ProjectRouting.Type

const RoutingVersion = Schema.Struct({
  version: Schema.Int,
  settings: RoutingSettings,
  createdAt: Schema.DateFromSelf,
  createdBy: UserId
})
export type RoutingVersion = typeof RoutingVersion.Type

export interface RoutingVersionStoreShape {
  readonly find: (project: ProjectId, slug: string) => Effect.Effect<ProjectRouting | undefined, StoreUnavailable>
  /** Newest first, those before `before`. */
  readonly list: (
    project: ProjectId,
    max: number,
    before: string | undefined
  ) => Effect.Effect<ReadonlyArray<ProjectRouting>, StoreUnavailable>
  readonly count: (project: ProjectId) => Effect.Effect<number, StoreUnavailable>
  /** Of models and providers, in all configurations of the project. */
  readonly characters: (project: ProjectId) => Effect.Effect<number, StoreUnavailable>
  /** Without a version yet; the caller has the project's lock, under which no other of the slug is created. */
  readonly create: (project: ProjectId, id: string, slug: string, name: string) => Effect.Effect<void, StoreUnavailable>
  readonly remove: (id: string) => Effect.Effect<void, StoreUnavailable>
  /** The next version; its number. Of those before it the newest 1,000 stay, and the active one. */
  readonly add: (id: string, settings: RoutingSettings, by: UserId) => Effect.Effect<number, StoreUnavailable>
  /** Activates a version; false when there is none. */
  readonly activate: (id: string, version: number) => Effect.Effect<boolean, StoreUnavailable>
  /** Newest first, those before the version `before`. */
  readonly versions: (
    id: string,
    max: number,
    before: number | undefined
  ) => Effect.Effect<ReadonlyArray<RoutingVersion>, StoreUnavailable>
}

/** Routing configurations and their versions, as the people of a project see them; `RoutingConfigurationStore` has them for calls. */
export class RoutingVersionStore extends Context.Tag("gateway/account/RoutingVersionStore")<
  RoutingVersionStore,
  RoutingVersionStoreShape
>() {
  static readonly layer: Layer.Layer<RoutingVersionStore, never, AccountSql> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

/** The audit log has what each of the others said. */
const maxVersions = 1_000

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const columns = sql.literal(`id, project_id as "projectId", slug, name, models_allow as models,
    providers_allow as providers, alpha, max_input_price_microusd_per_million, max_output_price_microusd_per_million,
    enable_fallback, active_version as "activeVersion", managed_by_configuration as "managedByConfiguration",
    created_at as "createdAt", updated_at as "updatedAt"`)

  const find = SqlSchema.findOne({
    Request: Schema.Struct({ project: ProjectId, slug: Schema.String }),
    Result: ProjectRouting,
    execute: ({ project, slug }) => sql`
      select ${columns} from routing_configuration where project_id = ${project} and slug = ${slug}`
  })
  const list = SqlSchema.findAll({
    Request: Schema.Struct({ project: ProjectId, max: Schema.Number, before: Schema.UndefinedOr(Schema.UUID) }),
    Result: ProjectRouting,
    execute: ({ before, max, project }) => sql`
      select ${columns} from routing_configuration
      where project_id = ${project} and ${before === undefined ? sql`true` : sql`id < ${before}`}
      order by id desc limit ${max}`
  })
  const count = SqlSchema.findAll({
    Request: ProjectId,
    Result: Schema.Struct({ id: Schema.UUID }),
    execute: (project) => sql`select id from routing_configuration where project_id = ${project}`
  })
  const characters = SqlSchema.findAll({
    Request: ProjectId,
    Result: Schema.Struct({ characters: Schema.Int }),
    execute: (project) => sql`
      select coalesce(length(array_to_string(models_allow, '')), 0)
        + coalesce(length(array_to_string(providers_allow, '')), 0) as characters
      from routing_configuration where project_id = ${project}`
  })
  const add = SqlSchema.findAll({
    Request: Schema.Struct({ id: Schema.UUID, settings: Schema.parseJson(RoutingSettings), by: UserId }),
    Result: Schema.Struct({ version: Schema.Int }),
    execute: ({ by, id, settings }) => sql`
      with added as (
        insert into routing_configuration_version (configuration_id, version, settings, created_by)
        select ${id}::uuid, coalesce(max(version), 0) + 1, ${settings}::jsonb, ${by}::uuid
        from routing_configuration_version where configuration_id = ${id} returning version
      ), dropped as (
        delete from routing_configuration_version v using added a, routing_configuration c
        where v.configuration_id = ${id} and c.id = ${id} and v.version < a.version - ${maxVersions}
          and v.version is distinct from c.active_version
      )
      select version from added`
  })
  const activate = SqlSchema.findAll({
    Request: Schema.Struct({ id: Schema.UUID, version: Schema.Number }),
    Result: Schema.Struct({ id: Schema.UUID }),
    execute: ({ id, version }) => sql`
      update routing_configuration c set ${sql.literal(ofVersion.set)}
      from routing_configuration_version v ${sql.literal(ofVersion.settings)}
      where c.id = ${id} and v.configuration_id = c.id and v.version = ${version}::float8 returning c.id`
  })
  const versions = SqlSchema.findAll({
    Request: Schema.Struct({ id: Schema.UUID, max: Schema.Number, before: Schema.UndefinedOr(Schema.Number) }),
    Result: RoutingVersion,
    execute: ({ before, id, max }) => sql`
      select version, settings, created_at as "createdAt", created_by as "createdBy" from routing_configuration_version
      where configuration_id = ${id} and ${before === undefined ? sql`true` : sql`version < ${before}::float8`}
      order by version desc limit ${max}`
  })

  return RoutingVersionStore.of({
    find: (project, slug) =>
      isStorable(slug)
        ? fromSql(Effect.map(find({ project, slug }), Option.getOrUndefined))
        : Effect.succeed(undefined),
    list: (project, max, before) =>
      before === undefined || isId(before) ? fromSql(list({ project, max, before })) : Effect.succeed([]),
    count: (project) => fromSql(Effect.map(count(project), (rows) => rows.length)),
    characters: (project) =>
      fromSql(Effect.map(characters(project), (rows) => rows.reduce((sum, row) => sum + row.characters, 0))),
    create: (project, id, slug, name) =>
      fromSql(
        Effect.asVoid(sql`
          insert into routing_configuration (id, project_id, slug, name) values (${id}, ${project}, ${slug}, ${name})`)
      ),
    remove: (id) => fromSql(Effect.asVoid(sql`delete from routing_configuration where id = ${id}`)),
    add: (id, settings, by) =>
      Effect.flatMap(fromSql(add({ id, settings, by })), ([row]) =>
        row === undefined ? Effect.dieMessage("an insert returns its row") : Effect.succeed(row.version)
      ),
    activate: (id, version) => fromSql(Effect.map(activate({ id, version }), (rows) => rows.length > 0)),
    versions: (id, max, before) => fromSql(versions({ id, max, before }))
  })
})
