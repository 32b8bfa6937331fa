import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { ServiceRefused } from "../domain/GatewayError.ts"
import type { TimersShape } from "../domain/Timers.ts"

export interface LookupBudgetOptions {
  readonly timers: TimersShape
  readonly maxRunning: number
  readonly maxWaiting: number
  readonly maxWaitMillis: number
}

export interface LookupBudget {
  /**
   * Runs at most so many lookups at once, first come first served; beyond the bounds of the queue the node is overloaded.
   * An asker who leaves gives up a place in the queue, but a lookup that runs counts until the database has answered.
   */
  readonly run: <A, E>(lookup: Effect.Effect<A, E>) => Effect.Effect<A, E | ServiceRefused>
}

export const make = (options: LookupBudgetOptions): Effect.Effect<LookupBudget> =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    const fork = Runtime.runFork(runtime)
    const waiting = new Set<() => void>()
    let running = 0

    const startNext = (): void => {
      for (const start of waiting) {
        waiting.delete(start)
        start()
        return
      }
    }

    return {
      run: <A, E>(lookup: Effect.Effect<A, E>) =>
        Effect.async<A, E | ServiceRefused>((resume) => {
          // On a fiber of its own: strangers who hang up must not make more lookups run than are counted.
          const run = () => {
            running += 1
            fork(lookup).addObserver((exit) => {
              running -= 1
              startNext()
              resume(exit)
            })
          }
          if (running < options.maxRunning) return run()
          if (waiting.size >= options.maxWaiting) return resume(refused)
          const start = () => {
            cancel()
            run()
          }
          const cancel = options.timers.after(options.maxWaitMillis, () => {
            waiting.delete(start)
            resume(refused)
          })
          waiting.add(start)
          return Effect.sync(() => {
            cancel()
            waiting.delete(start)
          })
        })
    }
  })

const refused = Effect.fail(new ServiceRefused({ reason: "overloaded" }))
