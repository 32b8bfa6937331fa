// Promise: No call is refused for money that running calls will not use.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { defaultOptions } from "../../src/gateway/GatewayOptions.ts"
import { Ledger, type Model, microUsd } from "../../src/index.ts"
import type { Hold, HoldOption } from "../../src/ledger/Hold.ts"
import type { LedgerShape } from "../../src/ledger/Ledger.ts"
import { ScriptedProvider, TestGateway, testModel } from "../../src/testing/index.ts"
import { requestId } from "../provider/protocols/calls.ts"
import { booked, type ScriptedGatewayOptions, scriptedGateway, textOf, triedBy } from "./scriptedGateway.ts"

const { end, fail, finish, text, used, wait } = ScriptedProvider

const thousand = "word ".repeat(1_000)

/** So many thousand tokens, one thousand every ten milliseconds. */
const thousands = (count: number): ScriptedProvider.Script =>
  Array.from({ length: count }, () => [text(thousand), wait(10)]).flat()

const whole = (count: number): ScriptedProvider.Script => [
  ...thousands(count),
  finish(),
  used({ inputTokens: 10, outputTokens: count * 1_000 }),
  end
]

const priced = (id: string, output: number, more: Partial<Model> = {}): Model =>
  testModel(id, {
    alias: id,
    outputTokens: 100_000,
    prices: { input: 1_000_000, output, cacheRead: null, cacheWrite: null, tiers: [] },
    ...more
  })

const setUp = (
  creditMicroUsd: number,
  scripts: ScriptedGatewayOptions["scripts"],
  models: ReadonlyArray<Model> = [priced("one/m", 4_000_000)]
) => scriptedGateway({ scripts, models, creditMicroUsd, policy: { defaultAlpha: 1 } })

/** Another call of the account holds this much from now on. */
const takes = (amount: number) => {
  const all: HoldOption = { max: microUsd(amount), min: microUsd(amount), typical: null }
  return Effect.flatMap(Ledger, (ledger) =>
    ledger.reserve({
      callId: requestId,
      caller: TestGateway.testCaller,
      requestedModel: "one/m",
      options: [all],
      maxWaitMillis: 0
    })
  ).pipe(Effect.orDie)
}

/** For so long no extension is heard of, each after this time. */
const isAway = (ledger: LedgerShape, { now }: { readonly now: () => number }, millis: number, answersAfter = 0) => {
  const { extend } = ledger
  const untilMillis = now() + millis
  const asked: Array<number> = []
  Object.assign(ledger, {
    extend: (hold: Hold, option: HoldOption) =>
      Effect.suspend(() => {
        asked.push(now())
        return now() < untilMillis
          ? Effect.delay(Effect.fail(new StoreUnavailable({ cause: "no connection" })), answersAfter)
          : extend(hold, option)
      })
  })
  return asked
}

/** No connection: nothing can have been written. */
const isCut = (ledger: LedgerShape): void => {
  const extend = () => Effect.fail(new StoreUnavailable({ cause: "connection refused", isUnwritten: true }))
  Object.assign(ledger, { extend })
}

/** Extensions are written, but whoever has asked for them hears nothing. */
const losesAnswers = (ledger: LedgerShape): void => {
  const { extend } = ledger
  Object.assign(ledger, {
    extend: (hold: Hold, option: HoldOption) =>
      Effect.zipRight(extend(hold, option), Effect.fail(new StoreUnavailable({ cause: "no answer" })))
  })
}

