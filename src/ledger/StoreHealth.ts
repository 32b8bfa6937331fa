import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { Timers } from "../domain/Timers.ts"
import { reasonOf, sqlStateOf } from "../sql/DatabaseError.ts"
import { RecoveryStore } from "./RecoveryStore.ts"

/** What those who write tell about it. */
export interface WriteReports {
  /** A write has failed. True when the store is at fault, each reason of which is logged once; false when the statement is. */
  readonly failed: (cause: unknown) => boolean
  /** A batch of the ledger has been written. */
  readonly written: () => void
  /** This process's heartbeat has been written, to a row that is there already. */
  readonly heard: () => void
}

export interface StoreHealthShape extends WriteReports {
  /** Whether a call could be paid for now. Tried with a write, at most once a second however often it is asked. */
  readonly takesWrites: Effect.Effect<boolean>
}

/** Whether the database takes what the ledger writes, as the ledger's own statements find it. */
export class StoreHealth extends Context.Tag("gateway/ledger/StoreHealth")<StoreHealth, StoreHealthShape>() {
  static readonly layer: Layer.Layer<StoreHealth, never, RecoveryStore | Timers> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const tryEveryMillis = 1_000
const tryMillis = 2_000
/** A full disk may take the change of a row and no new one: so long a failed batch outweighs a written heartbeat. */
const batchCountsMillis = 5_000

const make = Effect.gen(function* () {
  const { beat } = yield* RecoveryStore
  const timers = yield* Timers
  const fork = Runtime.runFork(yield* Effect.runtime<never>())
  let failingSinceMillis: number | undefined
  let failedAtMillis = Number.NEGATIVE_INFINITY
  let triedAtMillis = Number.NEGATIVE_INFINITY
  let trying: Deferred.Deferred<boolean> | undefined

  /** A lost connection is often only how a lasting reason begins. */
  const reasons = new Set<string | undefined>()

  const begin = (cause: unknown): void => {
    failingSinceMillis ??= timers.now()
    const state = sqlStateOf(cause)
    if (reasons.has(state)) return
    reasons.add(state)
    fork(Effect.annotateLogs(Effect.logError("the database takes no writes"), { reason: reasonOf(cause) }))
  }
  const written = (): void => {
    if (failingSinceMillis === undefined) return
    const millis = Math.round(timers.now() - failingSinceMillis)
    failingSinceMillis = undefined
    reasons.clear()
    fork(Effect.annotateLogs(Effect.logInfo("the database takes writes again"), { millis }))
  }
  const heard = (): void => {
    if (timers.now() - failedAtMillis >= batchCountsMillis) written()
  }
  const failed = (cause: unknown): boolean => {
    if (!isOutage(sqlStateOf(cause))) return false
    failedAtMillis = timers.now()
    begin(cause)
    return true
  }

  const attempt = Effect.timeout(beat, tryMillis)
  const takesWrites = Effect.suspend(() => {
    if (trying !== undefined) return Deferred.await(trying)
    if (timers.now() - triedAtMillis < tryEveryMillis) return Effect.succeed(failingSinceMillis === undefined)
    const answered = Deferred.unsafeMake<boolean>(FiberId.none)
    trying = answered
    // on a fiber of its own: whoever asked may go away, and others wait for the same answer
    fork(
      Effect.map(Effect.exit(attempt), (exit) => {
        if (Exit.isSuccess(exit)) heard()
        else begin(exit.cause._tag === "Fail" ? exit.cause.error : exit.cause)
        trying = undefined
        triedAtMillis = timers.now()
        Deferred.unsafeDone(answered, Effect.succeed(failingSinceMillis === undefined))
      })
    )
    return Deferred.await(answered)
  })
  return StoreHealth.of({ failed, written, heard, takesWrites })
})

/** Connections, the server's state, its resources, its roles; no answer at all. */
const outages = /^(08|25|28|53|57P|58|XX|42501)/

/** A row that is locked for too long or refused says nothing about the others. */
const isOutage = (state: string | undefined): boolean => state === undefined || outages.test(state)
