import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import { Gateway } from "../../src/index.ts"
import { ScriptedProvider, testModel } from "../../src/testing/index.ts"
import { attemptsOf, booked, type Relayed, scriptedGateway, textOf, triedBy } from "./scriptedGateway.ts"

const { activity, answer, end, event, fail, finish, hang, text, used, wait } = ScriptedProvider
type Script = ScriptedProvider.Script

const counted = used({ inputTokens: 10, outputTokens: 2 })
const setUp = (script: Script) => scriptedGateway({ scripts: { one: [script] }, models: [testModel("one/m")] })
const nothingYet = (): Relayed => ({ events: [], completions: [], failures: [], failure: undefined, tookMillis: 0 })

describe("A stream that has finished", () => {
  it.effect.each([
    ["at once, when its upstream ends", [text("a"), finish(), counted, end], 0, "charged"],
    ["25 ms after its usage", [text("a"), finish(), counted, hang], 25, "charged"],
    ["25 ms after usage that comes late", [text("a"), finish(), wait(1_900), counted, hang], 1_925, "charged"],
    ["25 ms after its last usage", [text("a"), finish(), counted, wait(20), counted, hang], 45, "charged"],
    ["after two seconds, when no usage comes", [text("a"), finish(), hang], 2_000, "estimated"]
  ] as const)("a stream that has finished is complete %s", ([, script, millis, basis]) => {
    const { relay, run } = setUp(script)
    return run(
      Effect.gen(function* () {
        const relayed = yield* relay()
        expect(relayed.tookMillis).toBe(millis)
        expect(relayed.completions).toMatchObject([{ finish: "stop", metadata: { cost: { basis } } }])
      })
    )
  })

  it.effect("a stream is complete with its first finish, whatever comes after it", () => {
    const { relay, run } = setUp([text("a"), finish("length"), wait(10), finish("stop"), hang])
    return run(
      Effect.gen(function* () {
        const relayed = yield* relay()
        expect(relayed.completions).toMatchObject([{ finish: "length" }])
        expect(relayed.tookMillis).toBe(2_000)
      })
    )
  })

  it.effect("a stream is complete with the last usage that came", () => {
    const corrected = used({ inputTokens: 10, outputTokens: 7 })
    const { relay, run } = setUp([text("a"), finish(), counted, wait(20), corrected, hang])
    return run(
      Effect.gen(function* () {
        expect((yield* relay()).completions).toMatchObject([{ usage: { outputTokens: 7 } }])
      })
    )
  })

  it.effect(
    "a stream is complete although its connection breaks after the finish, unless its events could not be read",
    () => {
      const broken = setUp([text("a"), finish(), fail({ _tag: "Disconnected" })])
      const malformed = setUp([text("a"), finish(), fail({ _tag: "BadResponse", detail: "no JSON" })])
      return Effect.gen(function* () {
        const whole = yield* broken.run(broken.relay())
        expect(whole.completions).toHaveLength(1)
        expect(whole.failures).toEqual([])
        const failed = yield* malformed.run(malformed.relay())
        expect(failed.completions).toEqual([])
        expect(failed.failures).toEqual(["provider_bad_response"])
      })
    }
  )
})

describe("A response that is collected and has finished", () => {
  it.effect.each([
    ["at once, when its upstream ends", [text("a"), finish(), counted, end], 0, "charged"],
    [
      "at once, when its connection breaks",
      [text("a"), finish(), counted, fail({ _tag: "Disconnected" })],
      0,
      "charged"
    ],
    [
      "at once, without usage, when its connection breaks",
      [text("a"), finish(), fail({ _tag: "Disconnected" })],
      0,
      "estimated"
    ],
    ["25 ms after its usage", [text("a"), finish(), counted, hang], 25, "charged"],
    ["25 ms after its last usage", [text("a"), finish(), counted, wait(20), counted, hang], 45, "charged"],
    ["after two seconds, when no usage comes", [text("a"), finish(), hang], 2_000, "estimated"],
    ["two seconds after its first finish", [text("a"), finish(), wait(10), finish("length"), hang], 2_000, "estimated"]
  ] as const)("a collected response that has finished is complete %s", ([, script, millis, basis]) => {
    const { callsOf, complete, run, timers } = setUp(script)
    return run(
      Effect.gen(function* () {
        const { completion, failure, tookMillis } = yield* complete()
        expect(failure).toBeUndefined()
        expect(completion).toMatchObject({ answer: { text: "a", finish: "stop" }, metadata: { cost: { basis } } })
        expect(tookMillis).toBe(millis)
        expect(callsOf("one").map(({ state }) => state())).not.toContain("open")
        expect(yield* booked).toMatchObject([{ settlement: { record: { status: "success" } } }])
        expect(timers.pending()).toBe(0)
      })
    )
  })

  it.effect("a collected response whose events cannot be read after its finish has failed", () => {
    const { complete, run } = setUp([text("a"), finish(), fail({ _tag: "BadResponse", detail: "no JSON" })])
    return run(
      Effect.gen(function* () {
        expect(triedBy(yield* complete())).toEqual(["one/m provider_bad_response"])
      })
    )
  })
})

