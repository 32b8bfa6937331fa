import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { VirtualTimers } from "../../src/testing/doubles/VirtualTimers.ts"

/** Lets every fiber go as far as it can without time passing. */
export const quiet: Effect.Effect<void> = Effect.async((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Turns of the event loop in which nothing happens: then nothing ever will. */
const maxIdleTurns = 100

/** Runs a program; time moves on to the next deadline whenever there is nothing else to do. */
export const inVirtualTime = <A, E, R>(
  timers: VirtualTimers,
  program: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(program)
    for (let idleTurns = 0; idleTurns < maxIdleTurns; idleTurns++) {
      // twice, because the program may be waiting for quiet itself
      yield* Effect.zipRight(quiet, quiet)
      const exit = yield* Fiber.poll(fiber)
      if (exit._tag === "Some") return yield* exit.value
      if (timers.next()) idleTurns = 0
    }
    return yield* Effect.dieMessage("the program waits for something that no time brings")
  })
