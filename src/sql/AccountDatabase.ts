import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ChangeNotifications, type Commit } from "./ChangeNotifications.ts"

/**
 * The same database as `SqlClient`, on few connections of its own and with a short statement timeout: what the account API and
 * the dashboard ask for never takes a connection that a call needs. Inside a transaction of either client the statements of both
 * are part of that transaction.
 */
export class AccountSql extends Context.Tag("gateway/sql/AccountSql")<AccountSql, SqlClient>() {}

/** Transactions of the account API, on the connections of `AccountSql`. */
export class AccountTransactions extends Context.Tag("gateway/sql/AccountTransactions")<
  AccountTransactions,
  {
    /** As `ChangeNotifications.commit`. */
    readonly commit: Commit
  }
>() {
  static readonly layer: Layer.Layer<AccountTransactions, never, AccountSql | ChangeNotifications> = Layer.effect(
    this,
    Effect.gen(function* () {
      const changes = yield* ChangeNotifications
      return { commit: changes.commitOn(yield* AccountSql) }
    })
  )
}
