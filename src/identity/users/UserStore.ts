import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountId, ProjectId, UserId } from "../../domain/Ids.ts"
import { AccountSql, AccountTransactions } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

const User = Schema.Struct({
  id: UserId,
  accountId: AccountId,
  name: Schema.String,
  issuer: Schema.NullOr(Schema.String),
  subject: Schema.NullOr(Schema.String),
  isOperator: Schema.Boolean,
  createdAt: Schema.DateFromSelf,
  /** The project of the configuration file, else the oldest; `null` where the account has none. */
  defaultProjectId: Schema.NullOr(ProjectId)
})
/** A person, with the account that they own. */
export type User = typeof User.Type

export interface UserStoreShape {
  readonly find: (id: UserId) => Effect.Effect<User | undefined, StoreUnavailable>
  /** The operator who signs in by a printed link: the user of the first start. */
  readonly findLocalOperator: Effect.Effect<User | undefined, StoreUnavailable>
  /** A person whom an identity provider knows. */
  readonly findByIdentity: (issuer: string, subject: string) => Effect.Effect<User | undefined, StoreUnavailable>
  /** Until the end of the transaction nobody else creates this person. */
  readonly lockIdentity: (issuer: string, subject: string) => Effect.Effect<void, StoreUnavailable>
  /** Announced to every node, for the sessions of the person. */
  readonly update: (
    id: UserId,
    user: { readonly name: string; readonly isOperator: boolean }
  ) => Effect.Effect<void, StoreUnavailable>
  /** Newest first, those before `before`. */
  readonly list: (max: number, before: UserId | undefined) => Effect.Effect<ReadonlyArray<User>, StoreUnavailable>
}

/** People. `AccountStore` creates them, each with an account. */
export class UserStore extends Context.Tag("gateway/identity/UserStore")<UserStore, UserStoreShape>() {
  static readonly layer: Layer.Layer<UserStore, never, AccountSql | AccountTransactions> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const transactions = yield* AccountTransactions
  const columns = sql.literal(`u.id, a.id as "accountId", u.name, u.issuer, u.subject, u.is_operator as "isOperator",
    u.created_at as "createdAt", (select p.id from project p where p.account_id = a.id and p.deleted_at is null
      order by p.is_default desc, p.created_at, p.id limit 1) as "defaultProjectId"`)
  const find = SqlSchema.findOne({
    Request: UserId,
    Result: User,
    execute: (id) => sql`select ${columns} from app_user u join account a on a.user_id = u.id where u.id = ${id}`
  })
  const findLocalOperator = SqlSchema.findOne({
    Request: Schema.Void,
    Result: User,
    execute: () => sql`
      select ${columns} from app_user u join account a on a.user_id = u.id
      where u.is_operator and u.issuer is null order by u.created_at, u.id limit 1`
  })
  const findByIdentity = SqlSchema.findOne({
    Request: Schema.Struct({ issuer: Schema.String, subject: Schema.String }),
    Result: User,
    execute: ({ issuer, subject }) => sql`
      select ${columns} from app_user u join account a on a.user_id = u.id
      where u.issuer = ${issuer} and u.subject = ${subject}`
  })
  const list = SqlSchema.findAll({
    Request: Schema.Struct({ max: Schema.Number, before: Schema.UndefinedOr(UserId) }),
    Result: User,
    execute: ({ before, max }) => sql`
      select ${columns} from app_user u join account a on a.user_id = u.id
      where ${before === undefined ? sql`true` : sql`u.id < ${before}`} order by u.id desc limit ${max}`
  })
  return UserStore.of({
    find: flow(find, Effect.map(Option.getOrUndefined), fromSql),
    findLocalOperator: findLocalOperator().pipe(Effect.map(Option.getOrUndefined), fromSql),
    findByIdentity: (issuer, subject) =>
      fromSql(Effect.map(findByIdentity({ issuer, subject }), Option.getOrUndefined)),
    lockIdentity: (issuer, subject) =>
      fromSql(
        Effect.asVoid(sql`select pg_advisory_xact_lock(hashtextextended(${JSON.stringify([issuer, subject])}, 0))`)
      ),
    update: (id, { isOperator, name }) =>
      transactions.commit((announce) =>
        sql`update app_user set is_operator = ${isOperator}, name = ${name} where id = ${id}`.pipe(
          Effect.zipRight(announce({ kind: "user", id }))
        )
      ),
    list: (max, before) => fromSql(list({ max, before }))
  })
})
