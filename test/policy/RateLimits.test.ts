import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import type { CallerShape } from "../../src/domain/Caller.ts"
import type { RateLimited } from "../../src/domain/GatewayError.ts"
import { AccountId, KeyId, ProjectId } from "../../src/domain/Ids.ts"
import { type RateLimit, type RateLimitAdmission, RateLimits } from "../../src/policy/RateLimits.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"

const none: RateLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
const callerOf = (key: number, project = 1): CallerShape => ({
  keyId: KeyId.make(uuid(key)),
  projectId: ProjectId.make(uuid(project)),
  accountId: AccountId.make(uuid(1)),
  billingMode: "managed"
})

const withOwn = (caller: CallerShape, key: Partial<RateLimit>): CallerShape => ({
  ...caller,
  rateLimits: { key: { ...none, ...key }, project: null }
})

/** Counted in memory, so that no store can fail. */
interface Limits {
  readonly admit: (caller: CallerShape, tokens: number) => Effect.Effect<RateLimitAdmission, RateLimited>
}

const withLimits = <A, E>(
  limits: { readonly key?: Partial<RateLimit>; readonly project?: Partial<RateLimit> },
  test: (limits: Limits, timers: VirtualTimers.VirtualTimers) => Effect.Effect<A, E>
) => {
  const timers = VirtualTimers.make()
  return Effect.flatMap(RateLimits, ({ admit }) =>
    test({ admit: (caller, tokens) => Effect.catchTag(admit(caller, tokens), "StoreUnavailable", Effect.die) }, timers)
  ).pipe(
    Effect.provide(
      RateLimits.layerMemory({ key: { ...none, ...limits.key }, project: { ...none, ...limits.project } })
    ),
    Effect.provide(VirtualTimers.layerOf(timers))
  )
}

