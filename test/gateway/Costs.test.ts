import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe } from "vitest"
import type { CallerShape, ChatEvent, Model } from "../../src/index.ts"
import { ScriptedProvider, TestGateway, testModel } from "../../src/testing/index.ts"
import { booked, scriptedGateway } from "./scriptedGateway.ts"

const { answer, end, event, fail, finish, hang, text, used, wait } = ScriptedProvider
type Script = ScriptedProvider.Script

const setUp = (script: Script, more: { readonly model?: Partial<Model>; readonly caller?: CallerShape } = {}) =>
  scriptedGateway({
    scripts: { one: [script] },
    models: [testModel("one/m", more.model)],
    ...(more.caller === undefined ? {} : { caller: more.caller })
  })

/** What the ledger has recorded of a streamed call whose client leaves after this time. */
const leftAfter = (millis: number, script: Script, model: Partial<Model> = {}) => {
  const { relay, run, sleep } = setUp(script, { model })
  return run(
    Effect.gen(function* () {
      const running = yield* Effect.fork(relay())
      yield* sleep(millis)
      yield* Fiber.interrupt(running)
      const [call] = yield* booked
      return call
    })
  )
}

describe("The basis of a cost", () => {
  it.effect("a cost is charged where the provider reports usage, and estimated where the gateway estimates it", () =>
    Effect.gen(function* () {
      const counted = setUp(answer("hi"))
      const uncounted = setUp([text("hi"), finish(), end])
      const basisOf = ({ complete, run }: typeof counted) =>
        run(Effect.map(complete(), ({ completion }) => completion?.metadata.cost.basis))
      expect(yield* basisOf(counted)).toBe("charged")
      expect(yield* basisOf(uncounted)).toBe("estimated")
    })
  )

  it.effect("the cost of a project that pays its provider itself is estimated", () => {
    const { complete, run } = setUp(answer("hi"), { caller: { ...TestGateway.testCaller, billingMode: "byok" } })
    return run(
      Effect.gen(function* () {
        expect((yield* complete()).completion?.metadata.cost.basis).toBe("estimated")
      })
    )
  })

  it.effect("the cost of a cancelled call is estimated, although its provider has reported usage", () =>
    Effect.gen(function* () {
      const call = yield* leftAfter(500, [used({ inputTokens: 50, outputTokens: 1 }), text("some"), hang])
      expect(call).toMatchObject({ state: "cancelled", charged: 54 })
      expect(call?.settlement?.record).toMatchObject({
        status: "cancelled",
        cost: { amount_microusd: 54, basis: "estimated" }
      })
    })
  )
})

describe("A call that is cancelled before its first content", () => {
  it.effect("a call cancelled before its first content is free and is logged without usage", () =>
    Effect.gen(function* () {
      const call = yield* leftAfter(500, [hang])
      expect(call).toMatchObject({ state: "cancelled", charged: 0 })
      expect(call?.settlement?.record).toMatchObject({ status: "cancelled", usage: null })
    })
  )

  it.effect("a call cancelled before its first content costs its prompt where the provider charges for it", () =>
    Effect.gen(function* () {
      const call = yield* leftAfter(500, [hang], { billsAbortedCalls: true })
      expect(call?.state).toBe("cancelled")
      expect(call?.charged).toBeGreaterThan(0)
      expect(call?.settlement?.record.usage).toMatchObject({ inputTokens: call?.charged, outputTokens: 0 })
    })
  )
})

describe("Output without reported usage", () => {
  const bytes = "x".repeat(400)
  const kinds: ReadonlyArray<readonly [string, ChatEvent, number]> = [
    ["text", { _tag: "Text", text: bytes }, 100],
    ["a refusal", { _tag: "Refusal", text: bytes }, 100],
    ["reasoning", { _tag: "Reasoning", index: 0, kind: "text", text: bytes }, 100],
    ["a tool call", { _tag: "ToolCall", index: 0, kind: "function", id: "a", name: "four", arguments: bytes }, 101]
  ]
  for (const [kind, content, tokens] of kinds) {
    it.effect(`${kind} without reported usage is estimated from its length, streamed or not`, () => {
      const { complete, relay, run } = setUp([event(content), finish("length"), end])
      return run(
        Effect.gen(function* () {
          const { completion } = yield* complete()
          const [streamed] = (yield* relay()).completions
          expect(completion?.usage.outputTokens).toBe(tokens)
          expect(completion?.answer.usage).toEqual(completion?.usage)
          expect(streamed?.usage.outputTokens).toBe(tokens)
          expect(streamed?.metadata.cost).toEqual(completion?.metadata.cost)
          expect(completion?.metadata.cost.amount_microusd).toBeGreaterThanOrEqual(4 * tokens)
        })
      )
    })
  }
})

