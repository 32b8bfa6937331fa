// Promise: Every wait is bounded.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe } from "vitest"
import { Caller, type ChatRequest, type Deadlines, Gateway, type Model } from "../../src/index.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { inVirtualTime, quiet } from "./virtualTime.ts"

const { answer, activity, hang, text, wait } = ScriptedProvider

const deadlines: Deadlines = {
  firstContentMillis: 15_000,
  plainAnswerMillis: 60_000,
  idleMillis: 20_000,
  totalMillis: 600_000
}

/** One pinned model that plays the script; what its call came to, and how long that took by the virtual clock. */
const play = (
  script: ScriptedProvider.Script,
  asked: Partial<ChatRequest> = {},
  more: { readonly model?: Partial<Model>; readonly deadlines?: Partial<Deadlines> } = {}
) => {
  const timers = VirtualTimers.make()
  const provider = ScriptedProvider.make({ id: "one", timers, script: () => script })
  const startedAt = timers.now()
  const wanted = request({ model: "one/m", ...asked })
  const program = Effect.gen(function* () {
    const gateway = yield* Gateway
    const outcome = yield* inVirtualTime(
      timers,
      wanted.stream ? streamed(gateway.stream(wanted)) : plain(gateway.complete(wanted))
    )
    const tookMillis = timers.now() - startedAt
    yield* quiet
    const [call] = (yield* MemoryLedger).calls()
    return { outcome, tookMillis, call, upstream: provider.calls[0]?.state(), calls: provider.calls.length }
  })
  return program.pipe(
    Effect.provideService(Caller, TestGateway.testCaller),
    Effect.provide(
      TestGateway.layer({
        timers,
        providers: [provider],
        models: [testModel("one/m", more.model)],
        gateway: { deadlines: { ...deadlines, ...more.deadlines }, maxAttempts: 4 }
      })
    )
  )
}

const streamed = (opening: ReturnType<(typeof Gateway.Service)["stream"]>) =>
  Effect.scoped(Effect.flatMap(opening, ({ events }) => Stream.runDrain(events))).pipe(
    Effect.match({ onSuccess: () => "answered", onFailure: codeOf })
  )

const plain = (completing: ReturnType<(typeof Gateway.Service)["complete"]>) =>
  Effect.match(completing, { onSuccess: () => "answered", onFailure: codeOf })

const codeOf = (error: object): string =>
  "attempts" in error && Array.isArray(error.attempts)
    ? String(error.attempts.at(-1)?.error?.code)
    : "code" in error
      ? String(error.code)
      : "?"

const expectTimeout = ({ call, upstream }: Effect.Effect.Success<ReturnType<typeof play>>) => {
  expect(upstream).toBe("closed")
  expect(call).toMatchObject({ state: "void", charged: 0, settlement: { record: { status: "timeout" } } })
}

