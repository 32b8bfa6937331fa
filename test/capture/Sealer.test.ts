import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { WorkerJob } from "../../src/capture/worker/captureWorker.js"
import { isSealed, make } from "../../src/capture/worker/Sealer.ts"

const jobOf = (id: string): WorkerJob => ({
  id,
  project: "p",
  day: "2026-01-01",
  dayKey: new Uint8Array(32),
  content: "full",
  chain: "one conversation",
  facts: {},
  body: undefined,
  prompt: { messages: [{ role: "user", content: "the same question" }], tools: [] },
  answer: null
})

it.scoped("a sample refers to the one before it, and never to one with a later id", () =>
  Effect.gen(function* () {
    const sealer = yield* make
    const sealed = yield* sealer.seal(["1", "3", "2", "4"].map(jobOf))
    expect(sealed.map((one) => (isSealed(one) ? [one.id, one.base] : one))).toEqual([
      ["1", null],
      ["3", "1"],
      ["2", null],
      ["4", "2"]
    ])
  })
)
