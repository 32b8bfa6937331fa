import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountId, ProjectId, UserId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"
import { RateLimitColumn } from "../keys/RateLimitColumn.ts"

const AccessibleProject = Schema.Struct({
  /** Of the project. */
  id: ProjectId,
  /** Of the account that pays. */
  accountId: AccountId,
  /** For people. */
  name: Schema.String,
  /** The project that the first start has made. */
  isDefault: Schema.Boolean,
  /** `byok`: the project pays its providers itself. */
  billingMode: Schema.Literal("managed", "byok"),
  /** Increases with every change of the policy. */
  policyVersion: Schema.Int,
  /** `GATEWAY_CONFIG` has its policy. */
  managedByConfiguration: Schema.Boolean,
  /** `null`: as configured for all projects. */
  rateLimits: Schema.NullOr(RateLimitColumn),
  /** By the database's clock. */
  createdAt: Schema.DateFromSelf,
  /** Of the last change. */
  updatedAt: Schema.DateFromSelf,
  /** Of the person who asked. */
  role: Schema.Literal("owner", "member", "viewer")
})
/** A project that a person may use, with their role in it. */
export type AccessibleProject = typeof AccessibleProject.Type

export interface ProjectAccessStoreShape {
  /** `undefined` also for a project that the person may not use, and for a deleted one. */
  readonly find: (project: ProjectId, user: UserId) => Effect.Effect<AccessibleProject | undefined, StoreUnavailable>
  /** Newest first, those before `before`. */
  readonly list: (
    user: UserId,
    max: number,
    before: ProjectId | undefined
  ) => Effect.Effect<ReadonlyArray<AccessibleProject>, StoreUnavailable>
}

/** Which projects a person may use: those of their account, and those that they are a member of. */
export class ProjectAccessStore extends Context.Tag("gateway/identity/ProjectAccessStore")<
  ProjectAccessStore,
  ProjectAccessStoreShape
>() {
  static readonly layer: Layer.Layer<ProjectAccessStore, never, AccountSql> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const columns = sql.literal(`p.id, p.account_id as "accountId", p.name, p.is_default as "isDefault",
    p.billing_mode as "billingMode", p.policy_version as "policyVersion",
    p.managed_by_configuration as "managedByConfiguration", p.rate_limits as "rateLimits", p.created_at as "createdAt", p.updated_at as "updatedAt"`)

  const find = SqlSchema.findOne({
    Request: Schema.Struct({ project: ProjectId, user: UserId }),
    Result: AccessibleProject,
    execute: ({ project, user }) => sql`
      select ${columns}, case when a.user_id = ${user} then 'owner' else m.role end as role
      from project p join account a on a.id = p.account_id
      left join project_member m on m.project_id = p.id and m.user_id = ${user}
      where p.id = ${project} and p.deleted_at is null and (a.user_id = ${user} or m.role is not null)`
  })
  const list = SqlSchema.findAll({
    Request: Schema.Struct({ user: UserId, max: Schema.Number, before: Schema.UndefinedOr(ProjectId) }),
    Result: AccessibleProject,
    execute: ({ before, max, user }) => {
      const older = before === undefined ? sql`true` : sql`p.id < ${before}`
      return sql`
        (select ${columns}, 'owner' as role from account a join project p on p.account_id = a.id
          where a.user_id = ${user} and p.deleted_at is null and ${older} order by p.id desc limit ${max})
        union all
        (select ${columns}, m.role from project_member m join project p on p.id = m.project_id
          join account a on a.id = p.account_id
          where m.user_id = ${user} and a.user_id <> ${user} and p.deleted_at is null and ${older}
          order by p.id desc limit ${max})
        order by id desc limit ${max}`
    }
  })

  return ProjectAccessStore.of({
    find: (project, user) => fromSql(Effect.map(find({ project, user }), Option.getOrUndefined)),
    list: (user, max, before) => fromSql(list({ user, max, before }))
  })
})
