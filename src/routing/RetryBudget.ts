import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Model } from "../domain/Model.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import { SlidingWindow } from "./SlidingWindow.ts"

/** Counts calls, and decides on each retry. */
export interface RetryBudgetShape {
  /** The first attempt of a call goes to this model; it adds to its provider's budget. */
  readonly called: (model: Model) => void
  /**
   * Whether another attempt of a call that has failed may go to this model; if so, it is counted. For retries of the same
   * route and for routes whose circuit is open: a fallback to a ready route of another provider is not a retry storm.
   */
  readonly mayRetry: (model: Model) => boolean
}

/** Bounds the retries that a failing provider gets: a share of its calls, never a multiple. */
export class RetryBudget extends Context.Tag("gateway/routing/RetryBudget")<RetryBudget, RetryBudgetShape>() {
  /** A share of recent calls may be retried. */
  static readonly layer: Layer.Layer<RetryBudget, never, Timers> = Layer.effect(
    this,
    Effect.map(Timers, (timers) => make(timers))
  )
}

const windowMillis = 10_000
/** Retries for each call. */
const retryShare = 0.2
/** Retries within the window that are allowed without any calls. */
const minRetries = 3
const maxProviders = 1_000

export const make = (timers: TimersShape): RetryBudgetShape => {
  const windows = new Map<string, SlidingWindow>()
  const windowOf = (model: Model): SlidingWindow => {
    const known = windows.get(model.providerId)
    if (known !== undefined) return known
    if (windows.size >= maxProviders) windows.clear()
    const window = new SlidingWindow(windowMillis)
    windows.set(model.providerId, window)
    return window
  }
  return {
    called: (model) => windowOf(model).add(timers.now(), 1, 0),
    mayRetry: (model) => {
      const now = timers.now()
      const window = windowOf(model)
      const { first: calls, second: retries } = window.totals(now)
      if (retries + 1 > minRetries + retryShare * calls) return false
      window.add(now, 0, 1)
      return true
    }
  }
}
