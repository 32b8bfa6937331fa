import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Runtime from "effect/Runtime"
import type { CallObserver } from "../domain/CallObserver.ts"
import { type ChatEvent, type FinishReason, finishEvent } from "../domain/ChatEvent.ts"
import { Accumulator, type Answer } from "../domain/Completion.ts"
import { dateAt } from "../domain/Dates.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Timers } from "../domain/Timers.ts"
import * as CaptureMetrics from "../observe/CaptureMetrics.ts"
import { CaptureKeys, type DayKey } from "./CaptureKeys.ts"
import { CaptureQueue, type Selected, selectedLater, type Taken } from "./CaptureQueue.ts"
import type { NewSample } from "./CaptureRecords.ts"
import { CaptureStore } from "./CaptureStore.ts"
import type { CaptureWindow } from "./CaptureWindow.ts"
import { CaptureWindows } from "./CaptureWindows.ts"
import { factsOf } from "./Facts.ts"
import type { WorkerJob } from "./worker/captureWorker.js"
import { isSealed, make as makeSealer, type SealedOrError, type SealerFailed } from "./worker/Sealer.ts"

export interface CaptureShape {
  /** Follows the calls that opt in. */
  readonly observer: CallObserver
  /** Everything that was taken by now is written or dropped. */
  readonly flushed: Effect.Effect<void>
}

/**
 * Keeps calls that their clients and their project have opted in. It works behind the calls: what cannot be kept is dropped and
 * counted, and no call waits for it.
 */
export class Capture extends Context.Tag("gateway/capture/Capture")<Capture, CaptureShape>() {
  static readonly layer: Layer.Layer<Capture, never, CaptureKeys | CaptureStore | CaptureWindows | Timers> =
    Layer.scoped(
      this,
      Effect.suspend(() => make)
    )
}

/** Sealed and written together. */
const perBatch = 32
const dayMillis = 86_400_000
/** Later calls of a conversation that goes on for longer are sealed under the key of a later day. */
const maxDaysOfKey = 7
/** At the end of the process, what is in the queue is written within this time or dropped. */
const closingTime = Duration.seconds(2)

const dayOf = (millis: number): string => dateAt(millis).toISOString().slice(0, 10)

/** A call with the place of its conversation. */
interface Placed {
  readonly taken: Taken
  readonly window: CaptureWindow
  readonly day: string
  readonly dayKey: DayKey
  readonly endUser: string | null
  readonly chain: string
}

