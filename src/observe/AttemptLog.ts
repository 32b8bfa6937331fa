import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type { CallObserver } from "../domain/CallObserver.ts"
import type { ProviderFailure } from "../domain/ProviderError.ts"
import { Timers } from "../domain/Timers.ts"

/** Lines for one provider and reason in one window; those left out are counted in the first line of the next one. */
const maxLines = 10
const windowMillis = 60_000
/** Provider and reason pairs that are counted at the same time. */
const maxPairs = 10_000

interface Window {
  startedAtMillis: number
  lines: number
  suppressed: number
}

/** One log line for every failed attempt: which call, which provider and model, why. Never provider text, never a secret. */
export const make: Effect.Effect<CallObserver, never, Timers> = Effect.gen(function* () {
  const timers = yield* Timers
  const fork = Runtime.runFork(yield* Effect.runtime<never>())
  const windows = new Map<string, Window>()

  const windowOf = (pair: string, now: number): Window => {
    const known = windows.get(pair)
    if (known !== undefined) return known
    if (windows.size >= maxPairs) windows.clear()
    const window = { startedAtMillis: now, lines: 0, suppressed: 0 }
    windows.set(pair, window)
    return window
  }

  return {
    attemptEnded: ({ requestId }, { error, model, record }) => {
      if (error === null) return
      const now = timers.now()
      const { reason } = error
      const window = windowOf(`${model.providerId} ${reason._tag}`, now)
      if (now - window.startedAtMillis >= windowMillis) {
        window.startedAtMillis = now
        window.lines = 0
      }
      if (window.lines >= maxLines) {
        window.suppressed += 1
        return
      }
      window.lines += 1
      const { suppressed } = window
      window.suppressed = 0
      fork(
        Effect.logWarning("attempt failed").pipe(
          Effect.annotateLogs({
            requestId,
            provider: model.providerId,
            model: model.id,
            reason: reason._tag,
            code: error.facts.code,
            latencyMillis: record.latency_ms,
            ...detailOf(reason),
            ...(suppressed > 0 ? { suppressed } : {})
          })
        )
      )
    }
  }
})

const detailOf = (reason: ProviderFailure): Readonly<Record<string, string | number>> => {
  switch (reason._tag) {
    case "ServerError":
      return { httpStatus: reason.status }
    case "Unreachable":
    case "BadResponse":
      return { detail: reason.detail }
    case "Failed":
      return { detail: nameOf(reason.cause) }
    default:
      return {}
  }
}

/** The kind of an error of the application's own; its text may be about a request or a secret. */
const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : typeof cause)
