import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { Timers } from "../domain/Timers.ts"
import * as CaptureMetrics from "../observe/CaptureMetrics.ts"

export interface CaptureLoss {
  /** Calls that the collection would have taken are not in it; `kind` is that of the error. */
  readonly lost: (reason: CaptureMetrics.DropReason, amount?: number, kind?: string) => void
  /** What fails is counted as lost. */
  readonly losing: (amount: () => number, effect: Effect.Effect<void, StoreUnavailable>) => Effect.Effect<void>
}

/** At most one line for a reason in this time; a loss that goes on is summed up in the next line. */
const windowMillis = 60_000

/** Counts what is lost, and logs it where the operator can change something. */
export const make: Effect.Effect<CaptureLoss, never, Timers> = Effect.gen(function* () {
  const timers = yield* Timers
  const fork = Runtime.runFork(yield* Effect.runtime<never>())
  /** Of reasons with a line in the current window: what was lost since. */
  const unlogged = new Map<CaptureMetrics.DropReason, { amount: number; kind: string | undefined }>()

  const log = (reason: CaptureMetrics.DropReason, action: string, amount: number, kind: string | undefined): void => {
    const since: { amount: number; kind: string | undefined } = { amount: 0, kind: undefined }
    unlogged.set(reason, since)
    timers.after(windowMillis, () => {
      unlogged.delete(reason)
      if (since.amount > 0) log(reason, action, since.amount, since.kind)
    })
    const fields = { reason, amount, ...(kind !== undefined && { kind }), action }
    fork(Effect.annotateLogs(Effect.logWarning("calls were not captured"), fields))
  }

  const lost: CaptureLoss["lost"] = (reason, amount = 1, kind) => {
    if (amount < 1) return
    CaptureMetrics.dropped(reason, amount)
    const action = actions[reason]
    if (action === undefined) return
    const since = unlogged.get(reason)
    if (since === undefined) return log(reason, action, amount, kind)
    since.amount += amount
    since.kind = kind
  }

  const failed = (reason: CaptureMetrics.DropReason, amount: number, cause: Cause.Cause<unknown>) =>
    Effect.sync(() =>
      lost(reason, amount, Cause.isInterruptedOnly(cause) ? "interrupted" : nameOf(Cause.squash(cause)))
    )

  return {
    lost,
    losing: (amount, effect) =>
      effect.pipe(
        Effect.catchTag("StoreUnavailable", (error) => failed("store_unavailable", amount(), Cause.fail(error))),
        Effect.catchAllCause((cause) => failed("sealing_failed", amount(), cause))
      )
  }
})

/** What the operator can do; the other reasons are settings of the project, or what its people have done. */
const actions: Readonly<Partial<Record<CaptureMetrics.DropReason, string>>> = {
  queue_full:
    "calls end faster than they are encrypted and stored: run more WORKERS or nodes, give the database more speed, or have the projects lower their sampling_rate",
  sealing_unavailable:
    "set the GATEWAY_MASTER_KEY that the project's collection began with, also as GATEWAY_MASTER_KEY_PREVIOUS after a rotation",
  sealing_failed: "kind says what has failed; if it goes on, restart this process",
  store_unavailable: "the database did not take them: its own lines say why"
}

/** Content may be in the cause of a defect: only its kind is logged. */
const nameOf = (error: unknown): string =>
  error instanceof Error ? ("_tag" in error ? String(error._tag) : error.name) : "unknown"