describe("A streamed call without a client's cap", () => {
  it.effect("it holds a share, is extended while its content comes, and is complete however long", () => {
    const { callsOf, relay, run, sleep } = setUp(1_000_000, { one: [whole(60)] })
    return run(
      Effect.gen(function* () {
        const running = yield* Effect.fork(relay())
        const held: Array<number> = []
        for (let step = 0; step < 30; step++) {
          yield* sleep(10)
          held.push((yield* booked)[0]?.amount ?? 0)
        }
        // a sixteenth of a dollar at first; all that the answer could cost would be 400,000
        expect(held[0]).toBe(62_500)
        expect(Math.max(...held)).toBeLessThan(200_000)
        const { completions } = yield* running
        expect(completions).toMatchObject([{ finish: "stop", metadata: { cost: { basis: "charged" } } }])
        expect(completions[0]?.metadata.notes).toBeUndefined()
        expect((yield* booked)[0]).toMatchObject({ state: "settled", charged: 240_010, absorbed: 0 })
        expect(callsOf("one")[0]?.call.maxOutputTokens).toBe(100_000)
      })
    )
  })

  it.effect("its cap is what the whole account can pay for, not only what is held at first", () => {
    const { callsOf, relay, run } = setUp(100_000, { one: [whole(1)] })
    return run(
      Effect.gen(function* () {
        const { completions } = yield* relay()
        const [call] = yield* booked
        expect(call?.amount).toBeLessThan(33_000)
        const sent = callsOf("one")[0]?.call.maxOutputTokens ?? 0
        expect(sent).toBeGreaterThan(24_900)
        expect(sent).toBeLessThanOrEqual(25_000)
        expect(completions[0]?.metadata.notes).toEqual(["output_capped_by_funds"])
      })
    )
  })

  it.effect(
    "a stream whose next slice is refused ends at its hold, says why, and is charged for what was streamed",
    () => {
      const { callsOf, relay, run, sleep } = setUp(100_000, { one: [whole(20)] })
      return run(
        Effect.gen(function* () {
          const running = yield* Effect.fork(relay())
          yield* sleep(5)
          const [before] = yield* booked
          const amount = before?.amount ?? 0
          yield* takes(100_000 - amount)
          const { completions, events, failures } = yield* running
          expect(failures).toEqual([])
          expect(completions).toMatchObject([
            { finish: "length", metadata: { notes: ["output_capped_by_funds"], cost: { basis: "estimated" } } }
          ])
          expect(callsOf("one")[0]?.state()).toBe("closed")
          const [call] = yield* booked
          expect(call).toMatchObject({ state: "settled", amount })
          expect(call?.charged).toBe(completions[0]?.metadata.cost.amount_microusd)
          expect(call?.charged).toBeGreaterThan(amount - 4_100)
          expect(call?.charged).toBeLessThanOrEqual(amount)
          expect(textOf(events).length).toBeGreaterThanOrEqual(8 * thousand.length)
        })
      )
    }
  )

  it.effect("one piece that is worth several slices is held for at once", () => {
    const piece = [text("a"), wait(10), text("word ".repeat(40_000)), wait(10), text("z"), finish(), end]
    const { relay, run } = setUp(1_000_000, { one: [piece] })
    return run(
      Effect.gen(function* () {
        const { completions, events } = yield* relay()
        expect(completions).toMatchObject([{ finish: "stop" }])
        expect(textOf(events).endsWith("z")).toBe(true)
        expect((yield* booked)[0]?.charged).toBe(completions[0]?.metadata.cost.amount_microusd)
        expect((yield* booked)[0]?.charged).toBeGreaterThan(159_000)
      })
    )
  })

  it.effect("a stream goes on while the ledger cannot be asked, and all of it is held once it can", () => {
    // 16 s of which the database is away for 12
    const slow = Array.from({ length: 40 }, () => [text(thousand), wait(400)]).flat()
    const script = [...slow, finish(), used({ inputTokens: 10, outputTokens: 40_000 }), end]
    const { relay, run, timers } = setUp(1_000_000, { one: [script] })
    return run(
      Effect.gen(function* () {
        const asked = isAway(yield* Ledger, timers, 12_000)
        const { completions, events, failures, tookMillis } = yield* relay()
        expect(failures).toEqual([])
        expect(textOf(events).length).toBe(40 * thousand.length)
        expect(completions).toMatchObject([{ finish: "stop", metadata: { cost: { basis: "charged" } } }])
        expect(completions[0]?.metadata.notes).toBeUndefined()
        expect((yield* booked)[0]).toMatchObject({ state: "settled", charged: 160_010, absorbed: 0 })
        expect(tookMillis).toBeLessThan(16_500)
        // it is not asked with every piece
        expect(asked.length).toBeLessThan(12)
      })
    )
  })

  it.effect(
    "a ledger that answers late while the database is away holds a stream up once, not with every question",
    () => {
      const slow = Array.from({ length: 40 }, () => [text(thousand), wait(400)]).flat()
      const script = [...slow, finish(), used({ inputTokens: 10, outputTokens: 40_000 }), end]
      const { relay, run, timers } = setUp(1_000_000, { one: [script] })
      return run(
        Effect.gen(function* () {
          isAway(yield* Ledger, timers, 60_000, 6_000)
          const { completions, tookMillis } = yield* relay()
          expect(completions).toMatchObject([{ finish: "stop", metadata: { cost: { amount_microusd: 62_500 } } }])
          expect(completions[0]?.metadata.notes).toBeUndefined()
          expect((yield* booked)[0]).toMatchObject({ charged: 62_500 })
          // the first question, and what is asked at the end
          expect(tookMillis).toBeLessThan(16_000 + 2 * 6_000 + 500)
        })
      )
    }
  )

  it.effect(
    "also while the ledger cannot be asked, a cap that the money allows ends a provider that takes no notice of it",
    () => {
      const endless = Array.from({ length: 2_000 }, () => [text("word ".repeat(50)), wait(1)]).flat()
      const models = [priced("one/m", 2_000_000)]
      const { callsOf, relay, run, timers } = setUp(30_000, { one: [[...endless, finish(), end]] }, models)
      return run(
        Effect.gen(function* () {
          isAway(yield* Ledger, timers, 60_000)
          const { completions, events } = yield* relay()
          const cap = callsOf("one")[0]?.call.maxOutputTokens ?? 0
          expect(completions).toMatchObject([{ finish: "length" }])
          const words = textOf(events).length / "word ".length
          expect(words).toBeGreaterThan(cap)
          expect(words).toBeLessThan(2 * cap)
        })
      )
    }
  )

  it.effect("what a stream has used beyond a hold that cannot have been extended is written off, not forgotten", () => {
    const { relay, run } = setUp(1_000_000, { one: [whole(40)] })
    return run(
      Effect.gen(function* () {
        isCut(yield* Ledger)
        const { completions } = yield* relay()
        expect(completions).toMatchObject([{ finish: "stop", metadata: { cost: { amount_microusd: 62_500 } } }])
        expect((yield* booked)[0]).toMatchObject({ state: "settled", charged: 62_500, absorbed: 160_010 - 62_500 })
      })
    )
  })

  it.effect("a slice that is refused after the ledger could not be asked ends the stream, for that reason", () => {
    const slow = Array.from({ length: 30 }, () => [text(thousand), wait(400)]).flat()
    const { relay, run, sleep, timers } = setUp(100_000, { one: [[...slow, finish(), end]] })
    return run(
      Effect.gen(function* () {
        isAway(yield* Ledger, timers, 4_000)
        const running = yield* Effect.fork(relay())
        yield* sleep(5)
        const amount = (yield* booked)[0]?.amount ?? 0
        yield* takes(100_000 - amount)
        const { completions } = yield* running
        expect(completions).toMatchObject([{ finish: "length", metadata: { notes: ["output_capped_by_funds"] } }])
        expect((yield* booked)[0]).toMatchObject({ state: "settled", amount })
      })
    )
  })

  it.effect("a provider that takes no notice of the cap that the money allows does not go on without end", () => {
    const endless = Array.from({ length: 2_000 }, () => [text("word ".repeat(50)), wait(1)]).flat()
    const { callsOf, relay, run } = setUp(30_000, { one: [[...endless, finish(), end]] }, [priced("one/m", 2_000_000)])
    return run(
      Effect.gen(function* () {
        const { completions, events } = yield* relay()
        const cap = callsOf("one")[0]?.call.maxOutputTokens ?? 0
        expect(cap).toBeGreaterThan(14_900)
        expect(completions).toMatchObject([
          { finish: "length", metadata: { notes: ["output_capped_by_funds"], cost: { basis: "estimated" } } }
        ])
        expect(callsOf("one")[0]?.state()).toBe("closed")
        const words = textOf(events).length / "word ".length
        expect(words).toBeGreaterThan(cap)
        expect(words).toBeLessThan(2 * cap)
        const [call] = yield* booked
        expect(call).toMatchObject({ state: "settled", charged: completions[0]?.metadata.cost.amount_microusd })
        expect(call?.charged).toBeLessThanOrEqual(30_000)
        expect(call?.charged).toBeGreaterThan(29_900)
      })
    )
  })

  it.effect("an answer beyond the client's own cap is relayed as it is", () => {
    const { relay, run } = setUp(1_000_000, { one: [whole(3)] })
    return run(
      Effect.gen(function* () {
        const { completions, events } = yield* relay({ maxOutputTokens: 1_000 })
        expect(completions).toMatchObject([{ finish: "stop" }])
        expect(textOf(events).length).toBe(3 * thousand.length)
      })
    )
  })

  it.effect("usage that exceeds what is held at the end is held then, as far as there is money", () => {
    const hidden = [text("short"), finish(), used({ inputTokens: 10, outputTokens: 24_000 }), end]
    const { relay, run } = setUp(1_000_000, { one: [hidden] })
    return run(
      Effect.gen(function* () {
        const { completions } = yield* relay()
        expect(completions[0]?.metadata.cost.amount_microusd).toBe(96_010)
        expect((yield* booked)[0]).toMatchObject({ charged: 96_010, absorbed: 0 })
      })
    )
  })

  it.effect.each([
    ["at its end", [text("short"), finish(), used({ inputTokens: 10, outputTokens: 24_000 }), end], 96_010],
    ["while its content comes", whole(20), 80_010]
  ] as const)(
    "where the ledger has extended the hold but its answer is lost, %s, the customer pays what the response says",
    ([, script, whole]) => {
      const { relay, run } = setUp(1_000_000, { one: [script] })
      return run(
        Effect.gen(function* () {
          const ledger = yield* Ledger
          losesAnswers(ledger)
          const { completions } = yield* relay()
          const [call] = yield* booked
          expect(call?.amount).toBeGreaterThan(62_500)
          const told = completions[0]?.metadata.cost.amount_microusd
          expect(told).toBeGreaterThan(0)
          expect(told).toBeLessThan(whole)
          expect(call?.charged).toBe(told)
          expect(call?.settlement?.record.cost.amount_microusd).toBe(told)
        })
      )
    }
  )

  it.effect("the same where it was extended for a candidate that then is passed over", () => {
    const { relay, run } = setUp(
      1_000_000,
      {
        one: [[fail({ _tag: "ServerError", status: 502 })]],
        two: [whole(1)],
        three: [[text("short"), finish(), used({ inputTokens: 100_000, outputTokens: 10 }), end]]
      },
      [
        priced("one/m", 4_000_000, { quality: 0.9 }),
        priced("two/m", 40_000_000, { quality: 0.7 }),
        priced("three/m", 4_000_000, { quality: 0.5, outputTokens: 4_096 })
      ]
    )
    return run(
      Effect.gen(function* () {
        losesAnswers(yield* Ledger)
        const { completions } = yield* relay()
        expect(completions).toMatchObject([{ metadata: { model: "three/m" } }])
        const [call] = yield* booked
        expect(call?.charged).toBe(completions[0]?.metadata.cost.amount_microusd)
        expect(call?.charged).toBeLessThan(100_040)
      })
    )
  })

  it.effect("a dearer candidate gets a share for its own price", () => {
    const models = [priced("one/m", 4_000_000, { quality: 0.9 }), priced("two/m", 40_000_000, { quality: 0.5 })]
    const { relay, run } = setUp(
      1_000_000,
      { one: [[fail({ _tag: "ServerError", status: 502 })]], two: [whole(15)] },
      models
    )
    return run(
      Effect.gen(function* () {
        const { completions } = yield* relay()
        expect(completions).toMatchObject([{ finish: "stop", metadata: { model: "two/m" } }])
        expect((yield* booked)[0]).toMatchObject({ charged: 600_010, absorbed: 0 })
      })
    )
  })
})

