import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Sink } from "../../src/index.ts"
import { ScriptedProvider, testModel } from "../../src/testing/index.ts"
import { scriptedGateway, textOf } from "./scriptedGateway.ts"

const { answer, hang, text, wait } = ScriptedProvider

/** A reader that takes the first piece at once, and has room again so long after each of the next ones. */
const setUp = (script: ScriptedProvider.Script, millis: number) => {
  const { callsOf, relay, run, timers } = scriptedGateway({
    scripts: { one: [[text("a"), wait(10), ...script]] },
    models: [testModel("one/m")]
  })
  const startedAtMillis = timers.now()
  const seenAtMillis: Array<number> = []
  const sink: Partial<Sink> = {
    event: () => {
      seenAtMillis.push(timers.now() - startedAtMillis)
      return seenAtMillis.length === 1
    },
    drained: (resume) => void timers.after(millis, resume)
  }
  return { callsOf, run, seenAtMillis, relayed: relay({}, sink) }
}

it.effect("a reader may be slow for longer than a provider may be silent, and gets its complete answer", () => {
  const { relayed, run } = setUp([text("b"), wait(10), ...answer("c")], 60_000)
  return run(
    Effect.gen(function* () {
      const { completions, events, failures } = yield* relayed
      expect(failures).toEqual([])
      expect(completions).toHaveLength(1)
      expect(textOf(events)).toBe("abc")
    })
  )
})

it.effect("each time that a reader is slow its upstream is held back", () => {
  const { relayed, run, seenAtMillis } = setUp([text("b"), wait(10), text("c"), wait(10), ...answer("d")], 1_000)
  return run(
    Effect.gen(function* () {
      const { events, tookMillis } = yield* relayed
      expect(textOf(events)).toBe("abcd")
      expect(seenAtMillis).toEqual([0, 10, 1_020, 2_030])
      expect(tookMillis).toBe(3_030)
    })
  )
})

it.effect("a reader that is slow from the very first piece holds the upstream back from there on", () => {
  const { callsOf, relay, run, timers } = scriptedGateway({
    scripts: { one: [[text("a"), wait(10), text("b"), wait(10), ...answer("c")]] },
    models: [testModel("one/m")]
  })
  const startedAtMillis = timers.now()
  const seenAtMillis: Array<number> = []
  const slow: Partial<Sink> = {
    event: () => {
      seenAtMillis.push(timers.now() - startedAtMillis)
      return false
    },
    drained: (resume) => void timers.after(60_000, resume)
  }
  return run(
    Effect.gen(function* () {
      const { completions, events, failures } = yield* relay({}, slow)
      expect(textOf(events)).toBe("abc")
      expect(seenAtMillis).toEqual([0, 60_010, 120_020])
      expect(completions).toMatchObject([{ finish: "stop" }])
      expect(failures).toEqual([])
      expect(callsOf("one")[0]?.pauses()).toBe(3)
    })
  )
})

it.effect("once a slow reader has gone on, silence is a stall again", () => {
  const { callsOf, relayed, run } = setUp([text("b"), hang], 30_000)
  return run(
    Effect.gen(function* () {
      const { failures, tookMillis } = yield* relayed
      expect(failures).toEqual(["stream_stalled"])
      expect(tookMillis).toBe(50_010)
      expect(callsOf("one")[0]?.state()).toBe("closed")
    })
  )
})
