import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountId, SessionId, UserId } from "../../domain/Ids.ts"
import { AccountSql, AccountTransactions } from "../../sql/AccountDatabase.ts"
import { deleteWhere } from "../../sql/Portions.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

const Session = Schema.Struct({
  id: SessionId,
  userId: UserId,
  transport: Schema.Literal("cookie", "bearer"),
  address: Schema.String,
  userAgent: Schema.NullOr(Schema.String),
  createdAt: Schema.DateFromSelf,
  seenAt: Schema.DateFromSelf,
  /** Ends at the latest then; earlier when it is not used. */
  expiresAt: Schema.DateFromSelf
})
export type Session = typeof Session.Type

const SignedIn = Schema.Struct({ ...Session.fields, accountId: AccountId, isOperator: Schema.Boolean })
/** A session with the person's present rights. */
export type SignedIn = typeof SignedIn.Type

export interface SessionStoreShape {
  /** Stores only the hash of the token, given in hex. */
  readonly create: (session: Session, tokenHash: string) => Effect.Effect<void, StoreUnavailable>
  /** One that has not been revoked. */
  readonly findByToken: (tokenHash: string) => Effect.Effect<SignedIn | undefined, StoreUnavailable>
  /** One of the person's sessions that has not been revoked. */
  readonly find: (userId: UserId, id: SessionId) => Effect.Effect<Session | undefined, StoreUnavailable>
  /** Those of a person that have not been revoked and were used after `seenAfter`, newest first. */
  readonly list: (query: {
    readonly userId: UserId
    readonly seenAfter: Date
    readonly now: Date
    readonly before: SessionId | undefined
    readonly max: number
  }) => Effect.Effect<ReadonlyArray<Session>, StoreUnavailable>
  readonly touch: (id: SessionId, at: Date) => Effect.Effect<void, StoreUnavailable>
  /** Announced to every node. False when the person has no such session, or it was revoked before. */
  readonly revoke: (userId: UserId, id: SessionId, at: Date) => Effect.Effect<boolean, StoreUnavailable>
  /** Removes sessions that ended before. */
  readonly sweep: (before: Date) => Effect.Effect<void, StoreUnavailable>
}

export class SessionStore extends Context.Tag("gateway/identity/SessionStore")<SessionStore, SessionStoreShape>() {
  /** Of the people whom this issuer knows, the others are not signed in; `null`: of those who sign in by links of the gateway. */
  static readonly layer = (issuer: string | null): Layer.Layer<SessionStore, never, AccountSql | AccountTransactions> =>
    Layer.effect(this, make(issuer))
}

const make = Effect.fnUntraced(function* (issuer: string | null) {
  const sql = yield* AccountSql
  const transactions = yield* AccountTransactions
  const columns = sql.literal(`s.id, s.user_id as "userId", s.transport, s.address, s.user_agent as "userAgent",
    s.created_at as "createdAt", s.seen_at as "seenAt", s.expires_at as "expiresAt"`)

  const findByToken = SqlSchema.findOne({
    Request: Schema.String,
    Result: SignedIn,
    execute: (hash) => sql`
      select ${columns}, a.id as "accountId", u.is_operator as "isOperator"
      from session s join app_user u on u.id = s.user_id join account a on a.user_id = u.id
      where s.token_hash = decode(${hash}, 'hex') and s.revoked_at is null
        and u.issuer is not distinct from ${issuer}::text`
  })
  const find = SqlSchema.findOne({
    Request: Schema.Struct({ userId: UserId, id: SessionId }),
    Result: Session,
    execute: ({ id, userId }) => sql`
      select ${columns} from session s where s.id = ${id} and s.user_id = ${userId} and s.revoked_at is null`
  })
  const list = SqlSchema.findAll({
    Request: Schema.Struct({
      userId: UserId,
      seenAfter: Schema.DateFromSelf,
      now: Schema.DateFromSelf,
      before: Schema.UndefinedOr(SessionId),
      max: Schema.Number
    }),
    Result: Session,
    execute: ({ before, max, now, seenAfter, userId }) => sql`
      select ${columns} from session s
      where s.user_id = ${userId} and s.revoked_at is null and s.seen_at > ${seenAfter} and s.expires_at > ${now}
        and ${before === undefined ? sql`true` : sql`s.id < ${before}`}
      order by s.id desc limit ${max}`
  })
  const revoke = SqlSchema.findOne({
    Request: Schema.Struct({ userId: UserId, id: SessionId, at: Schema.DateFromSelf }),
    Result: Schema.Struct({ id: SessionId }),
    execute: ({ at, id, userId }) => sql`
      update session set revoked_at = ${at} where id = ${id} and user_id = ${userId} and revoked_at is null returning id`
  })

  return SessionStore.of({
    create: (session, tokenHash) =>
      fromSql(
        Effect.asVoid(sql`
          insert into session (id, user_id, token_hash, transport, address, user_agent, created_at, seen_at, expires_at)
          values (${session.id}, ${session.userId}, decode(${tokenHash}, 'hex'), ${session.transport}, ${session.address},
            ${session.userAgent}, ${session.createdAt}, ${session.seenAt}, ${session.expiresAt})`)
      ),
    findByToken: flow(findByToken, Effect.map(Option.getOrUndefined), fromSql),
    find: (userId, id) => fromSql(Effect.map(find({ userId, id }), Option.getOrUndefined)),
    list: flow(list, fromSql),
    touch: (id, at) =>
      fromSql(Effect.asVoid(sql`update session set seen_at = ${at} where id = ${id} and seen_at < ${at}`)),
    revoke: (userId, id, at) =>
      transactions.commit((announce) =>
        revoke({ userId, id, at }).pipe(
          Effect.tap((found) => (Option.isSome(found) ? announce({ kind: "session", id }) : Effect.void)),
          Effect.map(Option.isSome)
        )
      ),
    sweep: (before) => fromSql(Effect.asVoid(deleteWhere(sql, "session", sql`expires_at < ${before}`)))
  })
})
