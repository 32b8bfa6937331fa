import { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { CredentialId, ProjectId } from "../domain/Ids.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import { fromSql } from "../sql/StoreErrors.ts"

const CredentialRow = Schema.Struct({
  id: CredentialId,
  projectId: ProjectId,
  provider: Schema.String,
  label: Schema.String,
  /** The end of the secret, for people who have several. */
  masked: Schema.String,
  sealed: Schema.Uint8ArrayFromSelf,
  allowedModels: Schema.NullOr(Schema.Array(Schema.String)),
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf
})
export type CredentialRow = typeof CredentialRow.Type

export type WrittenCredential = Omit<CredentialRow, "createdAt" | "updatedAt">

export interface CredentialStoreShape {
  readonly find: (id: CredentialId) => Effect.Effect<CredentialRow | undefined, StoreUnavailable>
  /** Until the end of the transaction nobody else changes it, nor seals it anew. */
  readonly lock: (id: CredentialId) => Effect.Effect<void, StoreUnavailable>
  /** Newest first, those before `before`. */
  readonly list: (
    project: ProjectId,
    max: number,
    before: CredentialId | undefined
  ) => Effect.Effect<ReadonlyArray<CredentialRow>, StoreUnavailable>
  /** All of a project, oldest first. */
  readonly ofProject: (project: ProjectId) => Effect.Effect<ReadonlyArray<CredentialRow>, StoreUnavailable>
  readonly count: (project: ProjectId) => Effect.Effect<number, StoreUnavailable>
  /** False where the project has another one of this provider with the same label. */
  readonly create: (credential: WrittenCredential) => Effect.Effect<boolean, StoreUnavailable>
  /** As `create`. */
  readonly update: (credential: WrittenCredential) => Effect.Effect<boolean, StoreUnavailable>
  readonly remove: (credential: Pick<CredentialRow, "id" | "projectId">) => Effect.Effect<void, StoreUnavailable>
  readonly removeAll: (project: ProjectId) => Effect.Effect<void, StoreUnavailable>
  /** Of all projects by id, those after `after`. */
  readonly all: (
    after: CredentialId | undefined,
    max: number
  ) => Effect.Effect<ReadonlyArray<CredentialRow>, StoreUnavailable>
  /** Replaces what is sealed, if it is still the same. */
  readonly reseal: (row: CredentialRow, sealed: Uint8Array) => Effect.Effect<void, StoreUnavailable>
}

/** The providers' credentials of projects, sealed. */
export class CredentialStore extends Context.Tag("gateway/credentials/CredentialStore")<
  CredentialStore,
  CredentialStoreShape
>() {
  static readonly layer: Layer.Layer<CredentialStore, never, SqlClient | ChangeNotifications> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  const changes = yield* ChangeNotifications
  const columns = sql.literal(`id, project_id as "projectId", provider, label, masked, sealed,
    allowed_models as "allowedModels", created_at as "createdAt", updated_at as "updatedAt"`)

  const find = SqlSchema.findOne({
    Request: CredentialId,
    Result: CredentialRow,
    execute: (id) => sql`select ${columns} from credential where id = ${id}`
  })
  const list = SqlSchema.findAll({
    Request: Schema.Struct({ project: ProjectId, max: Schema.Number, before: Schema.UndefinedOr(CredentialId) }),
    Result: CredentialRow,
    execute: ({ before, max, project }) => sql`
      select ${columns} from credential
      where project_id = ${project} and ${before === undefined ? sql`true` : sql`id < ${before}`}
      order by id desc limit ${max}`
  })
  const ofProject = SqlSchema.findAll({
    Request: ProjectId,
    Result: CredentialRow,
    execute: (project) => sql`select ${columns} from credential where project_id = ${project} order by id`
  })
  const count = SqlSchema.findAll({
    Request: ProjectId,
    Result: Schema.Struct({ id: CredentialId }),
    execute: (project) => sql`select id from credential where project_id = ${project}`
  })
  const all = SqlSchema.findAll({
    Request: Schema.Struct({ after: Schema.UndefinedOr(CredentialId), max: Schema.Number }),
    Result: CredentialRow,
    execute: ({ after, max }) => sql`
      select ${columns} from credential where ${after === undefined ? sql`true` : sql`id > ${after}`}
      order by id limit ${max}`
  })
  const insert = ({ allowedModels, id, label, masked, projectId, provider, sealed }: WrittenCredential) => sql`
    insert into credential (id, project_id, provider, label, masked, sealed, allowed_models)
    values (${id}, ${projectId}, ${provider}, ${label}, ${masked}, ${Buffer.from(sealed)}, ${allowedModels}::text[])
    on conflict (project_id, provider, label) do nothing returning id`
  const update = ({ allowedModels, id, label, masked, projectId, provider, sealed }: WrittenCredential) => sql`
    update credential set label = ${label}, masked = ${masked}, sealed = ${Buffer.from(sealed)},
      allowed_models = ${allowedModels}::text[],
      updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond')
    where id = ${id} and not exists (
      select from credential other where other.project_id = ${projectId} and other.provider = ${provider}
        and other.label = ${label} and other.id <> ${id})
    returning id`

  const written = (project: ProjectId, statement: ReturnType<typeof insert>) =>
    changes.commit((announce) =>
      statement.pipe(
        Effect.tap(() => announce({ kind: "credentials", id: project })),
        Effect.map((rows) => rows.length === 1)
      )
    )

  return CredentialStore.of({
    find: (id) => fromSql(Effect.map(find(id), Option.getOrUndefined)),
    lock: (id) => fromSql(Effect.asVoid(sql`select from credential where id = ${id} for update`)),
    list: (project, max, before) => fromSql(list({ project, max, before })),
    ofProject: (project) => fromSql(ofProject(project)),
    count: (project) => fromSql(Effect.map(count(project), (rows) => rows.length)),
    create: (credential) => written(credential.projectId, insert(credential)),
    update: (credential) => written(credential.projectId, update(credential)),
    remove: ({ id, projectId }) =>
      Effect.asVoid(written(projectId, sql`delete from credential where id = ${id} returning id`)),
    removeAll: (project) =>
      Effect.asVoid(written(project, sql`delete from credential where project_id = ${project} returning id`)),
    all: (after, max) => fromSql(all({ after, max })),
    reseal: (row, sealed) =>
      fromSql(
        Effect.asVoid(
          sql`update credential set sealed = ${Buffer.from(sealed)} where id = ${row.id} and sealed = ${Buffer.from(row.sealed)}`
        )
      )
  })
})