describe("A fallback to dearer candidates", () => {
  const dearer = ["one", "two", "three", "four", "five"].map((id, index) =>
    priced(`${id}/m`, 4_000_000 * (index + 1), { quality: 0.9 - index / 10, outputTokens: 10_000 })
  )
  const scripts = {
    one: [[fail({ _tag: "ServerError", status: 502 })]],
    two: [whole(1)],
    three: [whole(1)],
    four: [whole(1)],
    five: [whole(1)]
  }
  const asked = { maxOutputTokens: 10_000 }
  const calls = (refuses: (ledger: LedgerShape, ask: () => void) => LedgerShape["extend"]) => {
    const gateway = setUp(1_000_000, scripts, dearer)
    let times = 0
    const tried = Effect.gen(function* () {
      const ledger = yield* Ledger
      Object.assign(ledger, { extend: refuses({ ...ledger }, () => (times += 1)) })
      const outcome = yield* gateway.complete(asked)
      return { outcome, times }
    })
    return { ...gateway, tried }
  }

  it.effect("it is not asked again for as much as it has refused", () => {
    const { run, tried } = calls((ledger, ask) => (hold, option) => {
      ask()
      return ledger.extend(hold, { ...option, min: microUsd(10_000_000), max: microUsd(10_000_000) })
    })
    return run(
      Effect.gen(function* () {
        const { outcome, times } = yield* tried
        expect(triedBy(outcome)).toEqual(["one/m provider_error"])
        expect(outcome.failure).toMatchObject({
          skipped: ["two/m", "three/m", "four/m", "five/m"].map((model) => ({ model, reason: "unaffordable" }))
        })
        expect(times).toBe(1)
      })
    )
  })

  it.effect("nor for anything once it could not be asked, however many candidates there are", () => {
    const { run, tried } = calls((_, ask) => () => {
      ask()
      return Effect.delay(Effect.fail(new StoreUnavailable({ cause: "no answer" })), 6_000)
    })
    return run(
      Effect.gen(function* () {
        const { outcome, times } = yield* tried
        expect(outcome.failure).toMatchObject({ _tag: "ProvidersFailed" })
        expect(times).toBe(1)
        expect(outcome.tookMillis).toBeLessThan(7_000)
      })
    )
  })

  it.effect("nothing is sent after the end of the call, however late the ledger extends its hold", () => {
    const gateway = scriptedGateway({
      scripts,
      models: dearer,
      creditMicroUsd: 1_000_000,
      policy: { defaultAlpha: 1 },
      gateway: {
        ...defaultOptions,
        deadlines: { ...defaultOptions.deadlines, totalMillis: 5_000, maxTotalMillis: 5_000 }
      }
    })
    return gateway.run(
      Effect.gen(function* () {
        const ledger = yield* Ledger
        const { extend } = ledger
        Object.assign(ledger, {
          extend: (hold: Hold, option: HoldOption) => Effect.delay(extend(hold, option), 6_000)
        })
        const outcome = yield* gateway.complete(asked)
        expect(triedBy(outcome)).toEqual(["one/m provider_error"])
        expect(gateway.callsOf("two")).toEqual([])
        expect((yield* booked)[0]).toMatchObject({ charged: 0, settlement: { record: { status: "timeout" } } })
      })
    )
  })
})

