import { expect, it } from "@effect/vitest"
import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { describe } from "vitest"
import type { Candidate } from "../../src/domain/Candidate.ts"
import { plainTerms } from "../../src/domain/Prices.ts"
import { ProviderError, type ProviderFailure } from "../../src/domain/ProviderError.ts"
import { type CandidateFailed, decide, type FallbackOptions, Unaffordable } from "../../src/gateway/FallbackPolicy.ts"
import { microUsd } from "../../src/index.ts"
import { testModel } from "../../src/testing/index.ts"

const candidateOf = (id: string): Candidate => ({
  model: testModel(id),
  quality: 0.5,
  expectedCost: microUsd(10),
  score: 0.5,
  effort: undefined,
  dropped: [],
  altered: [],
  notes: [],
  terms: plainTerms
})
const [one, two, three, four] = [
  candidateOf("one/m"),
  candidateOf("two/m"),
  candidateOf("three/m"),
  candidateOf("four/m")
]

const failedWith = (candidate: Candidate, reason: ProviderFailure): CandidateFailed => ({
  candidate,
  error: new ProviderError({ providerId: candidate.model.providerId, reason })
})

const decided = (
  failures: NonEmptyReadonlyArray<CandidateFailed>,
  rest: ReadonlyArray<Candidate>,
  more: Partial<FallbackOptions> = {}
) => decide({ maxAttempts: 4, remainingMillis: () => 600_000, allows: () => true, ...more })(failures, rest)

const broken: ProviderFailure = { _tag: "ServerError", status: 502 }
const failed500: ProviderFailure = { _tag: "ServerError", status: 500 }

describe("after a failure that nothing cures", () => {
  it.effect("all others follow, the first allowed one first, and none that comes before it", () =>
    Effect.gen(function* () {
      const allows = (candidate: Candidate) => candidate === three || candidate === four
      const decision = yield* decided([failedWith(one, broken)], [two, three, four], { allows })
      expect(decision).toEqual({ _tag: "FallBack", to: [three, four] })
    })
  )

  it.effect("the call ends where no other candidate is allowed", () =>
    Effect.gen(function* () {
      const decision = yield* decided([failedWith(one, broken)], [two, three], { allows: () => false })
      expect(decision).toEqual({ _tag: "GiveUp" })
    })
  )

  it.effect("a candidate that cannot be paid for counts neither as an attempt nor as the end", () =>
    Effect.gen(function* () {
      const unpaid: CandidateFailed = { candidate: two, error: new Unaffordable({ candidate: two }) }
      const decision = yield* decided([failedWith(one, broken), unpaid], [three], { maxAttempts: 2 })
      expect(decision).toEqual({ _tag: "FallBack", to: [three] })
    })
  )
})

describe("a retry of the last candidate", () => {
  it.effect("after a 500 waits for a random part of 400 ms", () =>
    Effect.gen(function* () {
      const delays: Array<number> = []
      for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
        const decision = yield* Effect.withRandom(decided([failedWith(one, failed500)], []), Random.make(seed))
        if (decision._tag === "Retry") delays.push(Duration.toMillis(decision.delay))
      }
      expect(new Set(delays).size).toBe(8)
      expect(Math.max(...delays)).toBeLessThan(400)
    })
  )

  it.effect.each([
    { remainingMillis: 2_001, decision: "Retry" },
    { remainingMillis: 2_000, decision: "GiveUp" }
  ])("whose delay is 2,000 ms is a $decision with $remainingMillis ms left", ({ decision, remainingMillis }) =>
    Effect.gen(function* () {
      const limited: ProviderFailure = { _tag: "RateLimited", retryAfterMillis: 2_000 }
      const made = yield* decided([failedWith(one, limited)], [], { remainingMillis: () => remainingMillis })
      expect(made._tag).toBe(decision)
    })
  )

  it.effect("is not made after a rate limit of unknown length, nor without a retry budget, nor twice", () =>
    Effect.gen(function* () {
      const unknown = yield* decided([failedWith(one, { _tag: "RateLimited", retryAfterMillis: null })], [])
      const unbudgeted = yield* decided([failedWith(one, failed500)], [], { allows: (_, isRetry) => !isRetry })
      const second = yield* decided([failedWith(one, failed500), failedWith(one, failed500)], [])
      expect({ unknown, unbudgeted, second }).toEqual({
        unknown: { _tag: "GiveUp" },
        unbudgeted: { _tag: "GiveUp" },
        second: { _tag: "GiveUp" }
      })
    })
  )

  it.effect("is not made while other candidates are left, unless a reused connection was reset", () =>
    Effect.gen(function* () {
      const reset: ProviderFailure = { _tag: "Unreachable", detail: "reset-before-response" }
      const refused: ProviderFailure = { _tag: "Unreachable", detail: "refused" }
      const limited: ProviderFailure = { _tag: "RateLimited", retryAfterMillis: 100 }
      const tagAfter = (reason: ProviderFailure) =>
        Effect.map(decided([failedWith(one, reason)], [two]), ({ _tag }) => _tag)
      expect({
        reset: yield* tagAfter(reset),
        refused: yield* tagAfter(refused),
        connectTimeout: yield* tagAfter({ _tag: "ConnectTimeout" }),
        limited: yield* tagAfter(limited),
        serverError: yield* tagAfter(failed500)
      }).toEqual({
        reset: "Retry",
        refused: "FallBack",
        connectTimeout: "FallBack",
        limited: "FallBack",
        serverError: "FallBack"
      })
    })
  )
})
