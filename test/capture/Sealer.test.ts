import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import type { WorkerJob } from "../../src/capture/worker/captureWorker.js"
import { isSealed, make } from "../../src/capture/worker/Sealer.ts"

const jobOf = (id: string, question = "the same question"): WorkerJob => ({
  id,
  project: "p",
  day: "2026-01-01",
  dayKey: new Uint8Array(32),
  content: "full",
  chain: "one conversation",
  facts: {},
  body: undefined,
  prompt: { messages: [{ role: "user", content: question }], tools: [] },
  answer: null
})

it.scoped("a sample refers to the one before it, and never to one with a later id", () =>
  Effect.gen(function* () {
    const sealer = yield* make
    const sealed = yield* sealer.seal(["1", "3", "2", "4"].map((id) => jobOf(id)))
    expect(sealed.map((one) => (isSealed(one) ? [one.id, one.base] : one))).toEqual([
      ["1", null],
      ["3", "1"],
      ["2", null],
      ["4", "2"]
    ])
  })
)

it.scoped("a call that is not sealed in time is lost alone, and those after it are sealed by another thread", () =>
  Effect.gen(function* () {
    const sealer = yield* make
    const slow = jobOf("1", "x ".repeat(8 * 1024 * 1024))
    const sealing = yield* Effect.fork(sealer.seal([slow, jobOf("2"), jobOf("3")]))
    yield* TestClock.adjust("10 seconds")
    const sealed = yield* Fiber.join(sealing)
    expect(sealed.map((one) => (isSealed(one) ? [one.id, one.base] : one))).toEqual([
      { id: "1", error: "TimedOut" },
      ["2", null],
      ["3", "2"]
    ])
  })
)