describe("After a stream is complete", () => {
  it.effect("nothing that comes after the end of a stream is passed on", () => {
    const late = [event({ _tag: "ResponseInfo", model: "late" }), text("late"), finish("length"), counted]
    const { relay, run, sleep } = setUp([text("a"), finish(), wait(2_500), ...late, end])
    return run(
      Effect.gen(function* () {
        const relayed = yield* relay()
        expect(relayed.tookMillis).toBe(2_000)
        yield* sleep(5_000)
        expect(relayed.events).toMatchObject([{ _tag: "Text", text: "a" }])
        expect(relayed.completions).toMatchObject([{ finish: "stop" }])
        expect(relayed.failures).toEqual([])
        expect(yield* booked).toMatchObject([{ settlement: { record: { status: "success" } } }])
      })
    )
  })

  it.effect.each([
    ["may end by itself within a second, so that it can be used again", [wait(500), end], "ended"],
    ["is closed after a second", [hang], "closed"]
  ] as const)("the upstream of a complete stream %s", ([, rest, state]) => {
    const { callsOf, relay, run, sleep } = setUp([text("a"), finish(), counted, ...rest])
    return run(
      Effect.gen(function* () {
        yield* relay()
        expect(callsOf("one")[0]?.state()).toBe("open")
        yield* sleep(1_000)
        expect(callsOf("one")[0]?.state()).toBe(state)
      })
    )
  })
})

it.effect(
  "a client that leaves while usage is waited for receives nothing more, and pays for what it has received",
  () => {
    const { callsOf, relay, run, sleep } = setUp([text("complete response"), finish(), hang])
    return run(
      Effect.gen(function* () {
        const relayed = nothingYet()
        const running = yield* Effect.fork(relay({}, {}, relayed))
        yield* sleep(500)
        yield* Fiber.interrupt(running)
        expect(callsOf("one")[0]?.state()).toBe("closed")
        yield* sleep(5_000)
        expect(relayed.completions).toEqual([])
        expect(relayed.failures).toEqual([])
        const calls = yield* booked
        expect(calls).toMatchObject([{ state: "cancelled", settlement: { record: { status: "cancelled" } } }])
        expect(calls[0]?.charged).toBeGreaterThan(0)
      })
    )
  }
)

describe("Before its first content", () => {
  const twoProviders = (first: Script) =>
    scriptedGateway({
      scripts: { one: [first], two: [answer("two")] },
      models: [testModel("one/m", { quality: 0.9 }), testModel("two/m", { quality: 0.4, alias: "other" })],
      policy: { defaultAlpha: 1 },
      gateway: {
        deadlines: { firstContentMillis: 15_000, plainAnswerMillis: 60_000, idleMillis: 5_000, totalMillis: 600_000 },
        maxAttempts: 4
      }
    })
  const served = (count: number) =>
    Array.from({ length: count }, (_, n) => event({ _tag: "ResponseInfo", model: `m${n}` }))

  it.effect("up to 64 events before the first content are passed on with it", () => {
    const { relay, run } = twoProviders([...served(64), ...answer("one")])
    return run(
      Effect.gen(function* () {
        const relayed = yield* relay()
        expect(textOf(relayed.events)).toBe("one")
        expect(relayed.events).toHaveLength(65)
      })
    )
  })

  it.effect("a stream with more events before its first content fails, and another provider answers", () => {
    const { callsOf, relay, run } = twoProviders([...served(65), ...answer("one")])
    return run(
      Effect.gen(function* () {
        const relayed = yield* relay()
        expect(relayed.events).toMatchObject([{ _tag: "Text", text: "two" }])
        expect(attemptsOf(relayed.completions[0]?.metadata.attempts)).toEqual([
          "one/m provider_bad_response",
          "two/m success"
        ])
        expect(callsOf("one")[0]?.state()).toBe("closed")
      })
    )
  })

  it.effect("silence before the first content is a late first content, not a stall", () => {
    const { relay, run } = twoProviders([wait(1_000), activity, hang])
    return run(
      Effect.gen(function* () {
        const relayed = yield* relay()
        expect(relayed.tookMillis).toBe(6_000)
        expect(attemptsOf(relayed.completions[0]?.metadata.attempts)).toEqual([
          "one/m provider_timeout",
          "two/m success"
        ])
      })
    )
  })
})

describe("When the gateway is aborted", () => {
  const aborted = (script: Script) => {
    const { callsOf, relay, run, sleep } = setUp(script)
    return run(
      Effect.gen(function* () {
        const running = yield* Effect.fork(relay())
        yield* sleep(500)
        yield* (yield* Gateway).abort
        const relayed = yield* Fiber.join(running)
        return { relayed, call: (yield* booked)[0], upstream: callsOf("one")[0]?.state() }
      })
    )
  }

  it.effect("a stream without content fails with a status of its own", () =>
    Effect.gen(function* () {
      const { call, relayed, upstream } = yield* aborted([hang])
      expect(relayed.failure).toMatchObject({ _tag: "ServiceRefused", reason: "shutting_down" })
      expect(upstream).toBe("closed")
      expect(call).toMatchObject({ state: "void", charged: 0 })
    })
  )

  it.effect("a stream with content ends with an error and is free", () =>
    Effect.gen(function* () {
      const { call, relayed, upstream } = yield* aborted([text("some"), hang])
      expect(textOf(relayed.events)).toBe("some")
      expect(relayed.failures).toEqual(["server_shutdown"])
      expect(relayed.tookMillis).toBe(500)
      expect(upstream).toBe("closed")
      expect(call).toMatchObject({ state: "void", charged: 0 })
    })
  )
})
