import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { ProjectId, UserId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

const Role = Schema.Literal("owner", "member", "viewer")
export type Role = typeof Role.Type

const Member = Schema.Struct({
  /** Of the membership; that of the account's owner is as old as the project and has its id. */
  id: Schema.UUID,
  userId: UserId,
  name: Schema.String,
  role: Role,
  isAccountOwner: Schema.Boolean,
  createdAt: Schema.DateFromSelf
})
/** A person who may use a project. */
export type Member = typeof Member.Type

export interface NewMember {
  readonly id: string
  readonly projectId: ProjectId
  readonly userId: UserId
  readonly role: Role
  readonly createdAt: Date
}

export interface MemberStoreShape {
  /** With the account's owner, newest first, those before `before`. */
  readonly list: (
    project: ProjectId,
    max: number,
    before: string | undefined
  ) => Effect.Effect<ReadonlyArray<Member>, StoreUnavailable>
  readonly find: (project: ProjectId, user: UserId) => Effect.Effect<Member | undefined, StoreUnavailable>
  /** Without the account's owner. */
  readonly count: (project: ProjectId) => Effect.Effect<number, StoreUnavailable>
  /** False when the person is a member already. */
  readonly create: (member: NewMember) => Effect.Effect<boolean, StoreUnavailable>
  readonly remove: (project: ProjectId, user: UserId) => Effect.Effect<void, StoreUnavailable>
}

/** Who may use a project, and in what role. */
export class MemberStore extends Context.Tag("gateway/identity/MemberStore")<MemberStore, MemberStoreShape>() {
  static readonly layer: Layer.Layer<MemberStore, never, AccountSql> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const members = (project: string) => sql`
    select p.id, u.id as "userId", u.name, 'owner' as role, true as "isAccountOwner", p.created_at as "createdAt"
    from project p join account a on a.id = p.account_id join app_user u on u.id = a.user_id where p.id = ${project}
    union all
    select m.id, u.id, u.name, m.role, false, m.created_at
    from project_member m join app_user u on u.id = m.user_id where m.project_id = ${project}`

  const list = SqlSchema.findAll({
    Request: Schema.Struct({ project: ProjectId, max: Schema.Number, before: Schema.UndefinedOr(Schema.UUID) }),
    Result: Member,
    execute: ({ before, max, project }) => sql`
      select * from (${members(project)}) as m
      where ${before === undefined ? sql`true` : sql`m.id < ${before}`} order by m.id desc limit ${max}`
  })
  const find = SqlSchema.findOne({
    Request: Schema.Struct({ project: ProjectId, user: UserId }),
    Result: Member,
    execute: ({ project, user }) => sql`select * from (${members(project)}) as m where m."userId" = ${user}`
  })
  const added = SqlSchema.findAll({
    Request: ProjectId,
    Result: Schema.Struct({ id: Schema.UUID }),
    execute: (project) => sql`select id from project_member where project_id = ${project}`
  })
  const create = ({ createdAt, id, projectId, role, userId }: NewMember) => sql`
    insert into project_member (id, project_id, user_id, role, created_at)
    values (${id}, ${projectId}, ${userId}, ${role}, ${createdAt})
    on conflict (project_id, user_id) do nothing returning id`

  return MemberStore.of({
    list: (project, max, before) => fromSql(list({ project, max, before })),
    find: (project, user) => fromSql(Effect.map(find({ project, user }), Option.getOrUndefined)),
    count: (project) => fromSql(Effect.map(added(project), (rows) => rows.length)),
    create: flow(
      create,
      Effect.map((rows) => rows.length === 1),
      fromSql
    ),
    remove: (project, user) =>
      fromSql(Effect.asVoid(sql`delete from project_member where project_id = ${project} and user_id = ${user}`))
  })
})
