import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { AccountId } from "../domain/Ids.ts"
import { type Cancel, Timers } from "../domain/Timers.ts"
import * as Metrics from "../observe/Metrics.ts"
import { AdmissionQueue, type Place } from "./AdmissionQueue.ts"
import { RefusalPace } from "./RefusalPace.ts"

export interface LoadSheddingShape {
  readonly isOverloaded: () => boolean
  /** The node is overloaded and a call of this account would wait too long; counted as a refusal. */
  readonly refuses: (account: AccountId) => boolean
  /** Refuses at once, or in turn where many are refused; the result cancels it. */
  readonly refuse: (refuse: () => void) => Cancel
  /** A turn of the event loop begins; the fibers of the one before have taken so long. */
  readonly turn: (fibersMillis: number) => void
  /** A place among the calls that prepare, or in the queue of those that wait for one, or none. */
  readonly enter: (account: AccountId) => Place
}

/** One pair of lines in so many milliseconds: a node at its limit goes in and out of overload. */
const logEveryMillis = 10_000

/** Calls that would wait too long are refused at once, fair between accounts. */
export class LoadShedding extends Context.Tag("gateway/http/LoadShedding")<LoadShedding, LoadSheddingShape>() {
  static readonly layer: Layer.Layer<LoadShedding, never, Timers> = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const timers = yield* Timers
  const fork = Runtime.runFork(yield* Effect.runtime<never>())
  let refusals = 0
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
        Effect.logWarning(`overloaded: ${queue.queued} calls wait for one of ${queue.slots} slots; calls are refused`)
      )
    } else if (beginningLogged) {
      fork(Effect.logWarning(`no longer overloaded: ${refusals} calls were refused`))
    }
    if (!overloaded) refusals = 0
  }
  const pace = new RefusalPace(timers)
  const queue = new AdmissionQueue({
    timers,
    onOverload: log,
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
    onRefused: () => {
      refusals += 1
      Metrics.overloadRefusal()
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
    refuses: (account) => queue.refuses(account),
    refuse: (refuse) => pace.add(refuse),
    turn: (fibersMillis) => {
      isTurnNeeded = false
      queue.turn(fibersMillis)
    },
    enter: (account) => queue.enter(account)
  })
})
