import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import {
  type ChatRequest,
  defaultOptions,
  Gateway,
  type GatewayOptions,
  type Model,
  type ProviderFailure
} from "../../src/index.ts"
import { ScriptedProvider, testModel } from "../../src/testing/index.ts"
import { unrestricted } from "../support/ChatRequests.ts"
import { attemptsOf, booked, type ScriptedGatewayOptions, scriptedGateway, triedBy } from "./scriptedGateway.ts"

const { answer, end, event, fail, finish, wait } = ScriptedProvider
type Script = ScriptedProvider.Script

const failing = (reason: ProviderFailure): Script => [fail(reason)]
const broken = failing({ _tag: "ServerError", status: 502 })
const reset = failing({ _tag: "Unreachable", detail: "reset-before-response" })
const refused = failing({ _tag: "Unreachable", detail: "refused" })
const lateConnection = failing({ _tag: "ConnectTimeout" })
const rejected = failing({ _tag: "RequestRejected", message: "no", param: "tools" })
const tooLong = failing({ _tag: "ContextLengthExceeded", message: "too long" })
const limited = (retryAfterMillis: number) => failing({ _tag: "RateLimited", retryAfterMillis })
const empty: Script = [finish(), end]

/** Three providers, the best one first, each with the model `m`; each plays its scripts in turn. */
const setUp = (
  scripts: ScriptedGatewayOptions["scripts"],
  more: { readonly models?: ReadonlyArray<Model>; readonly gateway?: GatewayOptions } = {}
) =>
  scriptedGateway({
    scripts,
    models: Object.keys(scripts).map((id, n) => testModel(`${id}/m`, { quality: 0.9 - n * 0.2, alias: id })),
    policy: { defaultAlpha: 1 },
    ...more
  })

const withoutFallback: Partial<ChatRequest> = { routing: { ...unrestricted, enableFallback: false } }

/** What one plain call has tried, whatever it came to. */
const tried = (
  scripts: ScriptedGatewayOptions["scripts"],
  asked: Partial<ChatRequest> = {},
  more: Parameters<typeof setUp>[1] = {}
) => {
  const { complete, run } = setUp(scripts, more)
  return run(Effect.map(complete(asked), triedBy))
}

describe("A retry at the same model", () => {
  it.effect("a reset of a reused connection is retried once, although other candidates are left", () =>
    Effect.gen(function* () {
      expect(yield* tried({ one: [reset, answer("one")], two: [answer("two")] })).toEqual([
        "one/m provider_unreachable",
        "one/m success"
      ])
    })
  )

  it.effect("a request is retried at most once, however many models it goes to", () =>
    Effect.gen(function* () {
      expect(yield* tried({ one: [reset], two: [reset, answer("two")], three: [answer("three")] })).toEqual([
        "one/m provider_unreachable",
        "one/m provider_unreachable",
        "two/m provider_unreachable",
        "three/m success"
      ])
    })
  )

  it.effect.each([
    ["a refused connection", refused, "provider_unreachable"],
    ["a connect deadline", lateConnection, "provider_timeout"],
    ["a 500", failing({ _tag: "ServerError", status: 500 }), "provider_error"],
    ["a short rate limit", limited(1_000), "provider_rate_limited"]
  ] as const)("%s is retried only where no other candidate is left", ([, script, code]) =>
    Effect.gen(function* () {
      expect(yield* tried({ one: [script, answer("one")], two: [answer("two")] })).toEqual([
        `one/m ${code}`,
        "two/m success"
      ])
      expect(yield* tried({ one: [script, answer("one")] })).toEqual([`one/m ${code}`, "one/m success"])
    })
  )

  it.effect.each([
    ["a 502", broken],
    ["a cut", [wait(10)]],
    ["a broken connection", failing({ _tag: "Reset" })],
    ["a rate limit of more than three seconds", limited(3_001)],
    ["a rate limit without an end", failing({ _tag: "RateLimited", retryAfterMillis: null })]
  ] as const)("%s is never retried", ([, script]) =>
    Effect.gen(function* () {
      expect(yield* tried({ one: [script, answer("one")] })).toHaveLength(1)
    })
  )

  it.effect("a retry is no fallback: the reason of the choice stays what it was", () => {
    const once = failing({ _tag: "ServerError", status: 500 })
    const { complete, run } = setUp({ one: [once, answer("one")] })
    return run(
      Effect.gen(function* () {
        const { completion } = yield* complete({ model: "one/m" })
        expect(completion?.metadata).toMatchObject({
          reason: "pinned_model",
          fallback: { enabled: false, used: false },
          attempts: [{ status: "error" }, { status: "success" }]
        })
      })
    )
  })

  it.effect("a call that fails at its only candidate is logged with the reason of the choice", () => {
    const { complete, run } = setUp({ one: [broken], two: [broken] })
    return run(
      Effect.gen(function* () {
        yield* complete({ model: "one/m" })
        yield* complete(withoutFallback)
        yield* complete()
        expect((yield* booked).map(({ settlement }) => settlement?.record.reason)).toEqual([
          "pinned_model",
          "highest_quality",
          "fallback_after_error"
        ])
      })
    )
  })

  it.effect("a rate limit is retried when it ends, not before", () => {
    const { callsOf, complete, run } = setUp({ one: [limited(2_000), answer("one")] })
    return run(
      Effect.gen(function* () {
        const { completion, tookMillis } = yield* complete()
        expect(completion?.answer.text).toBe("one")
        expect(tookMillis).toBe(2_000)
        expect(callsOf("one")).toHaveLength(2)
      })
    )
  })

  it.effect("a retry that would start after the call's end is not waited for", () => {
    const { callsOf, complete, run } = setUp(
      { one: [limited(2_000), answer("one")] },
      { gateway: { ...defaultOptions, deadlines: { ...defaultOptions.deadlines, totalMillis: 1_500 } } }
    )
    return run(
      Effect.gen(function* () {
        const outcome = yield* complete()
        expect(triedBy(outcome)).toEqual(["one/m provider_rate_limited"])
        expect(outcome.tookMillis).toBe(0)
        expect(callsOf("one")).toHaveLength(1)
      })
    )
  })
})