describe("Rate limits", () => {
  it.effect("a minute's requests may come at once, and the next one when a place has grown back", () =>
    withLimits({ key: { requestsPerMinute: 7 } }, (limits, timers) =>
      Effect.gen(function* () {
        for (let i = 0; i < 7; i++) yield* limits.admit(callerOf(1), 0)
        const refused = yield* Effect.flip(limits.admit(callerOf(1), 0))
        expect(refused).toMatchObject({
          _tag: "RateLimited",
          code: "rate_limit_exceeded",
          message: "Rate limit reached: requests per minute of this key.",
          // 60 000 / 7, rounded up to a whole millisecond.
          retryAfterMillis: 8_572
        })
        timers.advance(8_571)
        expect((yield* Effect.flip(limits.admit(callerOf(1), 0))).retryAfterMillis).toBe(1)
        timers.advance(1)
        yield* limits.admit(callerOf(1), 0)
        yield* limits.admit(callerOf(2), 0)
      })
    )
  )

  it.effect("tokens are counted by the request's size", () =>
    withLimits({ key: { tokensPerMinute: 1_000 } }, (limits, timers) =>
      Effect.gen(function* () {
        yield* limits.admit(callerOf(1), 900)
        const refused = yield* Effect.flip(limits.admit(callerOf(1), 200))
        expect(refused.message).toBe("Rate limit reached: tokens per minute of this key.")
        expect(refused.retryAfterMillis).toBe(6_000)
        yield* limits.admit(callerOf(1), 100)
        yield* limits.admit(callerOf(1), 0)
        timers.advance(60_000)
        yield* limits.admit(callerOf(1), 1_000)
      })
    )
  )

  it.effect("a request above a whole minute's tokens is admitted alone, and the next ones wait for it", () =>
    withLimits({ key: { tokensPerMinute: 1_000 } }, (limits, timers) =>
      Effect.gen(function* () {
        yield* limits.admit(callerOf(1), 1)
        const refused = yield* Effect.flip(limits.admit(callerOf(1), 5_000))
        expect(refused.retryAfterMillis).toBe(60)
        timers.advance(60)
        yield* limits.admit(callerOf(1), 5_000)
        expect((yield* Effect.flip(limits.admit(callerOf(1), 1_000))).retryAfterMillis).toBe(300_000)
        expect((yield* Effect.flip(limits.admit(callerOf(1), 1))).retryAfterMillis).toBe(240_060)
      })
    )
  )

  it.effect("a request that one limit rejects does not count with the others", () =>
    withLimits({ key: { requestsPerMinute: 1 }, project: { requestsPerMinute: 2, tokensPerMinute: 100 } }, (limits) =>
      Effect.gen(function* () {
        yield* limits.admit(callerOf(1), 50)
        for (let i = 0; i < 5; i++) yield* Effect.flip(limits.admit(callerOf(1), 50))
        // The project still has one request and 50 tokens.
        expect((yield* Effect.flip(limits.admit(callerOf(2), 51))).message).toContain(
          "tokens per minute of this project"
        )
        yield* limits.admit(callerOf(2), 50)
        expect((yield* Effect.flip(limits.admit(callerOf(3), 0))).message).toContain(
          "requests per minute of this project"
        )
        yield* limits.admit(callerOf(4, 2), 100)
      })
    )
  )

  it.effect.each([
    ["key", { requestsPerMinute: 1 }, { requestsPerMinute: 2 }],
    ["project", { requestsPerMinute: 2 }, { requestsPerMinute: 1 }]
  ] as const)("the longest of several waits is named: that of the %s", ([kind, key, project]) =>
    withLimits({ key: { ...key, concurrentRequests: 1 }, project }, (limits) =>
      Effect.gen(function* () {
        yield* limits.admit(callerOf(1), 0)
        yield* Effect.ignore(limits.admit(callerOf(2), 0))
        const refused = yield* Effect.flip(limits.admit(callerOf(1), 0))
        expect(refused.retryAfterMillis).toBe(60_000)
        expect(refused.message).toContain(`requests per minute of this ${kind}`)
      })
    )
  )

  it.effect("a place among the running requests is free again after its release, once", () =>
    withLimits({ key: { concurrentRequests: 2 } }, (limits, timers) =>
      Effect.gen(function* () {
        const { release } = yield* limits.admit(callerOf(1), 0)
        yield* limits.admit(callerOf(1), 0)
        // However long a request runs, its place is not forgotten.
        timers.advance(3_600_000)
        yield* limits.admit(callerOf(2), 0)
        const refused = yield* Effect.flip(limits.admit(callerOf(1), 0))
        expect(refused.message).toBe("Rate limit reached: concurrent requests of this key.")
        expect(refused.retryAfterMillis).toBe(1_000)
        release()
        release()
        yield* limits.admit(callerOf(1), 0)
        yield* Effect.flip(limits.admit(callerOf(1), 0))
      })
    )
  )

  it.effect("nothing is counted where nothing is limited", () =>
    withLimits({}, (limits) =>
      Effect.gen(function* () {
        const { release, status } = yield* limits.admit(callerOf(1), 1_000_000)
        expect(status).toEqual({ requests: null, tokens: null })
        release()
      })
    )
  )

  it.effect("a request is told what is left of the limit with the least left, and when all of it is there again", () =>
    withLimits({ key: { requestsPerMinute: 10, tokensPerMinute: 600 }, project: { requestsPerMinute: 5 } }, (limits) =>
      Effect.gen(function* () {
        yield* limits.admit(callerOf(1), 100)
        const { status } = yield* limits.admit(callerOf(2), 50)
        expect(status).toEqual({
          requests: { limit: 5, remaining: 3, resetMillis: 24_000 },
          tokens: { limit: 600, remaining: 550, resetMillis: 5_000 }
        })
        const refused = yield* Effect.flip(limits.admit(callerOf(1), 600))
        expect(refused.status?.tokens).toEqual({ limit: 600, remaining: 500, resetMillis: 10_000 })
      })
    )
  )

  it.effect("a caller's own limit of zero admits nothing", () =>
    withLimits({}, (limits) =>
      Effect.gen(function* () {
        const caller = { ...callerOf(1), rateLimits: { key: { ...none, requestsPerMinute: 0 }, project: null } }
        expect((yield* Effect.flip(limits.admit(caller, 0))).retryAfterMillis).toBe(60_000)
      })
    )
  )

  it.effect.each([0, 600_000])(
    "a key whose limit is lowered waits a minute at most, %s ms after its last request",
    (idleMillis) =>
      withLimits({}, (limits, timers) =>
        Effect.gen(function* () {
          for (let i = 0; i < 100; i++) yield* limits.admit(withOwn(callerOf(1), { requestsPerMinute: 200 }), 0)
          timers.advance(idleMillis)
          const lowered = withOwn(callerOf(1), { requestsPerMinute: 2 })
          if (idleMillis === 0) {
            expect((yield* Effect.flip(limits.admit(lowered, 0))).retryAfterMillis).toBe(30_000)
            timers.advance(30_000)
          }
          yield* limits.admit(lowered, 0)
        })
      )
  )

  it.effect("a concurrency limit counts the requests that ran when it was set", () =>
    withLimits({}, (limits) =>
      Effect.gen(function* () {
        const { release } = yield* limits.admit(callerOf(1), 0)
        const limited = withOwn(callerOf(1), { concurrentRequests: 1 })
        yield* Effect.flip(limits.admit(limited, 0))
        release()
        yield* limits.admit(limited, 0)
      })
    )
  )

  it.effect("a limit that is set again after there was none starts with nothing taken", () =>
    withLimits({ project: { requestsPerMinute: 1_000 } }, (limits) =>
      Effect.gen(function* () {
        const limited = withOwn(callerOf(1), { requestsPerMinute: 1 })
        yield* limits.admit(limited, 0)
        yield* limits.admit(callerOf(1), 0)
        yield* limits.admit(limited, 0)
      })
    )
  )

  it("over any time, no more than the limit and one minute's burst pass, and waiting as told always helps", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 1, max: 120_000 })), { minLength: 1, maxLength: 40 }),
        (perMinute, steps) => {
          const passed = Effect.runSync(
            withLimits({ key: { tokensPerMinute: perMinute } }, (limits, timers) =>
              Effect.gen(function* () {
                const start = timers.now()
                let taken = 0
                for (const [pause, tokens] of steps) {
                  timers.advance(pause)
                  const size = Math.min(tokens, perMinute)
                  const wait = yield* Effect.match(limits.admit(callerOf(1), size), {
                    onFailure: (error) => error.retryAfterMillis,
                    onSuccess: () => 0
                  })
                  if (wait > 0) {
                    timers.advance(wait - 1)
                    yield* Effect.flip(limits.admit(callerOf(1), size))
                    timers.advance(1)
                    yield* limits.admit(callerOf(1), size)
                  }
                  taken += size
                  expect(taken * 60_000).toBeLessThanOrEqual(perMinute * (60_000 + timers.now() - start))
                }
                return taken
              })
            )
          )
          expect(passed).toBeGreaterThan(0)
        }
      ),
      { numRuns: 300 }
    )
  })
})
