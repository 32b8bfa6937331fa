import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { InsufficientFunds, StoreUnavailable } from "../domain/GatewayError.ts"
import { zero } from "../domain/Money.ts"
import type { Cancel, TimersShape } from "../domain/Timers.ts"
import type { BatchFailed, BatchRequest, Ending, Granted, LedgerStoreShape, Verdict } from "./LedgerStore.ts"
import type { WriteReports } from "./StoreHealth.ts"

/**
 * Writes the ledger in natural batches: while one statement runs, what arrives waits for the next. Endings ride with the
 * next request, so that what they release is there for it.
 */
export interface Writer {
  /** Decided in order of arrival. Interrupted, it leaves no hold behind. */
  readonly request: (request: BatchRequest) => Effect.Effect<Granted, InsufficientFunds | StoreUnavailable>
  readonly end: (ending: Ending) => void
  readonly flushed: Effect.Effect<void>
}

/** A statement with more rows than this gains nothing and keeps its scopes locked. */
const mostPerStatement = 256
/** About what one statement's time limit lets through; more would wait in vain. */
const mostWaiting = 4_096
/** Endings that cannot be written; requests are refused beyond, and every ending was once a request. */
const mostEndings = 16_384
/** How long an ending waits for a request to ride with. */
const rideMillis = 10
const firstRetryMillis = 50
const longestRetryMillis = 1_000
/** A batch that fails after this long has met silence, not a fault that the next one may be spared. */
const silenceMillis = 2_000
/** After so many failures in a row, batches are halved: to find the row that is refused, or to be done within the time limit. */
const failuresBeforeHalving = 3
const refusalsBeforeHalving = 1
/** The time that shutting down leaves to a database that does not answer. */
const closeMillis = 5_000

const dropped = Metric.counter("gateway_ledger_endings_dropped", {
  description: "Ends of calls that the database refused for good; their holds expire and the house bears the cost",
  incremental: true
})

interface Waiting {
  readonly request: BatchRequest
  readonly resume: (verdict: Effect.Effect<Granted, InsufficientFunds | StoreUnavailable>) => void
  state: "queued" | "sent" | "granted" | "done"
  abandoned: boolean
}

interface Queued {
  readonly ending: Ending
  readonly sequence: number
}

