import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe } from "vitest"
import { Caller, type ChatRequest, type Deadlines, Gateway, type Model } from "../../src/index.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/calls.ts"
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
  expect([call?.state, call?.charged, call?.settlement?.record.status]).toEqual(["void", 0, "timeout"])
}

describe("a streamed call", () => {
  it.effect("that never has content ends at the first-content deadline", () =>
    Effect.gen(function* () {
      const played = yield* play([hang])
      expect([played.outcome, played.tookMillis]).toEqual(["provider_timeout", 15_000])
      expectTimeout(played)
    })
  )

  it.effect("is not kept alive by bytes without content", () =>
    Effect.gen(function* () {
      const beats = Array.from({ length: 30 }, () => [activity, wait(1_000)]).flat()
      const played = yield* play([...beats, ...answer("late")])
      expect([played.outcome, played.tookMillis]).toEqual(["provider_timeout", 15_000])
      expectTimeout(played)
    })
  )

  it.effect("that falls silent after its first content ends at the idle deadline", () =>
    Effect.gen(function* () {
      const played = yield* play([wait(1_000), text("one"), wait(19_000), text("two"), hang])
      expect([played.outcome, played.tookMillis]).toEqual(["stream_stalled", 40_000])
      expectTimeout(played)
    })
  )

  it.effect("may be slow as long as bytes come, whatever they mean", () =>
    Effect.gen(function* () {
      const pauses = Array.from({ length: 20 }, () => [wait(19_000), activity]).flat()
      const played = yield* play([text("one"), ...pauses, ...answer(" two")])
      expect([played.outcome, played.tookMillis]).toEqual(["answered", 380_000])
      expect(played.call?.state).toBe("settled")
    })
  )

  it.effect("ends at the total deadline, however lively it is", () =>
    Effect.gen(function* () {
      const endless = Array.from({ length: 700 }, () => [text("more "), wait(1_000)]).flat()
      const played = yield* play(endless)
      expect([played.outcome, played.tookMillis]).toEqual(["request_timeout", 600_000])
      expectTimeout(played)
    })
  )
})

describe("a plain call", () => {
  it.effect("ends at the plain-answer deadline", () =>
    Effect.gen(function* () {
      const played = yield* play([hang], { stream: false })
      expect([played.outcome, played.tookMillis]).toEqual(["provider_timeout", 60_000])
      expectTimeout(played)
    })
  )

  it.effect("may be silent for longer than a stream", () =>
    Effect.gen(function* () {
      const played = yield* play([wait(59_000), ...answer("slow")], { stream: false })
      expect([played.outcome, played.tookMillis]).toEqual(["answered", 59_000])
    })
  )

  it.effect("that has begun to come and falls silent ends at the idle deadline", () =>
    Effect.gen(function* () {
      const played = yield* play([wait(5_000), activity, hang], { stream: false })
      expect([played.outcome, played.tookMillis]).toEqual(["provider_timeout", 25_000])
      expectTimeout(played)
    })
  )

  it.effect("has the total deadline over all its attempts", () =>
    Effect.gen(function* () {
      const played = yield* play([hang], { stream: false }, { deadlines: { totalMillis: 30_000 } })
      expect([played.outcome, played.tookMillis]).toEqual(["request_timeout", 30_000])
      expectTimeout(played)
    })
  )
})

describe("a model that reasons", () => {
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
  ] as const)("at effort %s has this long for its first content: %s", ([effort, millis]) =>
    Effect.gen(function* () {
      const played = yield* play([hang], { effort }, reasons)
      expect([played.outcome, played.tookMillis]).toEqual(["provider_timeout", millis])
    })
  )

  it.effect("may be silent four times as long", () =>
    Effect.gen(function* () {
      const played = yield* play([text("one"), hang], {}, reasons)
      expect([played.outcome, played.tookMillis]).toEqual(["stream_stalled", 80_000])
    })
  )
})
