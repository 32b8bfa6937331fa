import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlError } from "@effect/sql/SqlError"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Ids } from "../domain/Ids.ts"
import type { Cancel } from "../domain/Timers.ts"
import { type Translated, unavailable } from "./Unavailable.ts"

/** key: an API key. project: a project's policy or billing mode. configurations: a project's routing configurations. */
export const changeKinds = ["key", "project", "configurations"] as const
export type ChangeKind = (typeof changeKinds)[number]

/** What has been changed; `id` is the key's for `key`, else the project's. */
export interface Change {
  readonly kind: ChangeKind
  readonly id: string
}

export type Announce = (change: Change) => Effect.Effect<void, SqlError>

export interface ChangesShape {
  /**
   * Runs a write as one transaction. What it announces is told to every node with its commit, and to this node before
   * `commit` returns, even when the outcome of the commit is not known. Nested in another transaction, this node too
   * hears of it with the outer commit's notification.
   */
  readonly commit: <A, E, R>(
    write: (announce: Announce) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, Translated<E>, R>
  /** Calls back at each change made on any node; `undefined` means that changes may have been missed. */
  readonly onChange: (listener: (change: Change | undefined) => void) => Cancel
}

/** Tells all nodes when rows change that they keep in memory. A node that cannot hear relies on its short times to live. */
export class Changes extends Context.Tag("gateway/sql/Changes")<Changes, ChangesShape>() {
  static readonly layer: Layer.Layer<Changes, never, PgClient.PgClient | Ids> = Layer.scoped(
    this,
    Effect.suspend(() => make({ proveEveryMillis: 5_000 }))
  )

  static readonly layerWith = (options: ChangesOptions): Layer.Layer<Changes, never, PgClient.PgClient | Ids> =>
    Layer.scoped(this, make(options))
}

export interface ChangesOptions {
  /** How often the listening connection is proven to hear; a dead one gives no sign of its own. */
  readonly proveEveryMillis: number
}

const channel = "gateway_changes"
const echoPrefix = "echo:"
const proofWaitMillis = 100
const proofTimes = 20
const retryMillis = 1_000
const connectMillis = 5_000
const closeMillis = 1_000

const make = Effect.fnUntraced(function* (options: ChangesOptions) {
  const sql = yield* PgClient.PgClient
  const echo = echoPrefix + (yield* Ids).uuid()
  const listeners = new Set<(change: Change | undefined) => void>()
  const echoes = yield* Queue.sliding<void>(1)
  let broken = false

  const publish = (change: Change | undefined) => {
    for (const listener of listeners) listener(change)
  }
  const notify = (payload: string) => Effect.asVoid(sql`select pg_notify(${channel}, ${payload})`)
  const receive = (payload: string) => {
    if (payload === echo) return Queue.offer(echoes, undefined)
    return payload.startsWith(echoPrefix) ? Effect.void : Effect.sync(() => publish(parse(payload)))
  }

  const proof = notify(echo).pipe(
    Effect.zipRight(Queue.take(echoes)),
    Effect.timeoutFail({ duration: proofWaitMillis, onTimeout: () => unheard }),
    Effect.retry(Schedule.intersect(Schedule.spaced(proofWaitMillis), Schedule.recurs(proofTimes)))
  )
  const prove = Effect.gen(function* () {
    yield* proof
    // What happened before the connection heard anything is unknown.
    publish(undefined)
    if (broken) yield* Effect.logInfo("hearing about changes from other nodes again")
    broken = false
    return yield* Effect.forever(Effect.zipRight(Effect.sleep(options.proveEveryMillis), proof))
  })
  const listenOnce = Effect.gen(function* () {
    const listener = yield* ownConnection(sql)
    const hear = listener.listen(channel).pipe(Stream.runForEach(receive), Effect.zipRight(Effect.fail(ended)))
    const fiber = yield* Effect.forkDaemon(hear)
    // The end of a dead connection may never be acknowledged.
    yield* Effect.addFinalizer(() =>
      Fiber.interrupt(fiber).pipe(Effect.interruptible, Effect.timeoutOption(closeMillis))
    )
    return yield* Effect.raceFirst(prove, Fiber.join(fiber))
  }).pipe(
    Effect.scoped,
    // Releasing a dead connection dies inside the driver; the next attempt is the answer to that too.
    Effect.catchAllDefect((defect) => new SqlError({ cause: defect, message: "listening broke off" })),
    Effect.tapError((error) =>
      Effect.suspend(() => {
        if (broken) return Effect.void
        broken = true
        return Effect.logWarning(`not hearing about changes from other nodes: ${error.message}`)
      })
    )
  )
  yield* Effect.forkScoped(Effect.retry(listenOnce, Schedule.spaced(retryMillis)))

  const commit: ChangesShape["commit"] = (write) =>
    Effect.suspend(() => {
      const announced: Array<Change> = []
      const announce: Announce = (change) => {
        announced.push(change)
        return notify(`${change.kind}:${change.id}`)
      }
      return sql.withTransaction(write(announce)).pipe(
        // A commit that fails is a defect to the driver.
        Effect.catchSomeDefect((defect) =>
          defect instanceof SqlError ? Option.some(Effect.fail(defect)) : Option.none()
        ),
        unavailable,
        Effect.ensuring(Effect.sync(() => announced.forEach(publish)))
      )
    })

  return Changes.of({
    commit,
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    }
  })
})

const unheard = new SqlError({ cause: undefined, message: "the listening connection hears nothing" })
const ended = new SqlError({ cause: undefined, message: "the listening connection has ended" })

/**
 * The client keeps its listening connection for as long as anyone listens, and would hand out a dead one again. The
 * embedded database has no address, and no connection that could break.
 */
const ownConnection = (client: PgClient.PgClient): Effect.Effect<PgClient.PgClient, SqlError, Scope.Scope> =>
  client.config.url === undefined
    ? Effect.succeed(client)
    : PgClient.make({ ...client.config, minConnections: 0, maxConnections: 1, connectTimeout: connectMillis }).pipe(
        Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make)
      )

/** A payload that this version does not know may concern anything. */
const parse = (payload: string): Change | undefined => {
  const at = payload.indexOf(":")
  const kind = changeKinds.find((known) => known === payload.slice(0, at))
  return kind === undefined ? undefined : { kind, id: payload.slice(at + 1) }
}
