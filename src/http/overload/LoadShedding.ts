import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { AccountId } from "../../domain/Ids.ts"
import { type Cancel, Timers } from "../../domain/Timers.ts"
import * as Metrics from "../../observe/Metrics.ts"
import { AdmissionQueue, type QueueEntry } from "./AdmissionQueue.ts"
import { RejectionPace } from "./RejectionPace.ts"

export interface LoadSheddingShape {
  readonly isOverloaded: () => boolean
  /** The node is overloaded and a call of this account would wait too long; counts as a rejection. */
  readonly rejects: (account: AccountId) => boolean
  /** Rejects a request on `connection`, at once or in order where its client does not wait; the result cancels the rejection. */
  readonly reject: (connection: object, reject: () => void) => Cancel
  /** A turn of the event loop begins; `fibersMillis` is the time of the fibers of the preceding turn. */
  readonly turn: (fibersMillis: number) => void
  /** Enters a call: it is admitted, waits, or is rejected. */
  readonly enter: (account: AccountId) => QueueEntry
}

/** At most one pair of log lines in this time, since a node at its limit enters and leaves overload often. */
const logEveryMillis = 10_000

/** Rejects calls that would wait too long, fairly between accounts. */
export class LoadShedding extends Context.Tag("gateway/http/LoadShedding")<LoadShedding, LoadSheddingShape>() {
  /** `minLimit`: as many calls may be in preparation however high their latency is. */
  static readonly layerOf = (minLimit?: number): Layer.Layer<LoadShedding, never, Timers> =>
    Layer.scoped(
      this,
      Effect.suspend(() => make(minLimit))
    )
  static readonly layer = this.layerOf()
}

const make = Effect.fnUntraced(function* (minLimit: number | undefined) {
  const timers = yield* Timers
  const fork = Runtime.runFork(yield* Effect.runtime<never>())
  let rejections = 0
  let loggedAtMillis = Number.NEGATIVE_INFINITY
  let beginningLogged = false
  let isTurnNeeded = false

  const log = (overloaded: boolean): void => {
    const now = timers.now()
    if (overloaded) {
      beginningLogged = now - loggedAtMillis >= logEveryMillis
      if (!beginningLogged) return
      loggedAtMillis = now
      fork(
        Effect.logWarning(`overloaded: ${queue.queued} calls wait for one of ${queue.slots} slots; calls are rejected`)
      )
    } else if (beginningLogged) {
      fork(Effect.logWarning(`no longer overloaded: ${rejections} calls were rejected`))
    }
    if (!overloaded) rejections = 0
  }
  const pace = new RejectionPace(timers)
  const queue: AdmissionQueue = new AdmissionQueue({
    timers,
    minLimit,
    onOverload: (overloaded) => {
      log(overloaded)
      pace.overloaded(overloaded)
    },
    onTurnNeeded: () => {
      if (isTurnNeeded) return
      isTurnNeeded = true
      setImmediate(() => {
        if (!isTurnNeeded) return
        isTurnNeeded = false
        queue.turn(0)
      })
    },
    onWaited: (millis) => Metrics.admissionWaitSeconds(millis / 1_000),
    onAdmitted: pace.admitted,
    onRejected: () => {
      rejections += 1
      Metrics.overloadRejection()
    },
    onChanged: Metrics.admission
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      queue.stop()
      pace.stop()
    })
  )
  return LoadShedding.of({
    isOverloaded: () => queue.isOverloaded,
    rejects: (account) => queue.rejects(account),
    reject: (connection, reject) => pace.add(connection, reject),
    turn: (fibersMillis) => {
      isTurnNeeded = false
      queue.turn(fibersMillis)
    },
    enter: (account) => queue.enter(account)
  })
})