export const make = (
  store: LedgerStoreShape,
  timers: TimersShape,
  reports: Pick<WriteReports, "failed" | "written">
): Effect.Effect<Writer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    let requests: Array<Waiting> = []
    let endings: Array<Queued> = []
    /** Calls with an ending on its way: the first one counts. */
    const ending = new Set<string>()
    let flushers: Array<{ readonly after: number; readonly resume: () => void }> = []
    let sequence = 0
    let writing = false
    let closing = false
    let failures = 0
    /** Endings up to this one have been in a batch that failed. */
    let suspectUntil = 0
    let most = mostPerStatement
    let endingsTurn = true
    let soon = false
    let idle: (() => void) | undefined
    let ride: Cancel | undefined
    let retry: Cancel | undefined

    const end = (added: Ending): void => {
      if (ending.has(added.callId)) return
      ending.add(added.callId)
      sequence += 1
      endings.push({ ending: added, sequence })
      if (writing || retry !== undefined) return
      if (closing || endings.length >= mostPerStatement) flush()
      else ride ??= timers.after(rideMillis, flush)
    }

    const giveBack = (request: BatchRequest): void =>
      end({ callId: request.callId, caller: request.caller, state: "void", actual: zero, record: null })

    const flush = (): void => {
      if (writing) return
      ride?.()
      ride = undefined
      // While a bad ending may be among them, endings and requests take turns: no request has to fail for an ending.
      const apart = (endings[0]?.sequence ?? Number.POSITIVE_INFINITY) <= suspectUntil
      const mayEnd = retry === undefined && (!apart || endingsTurn || requests.length === 0)
      const due = mayEnd ? endings.splice(0, most) : []
      const decided = apart && due.length > 0 ? [] : requests.splice(0, mostPerStatement)
      endingsTurn = due.length === 0
      if (due.length === 0 && decided.length === 0) return
      writing = true
      const sentAtMillis = timers.now()
      for (const waiting of decided) waiting.state = "sent"
      const batch = store.apply(
        decided.map((waiting) => waiting.request),
        due.map((queued) => queued.ending)
      )
      fork(
        Effect.map(Effect.exit(batch), (exit) => {
          writing = false
          if (Exit.isSuccess(exit)) succeeded(decided, due, exit.value)
          else {
            failed(decided, due, exit.cause)
            if (timers.now() - sentAtMillis >= silenceMillis) failWaiting(exit.cause)
          }
          proceed()
        })
      )
    }

    /** All that comes in one turn of the event loop goes out together. */
    const flushSoon = (): void => {
      if (soon) return
      soon = true
      queueMicrotask(() => {
        soon = false
        flush()
      })
    }

    const proceed = (): void => {
      const mayEnd = retry === undefined && endings.length > 0
      const mustEnd = closing || failures > 0 || flushers.length > 0 || endings.length >= most
      if (requests.length > 0 || (mayEnd && mustEnd)) flush()
      else if (mayEnd) ride ??= timers.after(rideMillis, flush)
      else if (ending.size === 0) idle?.()
    }

    const succeeded = (
      decided: ReadonlyArray<Waiting>,
      due: ReadonlyArray<Queued>,
      verdicts: ReadonlyArray<Verdict>
    ): void => {
      reports.written()
      if (due.length > 0) {
        failures = 0
        most = Math.min(mostPerStatement, most * 2)
        written(due)
      }
      for (const [index, waiting] of decided.entries()) {
        const verdict = verdicts[index]
        if (verdict?._tag === "Granted") {
          waiting.state = "granted"
          if (waiting.abandoned && !waiting.request.extends) giveBack(waiting.request)
        } else waiting.state = "done"
        waiting.resume(answer(waiting.request, verdict))
      }
    }

    const failed = (
      decided: ReadonlyArray<Waiting>,
      due: ReadonlyArray<Queued>,
      cause: Cause.Cause<BatchFailed>
    ): void => {
      const failure = Cause.failureOption(cause)
      const fault = failure._tag === "Some" ? failure.value : undefined
      if (fault !== undefined) reports.failed(fault.cause)
      endings = [...due, ...endings]
      for (const waiting of decided) {
        waiting.state = "done"
        if (fault?.uncertain !== false && !waiting.request.extends) giveBack(waiting.request)
        waiting.resume(Effect.fail(new StoreUnavailable({ cause: fault?.cause ?? Cause.squash(cause) })))
      }
      if (due.length === 0) return
      failures += 1
      suspectUntil = due.at(-1)?.sequence ?? suspectUntil
      const refused = fault?.refused !== false
      const repeated = failures > (refused ? refusalsBeforeHalving : failuresBeforeHalving)
      if (repeated && refused && due.length === 1 && decided.length === 0) {
        giveUp(due, cause)
        return
      }
      if (repeated) most = Math.max(1, Math.ceil(due.length / 2))
      // A refusal is not cured by waiting; only a server in trouble is.
      const wait = refused ? firstRetryMillis : firstRetryMillis * 2 ** Math.min(failures - 1, 10)
      retry = timers.after(Math.min(wait, longestRetryMillis), () => {
        retry = undefined
        flush()
      })
    }

    /** Who has queued behind a database that does not answer would only wait as long again. */
    const failWaiting = (cause: Cause.Cause<BatchFailed>): void => {
      for (const waiting of requests.splice(0)) {
        waiting.state = "done"
        waiting.resume(Effect.fail(new StoreUnavailable({ cause: Cause.squash(cause) })))
      }
    }

    /** First without its log row, which is the likelier culprit; then not at all: the hold is left to expire. */
    const giveUp = ([queued]: ReadonlyArray<Queued>, cause: Cause.Cause<BatchFailed>): void => {
      if (queued === undefined) return
      endings.shift()
      const { callId, record } = queued.ending
      if (record !== null) {
        endings.unshift({ ...queued, ending: { ...queued.ending, record: null } })
        fork(Effect.logError("the log row of a call was refused and is left out", cause, { callId }))
        return
      }
      failures = 0
      written([queued])
      fork(
        Metric.increment(dropped).pipe(
          Effect.zipRight(Effect.logError("the end of a call was refused; its hold will expire", cause, { callId }))
        )
      )
    }

    const written = (done: ReadonlyArray<Queued>): void => {
      for (const queued of done) ending.delete(queued.ending.callId)
      const oldest = endings[0]?.sequence ?? Number.POSITIVE_INFINITY
      const [ready, others] = partition(flushers, (flusher) => flusher.after < oldest)
      flushers = others
      for (const flusher of ready) flusher.resume()
    }

    const flushed = Effect.async<void>((resume) => {
      if (ending.size === 0) return resume(Effect.void)
      const flusher = { after: sequence, resume: () => resume(Effect.void) }
      flushers.push(flusher)
      if (!writing && retry === undefined) flush()
      return Effect.sync(() => {
        flushers = flushers.filter((other) => other !== flusher)
      })
    })

    const request = (wanted: BatchRequest): Effect.Effect<Granted, InsufficientFunds | StoreUnavailable> =>
      Effect.checkInterruptible((isInterruptible) =>
        Effect.async((resume) => {
          if (closing || requests.length >= mostWaiting || endings.length >= mostEndings) {
            return resume(Effect.fail(new StoreUnavailable({ cause: closing ? "closing" : "too much is waiting" })))
          }
          const waiting: Waiting = { request: wanted, resume, state: "queued", abandoned: false }
          requests.push(waiting)
          if (!writing) flushSoon()
          // what cannot be interrupted is spared the price of being able to be
          return isInterruptible ? abandon(waiting) : undefined
        })
      )

    const abandon = (waiting: Waiting): Effect.Effect<void> =>
      Effect.sync(() => {
        waiting.abandoned = true
        if (waiting.state === "queued") requests = requests.filter((other) => other !== waiting)
        else if (waiting.state === "granted" && !waiting.request.extends) giveBack(waiting.request)
      })

    yield* Effect.addFinalizer(() =>
      Effect.async<void>((resume) => {
        closing = true
        const cancel = timers.after(closeMillis, () => resume(Effect.void))
        idle = () => {
          cancel()
          resume(Effect.void)
        }
        if (!writing && ending.size === 0 && requests.length === 0) idle()
        else flush()
      }).pipe(
        Effect.zipRight(Effect.suspend(() => (ending.size === 0 ? Effect.void : Effect.logError(lost, ending.size))))
      )
    )

    return { request, end, flushed }
  })

const lost = "ends of calls could not be written before closing; their holds will expire"

const answer = (
  request: BatchRequest,
  verdict: Verdict | undefined
): Effect.Effect<Granted, InsufficientFunds | StoreUnavailable> => {
  switch (verdict?._tag) {
    case "Granted":
      return Effect.succeed(verdict)
    case "Refused":
      return Effect.fail(new InsufficientFunds({ scope: verdict.scope, reason: verdict.reason }))
    case "Broken":
      // A hold can only have ended by itself while this process was thought dead.
      return verdict.invariant === "closed"
        ? Effect.fail(new StoreUnavailable({ cause: `the hold of ${request.callId} is no longer open` }))
        : Effect.dieMessage(`a hold for ${request.callId} broke an invariant: ${verdict.invariant}`)
    case undefined:
      return Effect.dieMessage(`the ledger gave no verdict on ${request.callId}`)
  }
}

const partition = <A>(items: ReadonlyArray<A>, test: (item: A) => boolean): [Array<A>, Array<A>] => [
  items.filter(test),
  items.filter((item) => !test(item))
]
