import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Model } from "../domain/Model.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import { SlidingWindow } from "./SlidingWindow.ts"

export interface RetryBudgetShape {
  /** The first attempt of a call goes to this model; it earns its provider budget. */
  readonly called: (model: Model) => void
  /**
   * Whether one more attempt of a call that has failed may go to this model; if so, it is counted. Meant for another try at the
   * same route and for routes that rest: a fallback to a ready route at another provider is no storm and need not ask.
   */
  readonly mayRetry: (model: Model) => boolean
}

/** Bounds what retries add to a provider in trouble: a share of its calls, never a multiple. */
export class RetryBudget extends Context.Tag("gateway/routing/RetryBudget")<RetryBudget, RetryBudgetShape>() {
  static readonly layer: Layer.Layer<RetryBudget, never, Timers> = Layer.effect(
    this,
    Effect.map(Timers, (timers) => make(timers))
  )
}

const windowMillis = 10_000
/** Retries for each call. */
const share = 0.2
/** Retries within the window that need no calls. */
const least = 3
const mostProviders = 1_000

export const make = (timers: TimersShape): RetryBudgetShape => {
  const windows = new Map<string, SlidingWindow>()
  const windowOf = (model: Model): SlidingWindow => {
    const known = windows.get(model.providerId)
    if (known !== undefined) return known
    if (windows.size >= mostProviders) windows.clear()
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
      if (retries + 1 > least + share * calls) return false
      window.add(now, 0, 1)
      return true
    }
  }
}
