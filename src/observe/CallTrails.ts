import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { Attempt, CallRecord } from "../domain/Call.ts"
import type { CallObserver } from "../domain/CallObserver.ts"
import type { RequestId } from "../domain/Ids.ts"
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
  /** Before the call is made, once for each call. The listener runs on the call's own turn of the event loop. */
  readonly follow: (call: RequestId, listener: TrailListener) => Cancel
}

/** Which providers a call has tried, while it runs, for whoever follows it. */
export class CallTrails extends Context.Tag("gateway/observe/CallTrails")<CallTrails, CallTrailsShape>() {
  static readonly layer: Layer.Layer<CallTrails> = Layer.sync(this, () => make())
}

interface Followed {
  readonly listener: TrailListener
  attempts: number
}

export const make = (): CallTrailsShape => {
  const calls = new Map<RequestId, Followed>()
  // most calls are followed by nobody
  const followed = (call: RequestId): Followed | undefined => (calls.size === 0 ? undefined : calls.get(call))

  return {
    observer: {
      attemptStarted: ({ requestId }, model) => {
        const call = followed(requestId)
        if (call === undefined) return
        const index = call.attempts++
        call.listener.attempt?.({ index, provider: model.providerId, model: model.id, ended: null })
      },
      attemptEnded: ({ requestId }, { record: { error, model, provider, status } }) => {
        const call = followed(requestId)
        if (call === undefined || call.attempts === 0) return
        call.listener.attempt?.({ index: call.attempts - 1, provider, model, ended: { status, error } })
      },
      settled: ({ requestId }, record) => followed(requestId)?.listener.settled?.(record)
    },
    follow: (call, listener) => {
      calls.set(call, { listener, attempts: 0 })
      return () => calls.delete(call)
    }
  }
}
