import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { AccountId, Caller, type CallerShape, Gateway } from "../../src/index.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { scriptedGateway } from "./scriptedGateway.ts"

const { answer, fail, finish, hang, text } = ScriptedProvider

const noLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
const oneAtATime = { key: { ...noLimit, concurrentRequests: 1 }, project: noLimit }

const setUp = (...scripts: ReadonlyArray<ScriptedProvider.Script>) =>
  scriptedGateway({ scripts: { one: scripts }, models: [testModel("one/m")], rateLimits: oneAtATime })

describe("A call's place among the running requests", () => {
  it.effect("the place of a call is released when its hold is refused", () => {
    const { complete, run } = scriptedGateway({
      scripts: { one: [answer("hi")] },
      models: [testModel("one/m")],
      rateLimits: oneAtATime,
      creditMicroUsd: 0
    })
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 3; n++) expect((yield* complete()).failure?._tag).toBe("InsufficientFunds")
      })
    )
  })

  it.effect("the place of a model list is released", () => {
    const { run } = setUp(answer("hi"))
    return run(
      Effect.gen(function* () {
        const { models } = yield* Gateway
        for (let n = 0; n < 3; n++) expect((yield* models).models).toHaveLength(1)
      }).pipe(Effect.provideService(Caller, TestGateway.testCaller))
    )
  })

  it.effect("the place of a count of tokens is released", () => {
    const { run } = setUp(answer("hi"))
    return run(
      Effect.gen(function* () {
        const { countTokens } = yield* Gateway
        for (let n = 0; n < 3; n++) expect((yield* countTokens(request())).tokens).toBeGreaterThan(0)
      }).pipe(Effect.provideService(Caller, TestGateway.testCaller))
    )
  })

  it.effect("the place of a call is released when routing finds no model for it", () => {
    const { complete, run } = setUp(answer("hi"))
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 3; n++) expect((yield* complete({ model: "one/none" })).failure?._tag).toBe("ModelNotFound")
        expect((yield* complete()).completion?.answer.text).toBe("hi")
      })
    )
  })

  it.effect.each([
    ["is answered", answer("hi")],
    ["fails", [fail({ _tag: "ContentPolicy", message: "no" })]]
  ] as const)("the place of a call is released when it %s, streamed or not", ([, script]) => {
    const { complete, relay, run } = setUp(script)
    return run(
      Effect.gen(function* () {
        for (let n = 0; n < 2; n++) {
          expect((yield* complete()).failure?._tag).not.toBe("RateLimited")
          expect((yield* relay()).failure?._tag).not.toBe("RateLimited")
        }
      })
    )
  })

  it.effect("the place of a call is taken while it runs: a second call is refused", () => {
    const { complete, relay, run, sleep } = setUp([text("hi"), ScriptedProvider.wait(1_000), finish(), hang])
    return run(
      Effect.gen(function* () {
        yield* Effect.fork(relay())
        yield* sleep(500)
        expect((yield* complete()).failure?._tag).toBe("RateLimited")
      })
    )
  })
})

it.effect("a prompt counts against the tokens per minute by its length", () => {
  const { complete, run } = scriptedGateway({
    scripts: { one: [answer("hi")] },
    models: [testModel("one/m")],
    rateLimits: { key: { ...noLimit, tokensPerMinute: 1_000 }, project: noLimit }
  })
  const long = { messages: [{ role: "user", content: "word ".repeat(700) }] } as const
  return run(
    Effect.gen(function* () {
      expect((yield* complete(long)).failure).toBeUndefined()
      expect((yield* complete(long)).failure?._tag).toBe("RateLimited")
    })
  )
})

it.effect("a call that is refused for its money leaves no hold", () => {
  const poor: CallerShape = {
    ...TestGateway.testCaller,
    accountId: AccountId.make("00000000-0000-7000-8000-0000000000ff")
  }
  const { callsOf, complete, run } = scriptedGateway({
    scripts: { one: [answer("hi")] },
    models: [testModel("one/m")],
    creditMicroUsd: 0,
    caller: poor
  })
  return run(
    Effect.gen(function* () {
      yield* complete()
      expect((yield* MemoryLedger).calls()).toEqual([])
      expect(callsOf("one")).toEqual([])
    })
  )
})