describe("Fallback", () => {
  it.effect("fallback goes to as many models as are allowed, and a retry is not one of them", () =>
    Effect.gen(function* () {
      const scripts = { one: [reset], two: [broken], three: [answer("three")] }
      expect(yield* tried(scripts, {}, { gateway: { ...defaultOptions, maxAttempts: 3 } })).toEqual([
        "one/m provider_unreachable",
        "one/m provider_unreachable",
        "two/m provider_error",
        "three/m success"
      ])
      expect(yield* tried(scripts, {}, { gateway: { ...defaultOptions, maxAttempts: 2 } })).toEqual([
        "one/m provider_unreachable",
        "one/m provider_unreachable",
        "two/m provider_error"
      ])
    })
  )

  it.effect("a request that forbids fallback is not fallen back from", () =>
    Effect.gen(function* () {
      expect(yield* tried({ one: [broken], two: [answer("two")] }, withoutFallback)).toEqual(["one/m provider_error"])
    })
  )

  it.effect("a request refused for its content is shown to no other provider", () => {
    const { callsOf, complete, run } = setUp({
      one: [failing({ _tag: "ContentPolicy", message: "no" })],
      two: [answer("two")]
    })
    return run(
      Effect.gen(function* () {
        expect((yield* complete()).failure).toMatchObject({
          _tag: "InvalidRequest",
          code: "content_policy_violation",
          message: "no"
        })
        expect(callsOf("two")).toEqual([])
      })
    )
  })

  it.effect("all attempts of a call have the time of one call", () => {
    const { relay, run } = setUp(
      { one: [[ScriptedProvider.hang]], two: [[ScriptedProvider.hang]] },
      { gateway: { ...defaultOptions, deadlines: { ...defaultOptions.deadlines, totalMillis: 20_000 } } }
    )
    return run(
      Effect.gen(function* () {
        const { failure, tookMillis } = yield* relay()
        expect(tookMillis).toBe(20_000)
        expect(failure).toMatchObject({
          attempts: [{ error: { code: "provider_timeout" } }, { error: { code: "request_timeout" } }]
        })
      })
    )
  })
})

