import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CurrentUser } from "../domain/CurrentUser.ts"
import { StoreUnavailable } from "../domain/GatewayError.ts"
import type { UserId } from "../domain/Ids.ts"
import { ChangeNotifications, type Commit, isCommitting } from "./ChangeNotifications.ts"

/** A person's page asks for several things at once, and calls must keep most of the server. */
export const maxAccountConnections = 4

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
    /**
     * As `ChangeNotifications.commit`. Those of a person that wait for a lock, as of their project, leave a connection to other people.
     */
    readonly commit: Commit
  }
>() {
  static readonly layer: Layer.Layer<AccountTransactions, never, AccountSql | ChangeNotifications> = Layer.effect(
    this,
    Effect.gen(function* () {
      const changes = yield* ChangeNotifications
      const commit = changes.commitOn(yield* AccountSql)
      const turns = new Map<UserId, Turn>()
      return { commit: (write) => inTurn(turns, commit(write)) }
    })
  )
}

interface Turn {
  readonly semaphore: Effect.Semaphore
  /** With those that run. */
  waiting: number
}

/** Of one person on a node. */
const maxRunning = maxAccountConnections - 1
/** With those that run: more are refused. */
const maxWaiting = 256

/** A nested one has the turn already, and what no person asked for needs none. */
const inTurn = <A, E, R>(
  turns: Map<UserId, Turn>,
  committed: Effect.Effect<A, E, R>
): Effect.Effect<A, E | StoreUnavailable, R> =>
  Effect.gen(function* () {
    const user = yield* Effect.serviceOption(CurrentUser)
    if (user._tag === "None" || (yield* isCommitting)) return yield* committed
    const { userId } = user.value
    return yield* Effect.acquireUseRelease(
      enter(turns, userId),
      ({ semaphore }) => semaphore.withPermits(1)(committed),
      (turn) =>
        Effect.sync(() => {
          turn.waiting -= 1
          if (turn.waiting === 0) turns.delete(userId)
        })
    )
  })

const enter = (turns: Map<UserId, Turn>, userId: UserId): Effect.Effect<Turn, StoreUnavailable> =>
  Effect.suspend(() => {
    const turn = turns.get(userId) ?? { semaphore: Effect.unsafeMakeSemaphore(maxRunning), waiting: 0 }
    if (turn.waiting >= maxWaiting) return new StoreUnavailable({ cause: "too many changes of one person" })
    turn.waiting += 1
    turns.set(userId, turn)
    return Effect.succeed(turn)
  })
