import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import * as RequestRuntime from "../../../src/http/server/RequestRuntime.ts"
import { requestId } from "../../provider/protocols/calls.ts"

/** Counts the turns of the event loop until a fiber that has yielded goes on. */
const turnsUntilResumed = async (eachTurn: (runtime: RequestRuntime.RequestRuntime) => void): Promise<number> => {
  const runtime = RequestRuntime.make(await Effect.runPromise(Effect.runtime<never>()))
  let isResumed = false
  runtime.fork(
    requestId,
    Effect.map(Effect.yieldNow(), () => {
      isResumed = true
    })
  )
  let turns = 0
  while (!isResumed && turns < 1_000) {
    eachTurn(runtime)
    turns++
    await new Promise((resolve) => setImmediate(resolve))
  }
  return turns
}

it("fibers give way to connections that wait to be accepted, but not forever", async () => {
  const withoutAccepting = await turnsUntilResumed(() => {})
  const accepting = await turnsUntilResumed((runtime) => runtime.accepted())
  expect(accepting).toBeGreaterThanOrEqual(withoutAccepting + 10)
  expect(accepting).toBeLessThanOrEqual(withoutAccepting + 40)
})