describe("A prompt that is too long", () => {
  const context = (...tokens: ReadonlyArray<number | null>) => ({
    models: ["one", "two", "three"].map((id, n) =>
      testModel(`${id}/m`, { quality: 0.9 - n * 0.2, alias: id, contextTokens: tokens[n] ?? null })
    )
  })
  const scripts = { one: [tooLong], two: [answer("two")], three: [answer("three")] }

  it.effect("a prompt that is too long goes to a model with a larger context, not to one with the same", () =>
    Effect.gen(function* () {
      expect(yield* tried(scripts, {}, context(100_000, 100_000, 100_001))).toEqual([
        "one/m context_length_exceeded",
        "three/m success"
      ])
    })
  )

  it.effect("a prompt that is too long goes to no model with an undocumented context", () =>
    Effect.gen(function* () {
      expect(yield* tried(scripts, {}, context(100_000, null, null))).toEqual(["one/m context_length_exceeded"])
    })
  )

  it.effect("a prompt that is too long for an undocumented context goes to no other model", () =>
    Effect.gen(function* () {
      expect(yield* tried(scripts, {}, context(null, 100_000, 1_000_000))).toEqual(["one/m context_length_exceeded"])
    })
  )
})

describe("A rejected request", () => {
  it.effect("a rejected request is shown to one other provider, and the client is told the first reason", () => {
    const { complete, run } = setUp({
      one: [rejected],
      two: [failing({ _tag: "RequestRejected", message: "neither", param: null })],
      three: [answer("three")]
    })
    return run(
      Effect.gen(function* () {
        const outcome = yield* complete()
        expect(triedBy(outcome)).toEqual(["one/m provider_rejected_request", "two/m provider_rejected_request"])
        expect(outcome.failure).toMatchObject({ _tag: "InvalidRequest", message: "no", param: "tools" })
      })
    )
  })

  it.effect("a rejected request is not shown to another model of the same provider", () =>
    Effect.gen(function* () {
      const models = [
        testModel("one/m", { quality: 0.9, alias: "a" }),
        testModel("one/n", { quality: 0.8, alias: "b" }),
        testModel("two/m", { quality: 0.1, alias: "c" })
      ]
      expect(yield* tried({ one: [rejected], two: [answer("two")] }, {}, { models })).toEqual([
        "one/m provider_rejected_request",
        "two/m success"
      ])
    })
  )
})

describe("An empty answer", () => {
  it.effect("an empty answer is a failure while another candidate can be tried, and two of them end the call", () =>
    Effect.gen(function* () {
      expect(yield* tried({ one: [empty], two: [answer("two")] })).toEqual(["one/m empty_completion", "two/m success"])
      expect(yield* tried({ one: [empty], two: [empty], three: [answer("three")] })).toEqual([
        "one/m empty_completion",
        "two/m empty_completion"
      ])
    })
  )

  it.effect.each([
    ["is the only model", { one: [empty] }, {}, {}, ["one/m success"]],
    ["is pinned", { one: [empty], two: [answer("two")] }, { model: "one/m" }, {}, ["one/m success"]],
    ["may not be fallen back from", { one: [empty], two: [answer("two")] }, withoutFallback, {}, ["one/m success"]],
    [
      "is the last that is allowed",
      { one: [broken], two: [empty], three: [answer("three")] },
      {},
      { gateway: { ...defaultOptions, maxAttempts: 2 } },
      ["one/m provider_error", "two/m success"]
    ]
  ] as const)("an empty answer is accepted where its model %s", ([, scripts, asked, more, attempts]) =>
    Effect.gen(function* () {
      expect(yield* tried(scripts, asked, more)).toEqual(attempts)
    })
  )

  it.effect("a retry counts as no candidate: an empty answer after it falls back while a candidate is left", () =>
    Effect.gen(function* () {
      const scripts = { one: [reset, broken], two: [empty], three: [answer("three")] }
      expect(yield* tried(scripts, {}, { gateway: { ...defaultOptions, maxAttempts: 3 } })).toEqual([
        "one/m provider_unreachable",
        "one/m provider_error",
        "two/m empty_completion",
        "three/m success"
      ])
    })
  )

  it.effect.each(["length", "content_filter"] as const)("an empty answer that ends in %s is accepted", (reason) =>
    Effect.gen(function* () {
      expect(yield* tried({ one: [[finish(reason), end]], two: [answer("two")] })).toEqual(["one/m success"])
    })
  )

  it.effect("an answer that says it calls tools, and calls none, is a failure", () =>
    Effect.gen(function* () {
      expect(yield* tried({ one: [[finish("tool_calls"), end]], two: [answer("two")] })).toEqual([
        "one/m empty_completion",
        "two/m success"
      ])
    })
  )

  it.effect("an empty answer with a blank finish reason is always a failure", () =>
    Effect.gen(function* () {
      const blank: Script = [event({ _tag: "Finish", reason: "length", native: "" }), end]
      expect(yield* tried({ one: [blank] })).toEqual(["one/m empty_completion"])
    })
  )

  it.effect("an empty stream is treated like an empty non-streaming answer", () => {
    const [several, only] = [setUp({ one: [empty], two: [answer("two")] }), setUp({ one: [empty] })]
    return Effect.gen(function* () {
      const fallenBack = yield* several.run(several.relay())
      expect(attemptsOf(fallenBack.completions[0]?.metadata.attempts)).toEqual([
        "one/m empty_completion",
        "two/m success"
      ])
      expect((yield* only.run(only.relay())).completions).toMatchObject([{ finish: "stop" }])
    })
  })
})

