import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Attempt, CallRecord } from "../domain/Call.ts"
import type { CallObserver } from "../domain/CallObserver.ts"
import type { RequestId } from "../domain/Ids.ts"
import { ShortLivedMap } from "../domain/ShortLivedMap.ts"
import type { Cancel } from "../domain/Timers.ts"

/** An attempt of a running call. */
export interface TrailStep {
  /** Counts the attempts of the call from 0. */
  readonly index: number
  readonly provider: string
  readonly model: string
  /** `null` while it runs. */
  readonly ended: Pick<Attempt, "status" | "error"> | null
}

export interface TrailListener {
  /** An attempt has begun, or has ended. */
  readonly attempt?: (step: TrailStep) => void
  /** The call is over; nothing follows. */
  readonly settled?: (record: CallRecord) => void
}

export interface CallTrailsShape {
  /** For the `CallObservers` of the gateway. */
  readonly observer: CallObserver
  /** The attempts so far of a call that runs in this process; `undefined` for any other. */
  readonly trailOf: (call: RequestId) => ReadonlyArray<TrailStep> | undefined
  /** Before the call is made, or while it runs; once for each call. The listener runs on the call's own turn of the event loop. */
  readonly follow: (call: RequestId, listener: TrailListener) => Cancel
}

/** Which providers the running calls of this process have tried, while they run. */
export class CallTrails extends Context.Tag("gateway/observe/CallTrails")<CallTrails, CallTrailsShape>() {
  static readonly layer: Layer.Layer<CallTrails> = Layer.sync(this, () => make())
}

export const make = (): CallTrailsShape => {
  const trails = new ShortLivedMap<RequestId, Array<TrailStep>>()
  const listeners = new Map<RequestId, TrailListener>()

  const step = (call: RequestId, trail: Array<TrailStep>, made: TrailStep): void => {
    trail[made.index] = made
    listeners.get(call)?.attempt?.(made)
  }

  return {
    observer: {
      admitted: ({ requestId }) => {
        trails.set(requestId, [])
      },
      attemptStarted: ({ requestId }, model) => {
        const trail = trails.get(requestId)
        if (trail === undefined) return
        step(requestId, trail, { index: trail.length, provider: model.providerId, model: model.id, ended: null })
      },
      attemptEnded: ({ requestId }, { record: { error, model, provider, status } }) => {
        const trail = trails.get(requestId)
        if (trail === undefined || trail.length === 0) return
        step(requestId, trail, { index: trail.length - 1, provider, model, ended: { status, error } })
      },
      settled: ({ requestId }, record) => {
        trails.delete(requestId)
        listeners.get(requestId)?.settled?.(record)
      }
    },
    trailOf: (call) => trails.get(call)?.slice(),
    follow: (call, listener) => {
      listeners.set(call, listener)
      return () => listeners.delete(call)
    }
  }
}