describe("Clients at once, without a cap, on a model of $5 and $25 a million", () => {
  const model = testModel("one/m", {
    outputTokens: 64_000,
    contextTokens: 200_000,
    prices: { input: 5_000_000, output: 25_000_000, cacheRead: null, cacheWrite: null, tiers: [] }
  })
  // 700 tokens in and 300 out: $0.011
  const short: ScriptedProvider.Script = [
    wait(300),
    text("word ".repeat(150)),
    wait(300),
    text("word ".repeat(150)),
    finish(),
    used({ inputTokens: 700, outputTokens: 300 }),
    end
  ]
  const asked = { messages: [{ role: "user" as const, content: "word ".repeat(690) }] }

  // before, 27 of 40, 8 of 160, 129 of 160 and 32 of 640 were answered
  it.effect.each([
    [5, 4, 40],
    [5, 16, 160],
    [25, 16, 160],
    [25, 64, 640]
  ] as const)("$%d carry %d clients with %d calls", ([dollars, clients, calls]) => {
    const { complete, relay, run } = setUp(dollars * 1_000_000, { one: [short] }, [model])
    return run(
      Effect.gen(function* () {
        const outcomes = yield* Effect.forEach(
          Array.from({ length: calls }, (_, index) => index),
          (index) =>
            index % 2 === 0
              ? Effect.map(complete(asked), ({ failure }) => failure?._tag)
              : Effect.map(relay(asked), ({ failure }) => failure?._tag),
          { concurrency: clients }
        )
        const failures = outcomes.filter((failure) => failure !== undefined)
        expect(failures).toEqual([])
        const charged = (yield* booked).reduce((sum, { charged }) => sum + charged, 0)
        // the script takes no notice of a cap that the room made smaller: its usage is then estimated
        expect(Math.abs(charged - calls * 11_000)).toBeLessThan(calls)
      })
    )
  })
})

