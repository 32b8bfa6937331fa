import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { FifoQueue } from "../../domain/FifoQueue.ts"
import { ServiceRefused } from "../../domain/GatewayError.ts"
import type { TimersShape } from "../../domain/Timers.ts"

export interface LookupBudgetOptions {
  readonly timers: TimersShape
  readonly maxRunning: number
  readonly maxWaiting: number
  readonly maxWaitMillis: number
}

export interface LookupBudget {
  /**
   * Runs a bounded number of lookups at once, in order of arrival; when the queue is full the node is overloaded. An
   * interrupted caller leaves the queue, but a running lookup counts until the database has responded.
   */
  readonly run: <A, E>(lookup: Effect.Effect<A, E>) => Effect.Effect<A, E | ServiceRefused>
}

export const make = (options: LookupBudgetOptions): Effect.Effect<LookupBudget> =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    const fork = Runtime.runFork(runtime)
    const waiting = new FifoQueue<() => void>()
    let running = 0

    const startNext = (): void => {
      const next = waiting.first
      if (next === undefined) return
      waiting.remove(next)
      next.value()
    }

    return {
      run: <A, E>(lookup: Effect.Effect<A, E>) =>
        Effect.async<A, E | ServiceRefused>((resume) => {
          // On a fiber of its own: an interrupted caller must not end the count of a lookup that still runs.
          const run = () => {
            running += 1
            fork(lookup).addObserver((exit) => {
              running -= 1
              startNext()
              resume(exit)
            })
          }
          if (running < options.maxRunning) return run()
          if (waiting.size >= options.maxWaiting) return resume(rejected)
          const start = () => {
            cancel()
            run()
          }
          const entry = waiting.add(start)
          const cancel = options.timers.after(options.maxWaitMillis, () => {
            waiting.remove(entry)
            resume(rejected)
          })
          return Effect.sync(() => {
            cancel()
            waiting.remove(entry)
          })
        })
    }
  })

const rejected = Effect.fail(new ServiceRefused({ reason: "overloaded" }))
