import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as GatewayCalls from "../../../src/analysis/evidence/GatewayCalls.ts"
import { ModelCalls } from "../../../src/analysis/evidence/ModelCalls.ts"
import { ProviderError, type ProviderFailure } from "../../../src/domain/ProviderError.ts"
import { finishEvent, makeProvider, textEvent, usageEvent } from "../../../src/index.ts"
import { noRateLimits } from "../../../src/policy/RateLimits.ts"
import { TestGateway } from "../../../src/testing/index.ts"
import { answer, model, question } from "./asking.ts"

/**
 * Calls of a project with so many requests a minute, and how many of them a model has been asked; the sample of all can be erased.
 */
const askingAt = (requestsPerMinute: number, calls: number) =>
  Effect.gen(function* () {
    let asked = 0
    let isThere = true
    const provider = yield* makeProvider("mine", () => {
      asked += 1
      return answer()
    })
    const { accountId, billingMode, projectId } = TestGateway.testCaller
    const cap = {
      analysisId: "00000000-0000-7000-8000-000000000009",
      maxSpendMicroUsd: 1_000_000,
      caller: { accountId, billingMode, projectId },
      rateLimit: { requestsPerMinute, tokensPerMinute: null, concurrentRequests: null }
    }
    const ask = Effect.flatMap(ModelCalls, (each) => Effect.either(each.ask(question)))
    const fiber = yield* Effect.all(
      Array.from({ length: calls }, () => ask),
      { concurrency: "unbounded" }
    ).pipe(
      Effect.provide(GatewayCalls.layer(cap, () => Effect.sync(() => isThere))),
      Effect.provide(TestGateway.layer({ models: [model], providers: [provider], rateLimits: noRateLimits })),
      Effect.fork
    )
    const erase = () => {
      isThere = false
    }
    return { asked: () => asked, erase, fiber }
  })

it.effect("calls of an analysis that a rate limit of the project rejects wait for it, and none is lost", () =>
  Effect.gen(function* () {
    const { asked, fiber } = yield* askingAt(2, 4)
    yield* TestClock.adjust(0)
    expect(asked()).toBe(2)
    yield* TestClock.adjust("29 seconds")
    expect(asked()).toBe(2)
    yield* TestClock.adjust("1 second")
    expect(asked()).toBe(3)
    yield* TestClock.adjust("30 seconds")
    expect((yield* Fiber.join(fiber)).every(Either.isRight)).toBe(true)
    expect(asked()).toBe(4)
  })
)

it.effect("calls of an analysis fail where the project may call nothing for ten minutes", () =>
  Effect.gen(function* () {
    const { asked, fiber } = yield* askingAt(0, 4)
    yield* TestClock.adjust("9 minutes")
    expect(fiber.unsafePoll()).toBeNull()
    yield* TestClock.adjust("1 minute")
    const answers = yield* Fiber.join(fiber)
    expect(answers.map(Either.flip).map(Either.getOrThrow)).toMatchObject(
      Array.from({ length: 4 }, () => ({ _tag: "ModelFailed", code: "rate_limit_exceeded", isModelsFault: false }))
    )
    expect(asked()).toBe(0)
  })
)

it.effect("calls of an analysis that wait for a rate limit are not made once their sample is erased", () =>
  Effect.gen(function* () {
    const { asked, erase, fiber } = yield* askingAt(2, 4)
    yield* TestClock.adjust(0)
    expect(asked()).toBe(2)
    erase()
    yield* TestClock.adjust("1 minute")
    const refused = (yield* Fiber.join(fiber)).filter(Either.isLeft)
    expect(refused.map(({ left }) => left._tag)).toEqual(["SampleGone", "SampleGone"])
    expect(asked()).toBe(2)
  })
)

const capOf = (maxSpendMicroUsd: number): GatewayCalls.SpendCap => {
  const { accountId, billingMode, projectId } = TestGateway.testCaller
  const caller = { accountId, billingMode, projectId }
  return { analysisId: "00000000-0000-7000-8000-000000000009", maxSpendMicroUsd, caller, rateLimit: null }
}

it.effect.each([
  ["where the client has set no cap, so that money is left for others", undefined, "ModelFailed"],
  ["where there is no money for what the client's cap allows", 600, "CapReached"]
] as const)("an answer that is cut by what is left of the spend cap is none, %s", ([, maxOutputTokens, failure]) =>
  Effect.gen(function* () {
    const provider = yield* makeProvider("mine", () =>
      Stream.make(textEvent("VERDICT:"), finishEvent("length"), usageEvent({ inputTokens: 20, outputTokens: 300 }))
    )
    const failed = yield* Effect.flatMap(ModelCalls, (each) =>
      Effect.flip(each.ask({ ...question, maxOutputTokens }))
    ).pipe(
      Effect.provide(GatewayCalls.layer(capOf(800), () => Effect.succeed(true))),
      Effect.provide(TestGateway.layer({ models: [model], providers: [provider], rateLimits: noRateLimits }))
    )
    expect(failed._tag).toBe(failure)
  })
)

it.effect.each([
  [{ _tag: "RequestRejected", message: "No tools.", param: null }, "provider_rejected_request", true],
  [{ _tag: "ContentPolicy", message: "Filtered." }, "content_policy_violation", true],
  [{ _tag: "EmptyCompletion" }, "empty_completion", true],
  [{ _tag: "BadResponse", detail: "no JSON" }, "provider_bad_response", true],
  [{ _tag: "ServerError", status: 500 }, "provider_error", false],
  [{ _tag: "RateLimited", retryAfterMillis: null }, "provider_rate_limited", false],
  [{ _tag: "AnswerTimeout" }, "provider_timeout", false],
  [{ _tag: "CredentialRejected" }, "provider_unavailable", false],
  [{ _tag: "Stopped" }, "call_stopped", false]
] satisfies ReadonlyArray<readonly [ProviderFailure, string, boolean]>)(
  "a failure is the model's own only where it rejects or does not answer: %o",
  ([reason, code, isModelsFault]) =>
    Effect.gen(function* () {
      const provider = yield* makeProvider("mine", () => Stream.fail(new ProviderError({ providerId: "mine", reason })))
      const failing = yield* Effect.flatMap(ModelCalls, ({ ask }) => Effect.flip(ask(question))).pipe(
        Effect.provide(GatewayCalls.layer(capOf(1_000_000), () => Effect.succeed(true))),
        Effect.provide(TestGateway.layer({ models: [model], providers: [provider], rateLimits: noRateLimits })),
        Effect.fork
      )
      yield* TestClock.adjust("1 minute")
      expect(yield* Fiber.join(failing)).toMatchObject({ _tag: "ModelFailed", code, isModelsFault })
    })
)
