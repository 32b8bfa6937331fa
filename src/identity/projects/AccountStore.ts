import { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { AccountId, UserId } from "../../domain/Ids.ts"
import { ChangeNotifications } from "../../sql/ChangeNotifications.ts"
import { fromSql, type Translated } from "../../sql/StoreErrors.ts"

export interface NewAccount {
  readonly userId: UserId
  readonly accountId: AccountId
  readonly name: string
  /** May use the admin endpoints. */
  readonly isOperator?: boolean
  /** At an identity provider; none for who signs in locally. */
  readonly identity?: { readonly issuer: string; readonly subject: string }
}

export interface AccountStoreShape {
  /** No user exists yet. */
  readonly isEmpty: Effect.Effect<boolean, StoreUnavailable>
  /** A user with their one account. */
  readonly create: (account: NewAccount) => Effect.Effect<void, StoreUnavailable>
  /** Runs a transaction of a starting node, one at a time over all nodes. */
  readonly atStart: <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.Effect<A, Translated<E>, R>
}

/** Users, and the account that each of them owns. */
export class AccountStore extends Context.Tag("gateway/identity/AccountStore")<AccountStore, AccountStoreShape>() {
  static readonly layer: Layer.Layer<AccountStore, never, SqlClient | ChangeNotifications> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

/** An arbitrary number, the same in every version of the gateway and used for nothing else. */
const startLock = 7_021_407

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  const changes = yield* ChangeNotifications

  const isEmpty = SqlSchema.single({
    Request: Schema.Void,
    Result: Schema.Struct({ empty: Schema.Boolean }),
    execute: () => sql`select not exists (select 1 from app_user) as empty`
  })
  const insert = ({ accountId, identity, isOperator = false, name, userId }: NewAccount) =>
    sql`
      with created as (
        insert into app_user (id, name, is_operator, issuer, subject)
        values (${userId}, ${name}, ${isOperator}, ${identity?.issuer ?? null}, ${identity?.subject ?? null})
        returning id)
      insert into account (id, user_id) select ${accountId}, id from created`

  return AccountStore.of({
    isEmpty: isEmpty().pipe(
      Effect.map((row) => row.empty),
      Effect.catchTag("NoSuchElementException", () => Effect.dieMessage("a select without a from has one row")),
      fromSql
    ),
    create: flow(insert, Effect.asVoid, fromSql),
    atStart: (run) => changes.commit(() => Effect.zipRight(sql`select pg_advisory_xact_lock(${startLock})`, run))
  })
})