it.effect("a failed call costs nothing and is logged without usage", () => {
  const { relay, run } = setUp([
    text("part"),
    used({ inputTokens: 10, outputTokens: 1 }),
    fail({ _tag: "Disconnected" })
  ])
  return run(
    Effect.gen(function* () {
      expect((yield* relay()).failures).toEqual(["provider_disconnected"])
      const [call] = yield* booked
      expect(call).toMatchObject({ state: "void", charged: 0 })
      expect(call?.settlement?.record).toMatchObject({ status: "error", usage: null, cost: { amount_microusd: 0 } })
    })
  )
})

describe("The metadata of an answer", () => {
  it.effect("the metadata name the model that the provider says has answered", () => {
    const served = event({ _tag: "ResponseInfo", model: "m-2026-01-01" })
    // a later report says nothing of the model
    const tier = event({ _tag: "ResponseInfo", serviceTier: "default" })
    const { complete, relay, run } = setUp([served, tier, ...answer("hi")])
    return run(
      Effect.gen(function* () {
        const plain = (yield* complete()).completion?.metadata
        const streamed = (yield* relay()).completions[0]?.metadata
        expect(plain?.upstream_model).toBe("m-2026-01-01")
        expect(streamed?.upstream_model).toBe("m-2026-01-01")
      })
    )
  })

  it.effect("the metadata do not call a retry of the same model a fallback", () => {
    const { complete, run } = scriptedGateway({
      scripts: { one: [[fail({ _tag: "ServerError", status: 500 })], answer("hi")] },
      models: [testModel("one/m")]
    })
    return run(
      Effect.gen(function* () {
        const { completion } = yield* complete()
        expect(completion?.metadata.attempts).toHaveLength(2)
        expect(completion?.metadata.fallback).toEqual({ enabled: true, used: false })
      })
    )
  })

  it.effect.each([
    ["an error", [fail({ _tag: "ServerError", status: 502 })]],
    ["a deadline", [hang]]
  ] as const)("the metadata say that the answer came after %s of another model", ([, first]) => {
    const { complete, relay, run } = scriptedGateway({
      scripts: { one: [first], two: [answer("two")] },
      models: [testModel("one/m", { quality: 0.9 }), testModel("two/m", { quality: 0.4, alias: "other" })],
      policy: { defaultAlpha: 1 }
    })
    return run(
      Effect.gen(function* () {
        const told = { reason: "fallback_after_error", fallback: { enabled: true, used: true }, alpha: 1 }
        expect((yield* complete()).completion?.metadata).toMatchObject(told)
        expect((yield* relay()).completions[0]?.metadata).toMatchObject(told)
      })
    )
  })

  it.effect("the metadata name no alpha where the request names its model", () => {
    const { complete, run } = setUp(answer("hi"))
    return run(
      Effect.gen(function* () {
        const { completion } = yield* complete({ model: "one/m" })
        expect(completion?.metadata).toMatchObject({ reason: "pinned_model", alpha: null })
      })
    )
  })
})

it.effect("complete sends a non-streaming request and relay a streaming one, whatever the request asks for", () => {
  const { callsOf, complete, relay, run } = setUp([wait(1), ...answer("hi")])
  return run(
    Effect.gen(function* () {
      yield* complete({ stream: true })
      yield* relay({ stream: false })
      expect(callsOf("one").map(({ call }) => call.request.stream)).toEqual([false, true])
      const records = (yield* booked).map((call) => call.settlement?.record.stream)
      expect(records).toEqual([false, true])
    })
  )
})