describe("A streamed call", () => {
  it.effect("a stream without content ends at the first-content deadline", () =>
    Effect.gen(function* () {
      const played = yield* play([hang])
      expect(played).toMatchObject({ outcome: "provider_timeout", tookMillis: 15_000 })
      expectTimeout(played)
    })
  )

  it.effect("bytes without content do not put off the first-content deadline", () =>
    Effect.gen(function* () {
      const beats = Array.from({ length: 30 }, () => [activity, wait(1_000)]).flat()
      const played = yield* play([...beats, ...answer("late")])
      expect(played).toMatchObject({ outcome: "provider_timeout", tookMillis: 15_000 })
      expectTimeout(played)
    })
  )

  it.effect("a stream that falls silent after its first content ends at the idle deadline", () =>
    Effect.gen(function* () {
      const played = yield* play([wait(1_000), text("one"), wait(19_000), text("two"), hang])
      expect(played).toMatchObject({ outcome: "stream_stalled", tookMillis: 40_000 })
      expectTimeout(played)
    })
  )

  it.effect("a stream may be slow as long as bytes come, whatever they mean", () =>
    Effect.gen(function* () {
      const pauses = Array.from({ length: 20 }, () => [wait(19_000), activity]).flat()
      const played = yield* play([text("one"), ...pauses, ...answer(" two")])
      expect(played).toMatchObject({ outcome: "answered", tookMillis: 380_000 })
      expect(played.call?.state).toBe("settled")
    })
  )

  it.effect("a stream ends at the total deadline, however much it sends", () =>
    Effect.gen(function* () {
      const endless = Array.from({ length: 700 }, () => [text("more "), wait(1_000)]).flat()
      const played = yield* play(endless)
      expect(played).toMatchObject({ outcome: "request_timeout", tookMillis: 600_000 })
      expect(played.upstream).toBe("closed")
    })
  )

  it.effect("the total deadline leaves time for the whole output cap, at 40 tokens a second", () =>
    Effect.gen(function* () {
      const tookMillis = Effect.fnUntraced(function* (outputTokens: number, maxTotalMillis?: number) {
        const endless = Array.from({ length: 3_500 }, () => [text("more "), wait(1_000)]).flat()
        const more = maxTotalMillis === undefined ? {} : { maxTotalMillis }
        const played = yield* play(endless, {}, { model: { outputTokens }, deadlines: more })
        expect(played.outcome).toBe("request_timeout")
        return played.tookMillis
      })
      expect(yield* tookMillis(64_000)).toBe(600_000)
      expect(yield* tookMillis(24_000, 3_000_000)).toBe(600_000)
      expect(yield* tookMillis(64_000, 3_000_000)).toBe(1_600_000)
      expect(yield* tookMillis(127_000, 3_000_000)).toBe(3_000_000)
    })
  )
})

describe("A non-streaming call", () => {
  it.effect("a non-streaming call ends at the deadline for its complete response", () =>
    Effect.gen(function* () {
      const played = yield* play([hang], { stream: false })
      expect(played).toMatchObject({ outcome: "provider_timeout", tookMillis: 60_000 })
      expectTimeout(played)
    })
  )

  it.effect("a non-streaming call may be silent for longer than a stream", () =>
    Effect.gen(function* () {
      const played = yield* play([wait(59_000), ...answer("slow")], { stream: false })
      expect(played).toMatchObject({ outcome: "answered", tookMillis: 59_000 })
    })
  )

  it.effect("a non-streaming answer that falls silent once bytes have come ends at the idle deadline", () =>
    Effect.gen(function* () {
      const played = yield* play([wait(5_000), activity, hang], { stream: false })
      expect(played).toMatchObject({ outcome: "provider_timeout", tookMillis: 25_000 })
      expectTimeout(played)
    })
  )

  it.effect("the total deadline of a call is one for all its attempts", () =>
    Effect.gen(function* () {
      const played = yield* play([hang], { stream: false }, { deadlines: { totalMillis: 30_000 } })
      expect(played).toMatchObject({ outcome: "request_timeout", tookMillis: 30_000, upstream: "closed" })
    })
  )
})

describe("A model that reasons", () => {
  const reasons = {
    model: {
      reasonsByDefault: true,
      reasoning: {
        efforts: ["none", "low", "max"],
        style: "effort",
        budget: null,
        defaultEffort: "low",
        mandatory: false,
        depth: null
      }
    }
  } as const

  it.effect.each([
    [undefined, 60_000],
    ["low", 60_000],
    ["max", 120_000],
    ["none", 15_000]
  ] as const)("a model that reasons at effort %s has %s ms for its first content", ([effort, millis]) =>
    Effect.gen(function* () {
      const played = yield* play([hang], { effort }, reasons)
      expect(played).toMatchObject({ outcome: "provider_timeout", tookMillis: millis })
    })
  )

  it.effect.each([
    ["low", 240_000],
    ["max", 480_000],
    ["none", 60_000]
  ] as const)("a model that reasons at effort %s has %s ms for a non-streaming answer", ([effort, millis]) =>
    Effect.gen(function* () {
      const played = yield* play([hang], { effort, stream: false }, reasons)
      expect(played).toMatchObject({ outcome: "provider_timeout", tookMillis: millis })
    })
  )

  it.effect("a model that reasons may be silent four times as long", () =>
    Effect.gen(function* () {
      const played = yield* play([text("one"), hang], {}, reasons)
      expect(played).toMatchObject({ outcome: "stream_stalled", tookMillis: 80_000 })
    })
  )
})