describe("auto with little money", () => {
  const models = [
    priced("a/dear", 25_000_000, { quality: 0.9, outputTokens: 4_096 }),
    priced("b/mid", 7_500_000, { quality: 0.7, outputTokens: 4_096 }),
    priced("c/cheap", 2_400_000, { quality: 0.5, outputTokens: 4_096 })
  ]
  const scripts = { a: [[text("a"), finish(), end]], b: [[text("b"), finish(), end]], c: [[text("c"), finish(), end]] }

  it.effect(
    "the first candidate whose likely answer can be paid for comes before one whose answer would be cut",
    () => {
      const { callsOf, complete, relay, run } = setUp(10_000, scripts, models)
      return run(
        Effect.gen(function* () {
          const [streamed] = (yield* relay()).completions
          // before, a/dear with a cap of 389 tokens
          expect(streamed?.metadata).toMatchObject({ model: "b/mid", notes: ["output_capped_by_funds"] })
          expect(callsOf("b")[0]?.call.maxOutputTokens).toBeGreaterThan(1_290)
          const outcome = yield* complete()
          expect(triedBy(outcome)).toEqual(["b/mid success"])
          expect(outcome.completion?.metadata.notes).toEqual(["output_capped_by_funds"])
        })
      )
    }
  )

  it.effect("where no likely answer can be paid for, the first is taken that can give one worth the call", () => {
    const { callsOf, complete, run } = setUp(2_000, scripts, models)
    return run(
      Effect.gen(function* () {
        expect(triedBy(yield* complete())).toEqual(["b/mid success"])
        expect(callsOf("b")[0]?.call.maxOutputTokens).toBeLessThan(300)
      })
    )
  })
})
