import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Timers } from "../domain/Timers.ts"
import * as CaptureMetrics from "../observe/CaptureMetrics.ts"
import { CaptureKeys } from "./CaptureKeys.ts"
import type { CaptureLoss } from "./CaptureLoss.ts"
import { type Selected, selectedLater, type Taken } from "./CaptureQueue.ts"
import type { NewSample } from "./CaptureRecords.ts"
import { CaptureStore } from "./CaptureStore.ts"
import type { CaptureWindow } from "./CaptureWindow.ts"
import { CaptureWindows } from "./CaptureWindows.ts"
import { factsOf } from "./Facts.ts"
import { dayOf, oldestDayOf } from "./KeyDays.ts"
import { chainOf, jobOf, type PlacedCall, sampleOf } from "./PlacedCall.ts"
import { isSealed, make as makeSealer, type SealedOrError } from "./worker/Sealer.ts"

export interface CaptureWriter {
  /** Each call is written, or dropped and counted. */
  readonly write: (taken: ReadonlyArray<Taken>) => Effect.Effect<void>
}

interface SealedCall {
  readonly placed: PlacedCall
  readonly sealed: SealedOrError
}

/** Makes samples of calls, with a thread of its own that seals them. */
export const make = ({
  losing,
  lost
}: CaptureLoss): Effect.Effect<
  CaptureWriter,
  never,
  CaptureKeys | CaptureStore | CaptureWindows | Scope.Scope | Timers
> =>
  Effect.gen(function* () {
    const windows = yield* CaptureWindows
    const keys = yield* CaptureKeys
    const store = yield* CaptureStore
    const timers = yield* Timers
    const sealer = yield* makeSealer

    const dropped = (reason: CaptureMetrics.DropReason): undefined => {
      lost(reason)
    }

    /** `undefined` where it is not kept; if the collection would have taken it, that is counted. */
    const place = (taken: Taken): Effect.Effect<PlacedCall | undefined, StoreUnavailable> =>
      Effect.gen(function* () {
        const current = yield* windows.of(taken.call.caller.projectId)
        const selected = taken.selected ?? selectedLater(current, taken.call, taken.record)
        if (selected === undefined) return undefined
        // switched off meanwhile: nothing of it is even sealed
        const isClosed = current?.configVersion !== selected.window.configVersion || !current.enabled
        return isClosed ? dropped("window_closed") : yield* placeIn(selected, taken)
      })

    const placeIn = ({ position, window }: Selected, taken: Taken) =>
      Effect.gen(function* () {
        const { call, record } = taken
        const { configVersion, projectId, retentionDays } = window
        const now = timers.now()
        const promptClass = factsOf(record, call.request, null).class ?? "named"
        const conversation = { projectId, configVersion, conversation: record.conversation }
        const day = yield* store.place(conversation, position, promptClass, dayOf(now), oldestDayOf(now, retentionDays))
        if (day === undefined) return dropped("not_among_kept")
        const dayKey = yield* keys.ofDay(projectId, day)
        if (dayKey === undefined) return dropped("sealing_unavailable")
        const { user } = call.request
        const endUser = user === undefined ? null : ((yield* keys.endUser(projectId, user)) ?? null)
        return { taken, window, day, dayKey, endUser }
      })

    /** Of one window; the worker has made them, so it has to hear of what was not kept. */
    const writeWindow = (calls: Arr.NonEmptyReadonlyArray<SealedCall>): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { window } = calls[0].placed
        const samples = calls.flatMap((one) => sampleOf(one.placed, one.sealed) ?? [])
        for (const { sealed } of calls) if (!isSealed(sealed)) lost("sealing_failed", 1, sealed.error)
        const stored = Effect.map(writeAgain(window, calls, samples), ({ erased, isOpen, written }) => {
          CaptureMetrics.captured(written.size)
          lost("erased", erased)
          lost(isOpen ? "conversation_full" : "window_closed", samples.length - erased - written.size)
          forget(calls.filter((one) => !written.has(one.placed.taken.call.requestId)))
        })
        // what can not be written of one project is no loss of the others
        return losing(
          () => samples.length,
          Effect.onError(stored, () => Effect.sync(() => forget(calls)))
        )
      })

    /** A sample may refer to one that was erased since: it is sealed again, for itself. */
    const writeAgain = (window: CaptureWindow, calls: ReadonlyArray<SealedCall>, samples: ReadonlyArray<NewSample>) =>
      Effect.gen(function* () {
        const first = yield* store.write(window, samples)
        const left = new Set(samples.flatMap(({ base, id }) => (base === null || first.written.has(id) ? [] : [id])))
        // those of before an erasure are not written again either, and must not be counted twice
        if (!first.isOpen || first.erased > 0 || left.size === 0) return first
        const again = calls.filter(({ placed }) => left.has(placed.taken.call.requestId))
        forget(again)
        const sealed = yield* sealer.seal(again.map(({ placed }) => jobOf(placed)))
        const second = yield* store.write(
          window,
          Arr.zipWith(again, sealed, ({ placed }, result) => sampleOf(placed, result)).filter(
            (one) => one !== undefined
          )
        )
        return { ...second, written: new Set([...first.written, ...second.written]) }
      })

    const forget = (calls: ReadonlyArray<SealedCall>): void => sealer.forget(calls.map(({ placed }) => chainOf(placed)))

    /** Calls leave `uncounted` as they are counted: the rest is lost where this fails. */
    const process = (taken: ReadonlyArray<Taken>, uncounted: Set<Taken>) =>
      Effect.gen(function* () {
        const placed: Array<PlacedCall> = []
        for (const one of taken) {
          const found = yield* place(one)
          if (found === undefined) uncounted.delete(one)
          else placed.push(found)
        }
        if (placed.length === 0) return
        const sealed = yield* sealer.seal(placed.map(jobOf))
        const calls = Arr.zipWith(placed, sealed, (one, result): SealedCall => ({ placed: one, sealed: result }))
        for (const own of Object.values(Arr.groupBy(calls, windowOf))) {
          yield* writeWindow(own)
          for (const one of own) uncounted.delete(one.placed.taken)
        }
      })

    return {
      write: (taken) =>
        Effect.suspend(() => {
          const uncounted = new Set(taken)
          return losing(() => uncounted.size, process(taken, uncounted))
        })
    }
  })

const windowOf = ({ placed: { window } }: SealedCall): string => `${window.projectId} ${window.configVersion}`
