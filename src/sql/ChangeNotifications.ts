import type { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import { closedWithin, scopedClosedInRealTime } from "../domain/Closing.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { type Cancel, Timers } from "../domain/Timers.ts"
import { reasonOf } from "./DatabaseError.ts"
import { listenOn } from "./ListeningConnection.ts"
import { fromSql, type Translated } from "./StoreErrors.ts"

/**
 * analysis: an analysis that was asked for or shall end. key: an API key. project: a project's policy or billing mode.
 * configurations: a project's routing configurations. credentials: a project's credentials of providers. capture: a project's
 * data collection, or its keys. call: a running call that a person stops. session: a session of the account API. user: a
 * person's rights, with all their sessions. chat_turn: a conversation whose answer has grown or ended. chat_stop: one whose
 * answer is to be stopped. quality: the graded quality of models in a project.
 */
const changeKinds = [
  "analysis",
  "key",
  "project",
  "configurations",
  "credentials",
  "capture",
  "call",
  "session",
  "user",
  "chat_turn",
  "chat_stop",
  "quality"
] as const
export type ChangeKind = (typeof changeKinds)[number]

/** `id` is that of the analysis, key, call, session, user or conversation; for the other kinds the project's. */
export interface Change {
  readonly kind: ChangeKind
  readonly id: string
}

export type Announce = (change: Change) => Effect.Effect<void, SqlError>

export type Commit = <A, E, R>(
  write: (announce: Announce) => Effect.Effect<A, E, R>
) => Effect.Effect<A, Translated<E>, R>

export interface ChangeNotificationsShape {
  /**
   * Runs a write as one transaction. Announced changes are published to every node with the commit, and to this node before
   * `commit` returns, even when the outcome of the commit is unknown. Nested in another `commit` they are published with the
   * outer one; in any other transaction this node too receives them with that transaction's notification.
   */
  readonly commit: Commit
  /** `commit` on another client of the same database. */
  readonly commitOn: (client: SqlClient) => Commit
  /** Called for each change made on any node; `undefined` means that changes may have been missed. */
  readonly onChange: (listener: (change: Change | undefined) => void) => Cancel
  /** Each change that was committed before this time, by `Timers`, has been told to the listeners; `-Infinity` while none is heard. */
  readonly heardAtMillis: () => number
}

/** Notifies all nodes of changed rows that they cache. A node that does not hear of changes relies on its caches' short times to live. */
export class ChangeNotifications extends Context.Tag("gateway/sql/ChangeNotifications")<
  ChangeNotifications,
  ChangeNotificationsShape
>() {
  /** @internal */
  static readonly layer: Layer.Layer<ChangeNotifications, never, PgClient.PgClient | IdGenerator | Timers> =
    Layer.scoped(
      this,
      Effect.suspend(() => make({ checkEveryMillis: 2_000 }))
    )

  /** @internal */
  static readonly layerWith = (
    options: ChangeNotificationsOptions
  ): Layer.Layer<ChangeNotifications, never, PgClient.PgClient | IdGenerator | Timers> =>
    Layer.scoped(this, make(options))
}

export interface ChangeNotificationsOptions {
  /**
   * How often the listening connection is checked by a notification to itself; a dead connection reports no error. Well below the time
   * for which a `RowCache` trusts a check.
   */
  readonly checkEveryMillis: number
}

const channel = "gateway_changes"

/**
 * A call that publishes a change to every node, for the list of columns of the statement that makes the change: where this node
 * need not hear of it at once. `id` is a value or a column.
 */
export const notifying = (sql: SqlClient, kind: ChangeKind, id: string | Fragment): Fragment =>
  sql`pg_notify(${channel}, ${`${kind}:`} || ${id}::text)`

const echoPrefix = "echo:"
const checkTimeoutMillis = 100
const maxCheckRetries = 20
const retryMillis = 1_000
const closeMillis = 1_000

const make = Effect.fnUntraced(function* (options: ChangeNotificationsOptions) {
  const sql = yield* PgClient.PgClient
  const timers = yield* Timers
  const echo = `${echoPrefix}${(yield* IdGenerator).uuid()}:`
  const listeners = new Set<(change: Change | undefined) => void>()
  /** The numbers of the checks whose notification has come back. */
  const echoes = yield* Queue.sliding<number>(1)
  let checks = 0
  let heardAtMillis = Number.NEGATIVE_INFINITY
  /** Why none is heard; a loss that has another reason than it began with is said again. */
  let brokenBy: string | undefined

  const publish = (change: Change | undefined) => {
    for (const listener of listeners) listener(change)
  }
  const notify = (payload: string) => Effect.asVoid(sql`select pg_notify(${channel}, ${payload})`)
  const receive = (payload: string) => {
    if (payload.startsWith(echo)) echoes.unsafeOffer(Number(payload.slice(echo.length)))
    else if (!payload.startsWith(echoPrefix)) publish(parse(payload))
  }

  /** When it began: notifications come in the order of their commits, so that those from before it have come once it has ended. */
  const check = Effect.suspend(() => {
    const beganAtMillis = timers.now()
    const number = ++checks
    return notify(`${echo}${number}`).pipe(
      Effect.zipRight(Effect.repeat(Queue.take(echoes), { until: (heard) => heard === number })),
      Effect.timeoutFail({ duration: checkTimeoutMillis, onTimeout: () => unanswered }),
      Effect.retry(Schedule.intersect(Schedule.spaced(checkTimeoutMillis), Schedule.recurs(maxCheckRetries))),
      Effect.as(beganAtMillis)
    )
  })
  const heardAt = (millis: number) => {
    heardAtMillis = millis
  }
  const keepChecking = Effect.gen(function* () {
    const beganAtMillis = yield* check
    // Changes before the connection began to listen may have been missed.
    publish(undefined)
    heardAt(beganAtMillis)
    if (brokenBy !== undefined) yield* Effect.logInfo("change notifications from other nodes restored")
    brokenBy = undefined
    return yield* Effect.forever(Effect.zipRight(Effect.sleep(options.checkEveryMillis), Effect.map(check, heardAt)))
  })
  const listenOnce = Effect.gen(function* () {
    const fiber = yield* Effect.forkDaemon(Effect.interruptible(listenOn(sql, channel, receive)))
    // Closing a dead connection may never be acknowledged.
    yield* Effect.addFinalizer(() => closedWithin(closeMillis)(Fiber.interrupt(fiber)))
    return yield* Effect.raceFirst(keepChecking, Fiber.join(fiber))
  }).pipe(
    scopedClosedInRealTime,
    // Releasing a dead connection is a defect in the driver; the next attempt follows it too.
    Effect.catchAllDefect((defect) => new SqlError({ cause: defect, message: "the listening connection failed" })),
    Effect.tapError((error) =>
      Effect.suspend(() => {
        const reason = reasonOf(error)
        if (brokenBy === reason) return Effect.void
        brokenBy = reason
        return Effect.logWarning(`no change notifications from other nodes: ${reason}`)
      })
    )
  )
  yield* Effect.forkScoped(Effect.interruptible(Effect.retry(listenOnce, Schedule.spaced(retryMillis))))

  const commitOn =
    (client: SqlClient): Commit =>
    (write) =>
      Effect.flatMap(FiberRef.get(outerAnnounced), (outer) => {
        const announced = outer ?? []
        const announce: Announce = (change) => {
          announced.push(change)
          return notify(`${change.kind}:${change.id}`)
        }
        const written = fromSql(client.withTransaction(write(announce)))
        if (outer !== undefined) return written
        return written.pipe(
          Effect.locally(outerAnnounced, announced),
          Effect.ensuring(Effect.sync(() => announced.forEach(publish)))
        )
      })

  return ChangeNotifications.of({
    commit: commitOn(sql),
    commitOn,
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    heardAtMillis: () => heardAtMillis
  })
})

/** What the outermost `commit` of this fiber has to publish. */
const outerAnnounced = FiberRef.unsafeMake<Array<Change> | undefined>(undefined)

/** Whether this fiber runs within a `commit`. */
export const isCommitting: Effect.Effect<boolean> = Effect.map(
  FiberRef.get(outerAnnounced),
  (outer) => outer !== undefined
)

const unanswered = new SqlError({ cause: undefined, message: "the listening connection receives nothing" })

/** An unknown payload, of a newer version, may concern any row. */
const parse = (payload: string): Change | undefined => {
  const at = payload.indexOf(":")
  const kind = changeKinds.find((known) => known === payload.slice(0, at))
  return kind === undefined ? undefined : { kind, id: payload.slice(at + 1) }
}