const make = Effect.gen(function* () {
  const windows = yield* CaptureWindows
  const keys = yield* CaptureKeys
  const store = yield* CaptureStore
  const timers = yield* Timers
  const sealer = yield* makeSealer
  const runtime = yield* Effect.runtime<never>()
  const signal = yield* Queue.sliding<void>(1)
  let idle: Array<Deferred.Deferred<void>> = []

  const queue = new CaptureQueue({
    peek: windows.peek,
    lookUp: (project) => Runtime.runFork(runtime)(Effect.ignore(windows.of(project))),
    added: () => signal.unsafeOffer(undefined)
  })

  const placeOf = (taken: Taken, { position, window }: Selected) =>
    Effect.gen(function* () {
      const { call, record } = taken
      const { configVersion, projectId, retentionDays } = window
      const now = timers.now()
      const oldest = dayOf(now - Math.min(maxDaysOfKey, retentionDays) * dayMillis)
      const promptClass = factsOf(record, call.request, null).class ?? "named"
      const place = { projectId, configVersion, conversation: record.conversation }
      const day = yield* store.place(place, position, promptClass, dayOf(now), oldest)
      if (day === undefined) return CaptureMetrics.dropped("not_among_kept")
      const dayKey = yield* keys.ofDay(projectId, day)
      if (dayKey === undefined) return CaptureMetrics.dropped("sealing_unavailable")
      const { user } = call.request
      const endUser = user === undefined ? null : ((yield* keys.endUser(projectId, user)) ?? null)
      const chain = `${projectId} ${configVersion} ${record.conversation} ${day} ${Buffer.from(dayKey.sealed).toString("base64")}`
      const placed: Placed = { taken, window, day, dayKey, endUser, chain }
      return placed
    })

  const jobOf = ({ chain, day, dayKey, taken: { call, events, record }, window }: Placed): WorkerJob => ({
    id: call.requestId,
    project: window.projectId,
    day,
    dayKey: dayKey.key,
    content: window.content,
    chain,
    facts: factsOf(record, call.request, finishOf(events)),
    ...(call.body !== undefined && call.endpoint === "chat"
      ? { body: call.body, prompt: undefined }
      : { body: undefined, prompt: { messages: call.request.messages, tools: call.request.tools } }),
    answer: answerOf(events)
  })

  const sampleOf = (placed: Placed, sealed: SealedOrError): NewSample | undefined => {
    if (!isSealed(sealed)) return undefined
    const { day, dayKey, endUser, taken, window } = placed
    const { call, record } = taken
    return {
      id: call.requestId,
      projectId: window.projectId,
      configVersion: window.configVersion,
      conversation: record.conversation,
      day,
      dayKey: dayKey.sealed,
      base: sealed.base,
      keyId: call.caller.keyId,
      endUser,
      flowAuthorized: window.replayAllowed && sealed.mayFlow,
      capturedAt: dateAt(record.startedAtMillis),
      // all of a conversation expires with its key
      expiresAt: dateAt(Date.parse(`${day}T00:00:00Z`) + (window.retentionDays + 1) * dayMillis),
      shared: sealed.shared,
      sealed: sealed.sealed
    }
  }

  /** Of one window; the worker has made them, so it has to hear of what was not kept. */
  const write = (placed: ReadonlyArray<Placed>, sealed: ReadonlyArray<SealedOrError>) =>
    Effect.gen(function* () {
      const [first] = placed
      if (first === undefined) return
      const samples = placed.flatMap((one, at) => {
        const result = sealed[at]
        return (result && sampleOf(one, result)) ?? []
      })
      CaptureMetrics.dropped("sealing_failed", placed.length - samples.length)
      const stored = Effect.map(store.write(first.window, samples), ({ erased, isOpen, written }) => {
        CaptureMetrics.captured(written.size)
        CaptureMetrics.dropped("erased", erased)
        CaptureMetrics.dropped(isOpen ? "conversation_full" : "window_closed", samples.length - erased - written.size)
        sealer.forget(placed.flatMap(({ chain, taken }) => (written.has(taken.call.requestId) ? [] : [chain])))
      })
      const forgotten = Effect.onError(stored, () => Effect.sync(() => sealer.forget(placed.map(({ chain }) => chain))))
      // what can not be written of one project is no loss of the others
      yield* losing(() => samples.length, forgotten)
    })

  /** Calls leave `uncounted` as they are counted: the rest is lost where this fails. */
  const process = (taken: ReadonlyArray<Taken>, uncounted: Set<Taken>) =>
    Effect.gen(function* () {
      const placed: Array<Placed> = []
      for (const one of taken) {
        const current = yield* windows.of(one.call.caller.projectId)
        const selected = one.selected ?? selectedLater(current, one.call, one.record)
        if (selected === undefined) {
          uncounted.delete(one)
          continue
        }
        // switched off meanwhile: nothing of it is even sealed
        const isClosed = current?.configVersion !== selected.window.configVersion || !current.enabled
        const found = isClosed ? CaptureMetrics.dropped("window_closed") : yield* placeOf(one, selected)
        if (found === undefined) uncounted.delete(one)
        else placed.push(found)
      }
      if (placed.length === 0) return
      const sealed = yield* sealer.seal(placed.map(jobOf))
      for (const window of new Set(placed.map(windowOf))) {
        const own = placed.flatMap((one, at) => {
          const result = sealed[at]
          return windowOf(one) === window && result !== undefined ? [{ one, result }] : []
        })
        yield* write(
          own.map(({ one }) => one),
          own.map(({ result }) => result)
        )
        for (const { one } of own) uncounted.delete(one.taken)
      }
    })

  const next = Effect.suspend(() => {
    const taken = queue.take(perBatch)
    if (taken.length === 0) return Queue.take(signal)
    const uncounted = new Set(taken)
    return losing(() => uncounted.size, process(taken, uncounted)).pipe(
      Effect.ensuring(
        Effect.suspend(() => {
          queue.done(taken)
          if (!queue.isEmpty) return Effect.void
          const waiting = idle
          idle = []
          return Effect.forEach(waiting, (one) => Deferred.succeed(one, undefined), { discard: true })
        })
      )
    )
  })
  const flushed = Effect.suspend(() => {
    if (queue.isEmpty) return Effect.void
    return Effect.flatMap(Deferred.make<void>(), (one) => {
      idle.push(one)
      return queue.isEmpty ? Effect.void : Deferred.await(one)
    })
  })

  yield* Effect.forkScoped(Effect.forever(next))
  yield* Effect.addFinalizer(() => Effect.asVoid(Effect.timeoutOption(Effect.interruptible(flushed), closingTime)))
  return Capture.of({ observer: queue.observer, flushed })
})

const finishOf = (events: ReadonlyArray<ChatEvent>): FinishReason | null =>
  events.find((event) => event._tag === "Finish")?.reason ?? null

/** `null` where nothing of a response has come; the sum of a part of it is ended here. */
const answerOf = (events: ReadonlyArray<ChatEvent>): Answer | null => {
  const sum = new Accumulator()
  for (const event of events) sum.add(event)
  if (sum.answer === undefined && !sum.isEmpty) sum.add(finishEvent())
  return sum.answer ?? null
}

const windowOf = ({ window }: Placed): string => `${window.projectId} ${window.configVersion}`

/** What fails is counted as lost. */
const losing = (
  amount: () => number,
  effect: Effect.Effect<void, StoreUnavailable | SealerFailed>
): Effect.Effect<void> =>
  effect.pipe(
    Effect.catchTags({
      StoreUnavailable: (error) => lost(amount(), "store_unavailable", Cause.fail(error)),
      SealerFailed: (error) => lost(amount(), "sealing_failed", Cause.fail(error))
    }),
    Effect.catchAllCause((cause) => lost(amount(), "sealing_failed", cause))
  )

/** Content may be in the cause of a defect: only its kind is logged. */
const lost = (amount: number, reason: CaptureMetrics.DropReason, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    CaptureMetrics.dropped(reason, amount)
    const kind = Cause.isInterruptedOnly(cause) ? "interrupted" : nameOf(Cause.squash(cause))
    return Effect.annotateLogs(Effect.logWarning("calls were not captured"), { reason, amount, kind })
  })

const nameOf = (error: unknown): string =>
  error instanceof Error ? ("_tag" in error ? String(error._tag) : error.name) : "unknown"
