import { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { CallerShape } from "../../domain/Caller.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountId, ProjectId } from "../../domain/Ids.ts"
import type { RateLimit } from "../../domain/RateLimitStatus.ts"
import { ChangeNotifications } from "../../sql/ChangeNotifications.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface NewProject {
  readonly id: ProjectId
  readonly accountId: AccountId
  readonly name: string
  /** The project that the operator's file configures; the database rejects a second one. */
  readonly isDefault: boolean
}

export interface ProjectStoreShape {
  readonly create: (project: NewProject) => Effect.Effect<void, StoreUnavailable>
  /** Without deleted ones. */
  readonly count: (account: AccountId) => Effect.Effect<number, StoreUnavailable>
  /** Until the end of the transaction nobody else who does the same counts the projects of the account. */
  readonly lockAccount: (account: AccountId) => Effect.Effect<void, StoreUnavailable>
  readonly findDefault: Effect.Effect<ProjectId | undefined, StoreUnavailable>
  /** The account that a project belongs to; `undefined` also for a deleted one. */
  readonly findAccount: (project: ProjectId) => Effect.Effect<AccountId | undefined, StoreUnavailable>
  /** False when there is no such project. */
  readonly setBillingMode: (
    project: ProjectId,
    mode: CallerShape["billingMode"]
  ) => Effect.Effect<boolean, StoreUnavailable>
  /** Until the end of the transaction nobody else changes the project; rows that refer to it can be written. */
  readonly lock: (project: ProjectId) => Effect.Effect<void, StoreUnavailable>
  /** Also notes the time of the change. */
  readonly rename: (project: ProjectId, name: string) => Effect.Effect<void, StoreUnavailable>
  /** `null`: as configured for all projects. */
  readonly setRateLimits: (project: ProjectId, limits: RateLimit | null) => Effect.Effect<void, StoreUnavailable>
  /** False, and nothing changes, while the project has a key that is active. */
  readonly remove: (project: ProjectId) => Effect.Effect<boolean, StoreUnavailable>
}

/** Projects without their policies, which are in `policy/PolicyStore`. */
export class ProjectStore extends Context.Tag("gateway/identity/ProjectStore")<ProjectStore, ProjectStoreShape>() {
  static readonly layer: Layer.Layer<ProjectStore, never, SqlClient | ChangeNotifications> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const Found = Schema.Struct({ id: ProjectId })

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  const changes = yield* ChangeNotifications

  const ofAccount = SqlSchema.findAll({
    Request: AccountId,
    Result: Found,
    execute: (account) => sql`select id from project where account_id = ${account} and deleted_at is null`
  })
  const findDefault = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Found,
    execute: () => sql`select id from project where is_default`
  })
  const findAccount = SqlSchema.findOne({
    Request: ProjectId,
    Result: Schema.Struct({ id: AccountId }),
    execute: (project) => sql`select account_id as id from project where id = ${project} and deleted_at is null`
  })
  const updateBillingMode = SqlSchema.findOne({
    Request: Schema.Struct({ project: ProjectId, mode: Schema.Literal("managed", "byok") }),
    Result: Found,
    execute: ({ mode, project }) => sql`
      update project set billing_mode = ${mode}, updated_at = now() where id = ${project} returning id`
  })
  const remove = SqlSchema.findOne({
    Request: ProjectId,
    Result: Found,
    execute: (project) => sql`
      update project set deleted_at = now(), updated_at = now()
      where id = ${project} and deleted_at is null and not exists (
        select from api_key k where k.project_id = ${project} and k.is_active
          and (k.expires_at is null or k.expires_at > now()))
      returning id`
  })
  const rename = (project: ProjectId, name: string) =>
    sql`update project set name = ${name}, updated_at = now() where id = ${project}`
  const insert = (project: NewProject) => sql`
    insert into project (id, account_id, name, is_default)
    values (${project.id}, ${project.accountId}, ${project.name}, ${project.isDefault})`

  return ProjectStore.of({
    create: flow(insert, Effect.asVoid, fromSql),
    count: (account) => fromSql(Effect.map(ofAccount(account), (rows) => rows.length)),
    lockAccount: (account) => fromSql(Effect.asVoid(sql`select from account where id = ${account} for no key update`)),
    findDefault: findDefault().pipe(
      Effect.map((found) => Option.getOrUndefined(found)?.id),
      fromSql
    ),
    findAccount: (project) => fromSql(Effect.map(findAccount(project), (found) => Option.getOrUndefined(found)?.id)),
    setBillingMode: (project, mode) =>
      changes.commit((announce) =>
        updateBillingMode({ project, mode }).pipe(
          Effect.tap(() => announce({ kind: "project", id: project })),
          Effect.map(Option.isSome)
        )
      ),
    lock: (project) => fromSql(Effect.asVoid(sql`select from project where id = ${project} for no key update`)),
    rename: flow(rename, Effect.asVoid, fromSql),
    setRateLimits: (project, limits) =>
      changes.commit((announce) =>
        Effect.zipRight(
          sql`update project set rate_limits = ${limits === null ? null : JSON.stringify(limits)}::jsonb,
            updated_at = now() where id = ${project}`,
          announce({ kind: "project", id: project })
        )
      ),
    remove: (project) =>
      changes.commit((announce) =>
        remove(project).pipe(
          Effect.tap(() => announce({ kind: "project", id: project })),
          Effect.map(Option.isSome)
        )
      )
  })
})