describe("When every provider is rate limited", () => {
  const retryAfter = (...scripts: ReadonlyArray<Script>) => {
    const { complete, run } = setUp({ one: [scripts[0] ?? []], two: [scripts[1] ?? []] })
    return run(
      Effect.map(complete(), ({ failure }) =>
        failure?._tag === "ProvidersFailed" ? failure.retryAfterMillis : failure
      )
    )
  }

  it.effect("the client is told when the first rate limit ends", () =>
    Effect.gen(function* () {
      expect(yield* retryAfter(limited(9_000), limited(5_000))).toBe(5_000)
      expect(yield* retryAfter(limited(5_000), limited(9_000))).toBe(5_000)
    })
  )

  it.effect("the client is told no time where one provider has failed otherwise", () =>
    Effect.gen(function* () {
      expect(yield* retryAfter(limited(9_000), broken)).toBeNull()
      expect(yield* retryAfter(failing({ _tag: "RateLimited", retryAfterMillis: null }), limited(9_000))).toBeNull()
    })
  )
})

describe("The wait before a retry", () => {
  const waits = limited(2_000)

  it.effect("is no part of the latency of the attempt after it", () => {
    const { complete, run } = setUp({ one: [waits, [wait(30), ...answer("one")]] })
    return run(
      Effect.gen(function* () {
        const { completion, tookMillis } = yield* complete({ model: "one/m" })
        expect(tookMillis).toBe(2_030)
        expect(completion?.metadata.attempts.map(({ latency_ms }) => latency_ms)).toEqual([0, 30])
      })
    )
  })

  it.effect("ends with an abort, after which no provider is called", () => {
    const { callsOf, complete, run, sleep } = setUp(
      { one: [waits, answer("one")] },
      { models: [testModel("one/m", { billsAbortedCalls: true })] }
    )
    return run(
      Effect.gen(function* () {
        const fiber = yield* Effect.fork(complete({ model: "one/m" }))
        yield* sleep(1_000)
        yield* (yield* Gateway).abort
        const { failure, tookMillis } = yield* Fiber.join(fiber)
        expect(failure).toMatchObject({ _tag: "ServiceRefused", reason: "shutting_down" })
        expect(tookMillis).toBe(1_000)
        expect(callsOf("one")).toHaveLength(1)
        expect((yield* complete({ model: "one/m" })).failure).toMatchObject({ reason: "shutting_down" })
        expect(callsOf("one")).toHaveLength(1)
        expect(yield* booked).toMatchObject([
          { state: "void", charged: 0, absorbed: 0 },
          { state: "void", charged: 0, absorbed: 0 }
        ])
      })
    )
  })

  it.effect("is no attempt: a client that leaves during it is not charged, even where aborted calls are billed", () => {
    const { callsOf, complete, run, sleep } = setUp(
      { one: [waits, answer("one")] },
      { models: [testModel("one/m", { billsAbortedCalls: true })] }
    )
    return run(
      Effect.gen(function* () {
        const fiber = yield* Effect.fork(complete({ model: "one/m" }))
        yield* sleep(1_000)
        yield* Fiber.interrupt(fiber)
        expect(callsOf("one")).toHaveLength(1)
        const [call] = yield* booked
        expect(call).toMatchObject({ state: "cancelled", charged: 0 })
        expect(call?.settlement?.record.attempts).toMatchObject([{ status: "error" }])
      })
    )
  })
})
