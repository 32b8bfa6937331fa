import { it as effectIt } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import { ProviderError, type ProviderFailure } from "../../src/domain/ProviderError.ts"
import { narrow } from "../../src/policy/Narrow.ts"
import { Health, type HealthShape, make } from "../../src/routing/Health.ts"
import { rank } from "../../src/routing/Router.ts"
import * as VirtualTimers from "../../src/testing/VirtualTimers.ts"
import { controls, model, project, request } from "./models.ts"

const large = model("acme/large", { quality: 0.9 })
const small = model("acme/small", { quality: 0.6 })
const other = model("beta/large", { quality: 0.8 })

const fault = (reason: ProviderFailure): ProviderError => new ProviderError({ providerId: "acme", reason })
const serverError = fault({ _tag: "ServerError", status: 500 })
const refused = fault({ _tag: "Unreachable", detail: "refused" })
const limited = (retryAfterMillis: number | null) => fault({ _tag: "RateLimited", retryAfterMillis })
const empty = fault({ _tag: "EmptyCompletion" })

const start = (random: () => number = () => 0) => {
  const timers = VirtualTimers.make()
  const health = make(timers, random)
  const since = timers.now()
  return {
    timers,
    health,
    fails: (error: ProviderError, times: number, one = large) => {
      for (let n = 0; n < times; n++) health.failed(one, error)
    },
    /** Milliseconds of rest that are left. */
    rest: (one = large) => Math.max(0, health.of(one).restingUntilMillis - timers.now()),
    elapsed: () => timers.now() - since
  }
}

const order = (health: HealthShape, nowMillis: number) => {
  const ranked = rank({
    snapshot: makeSnapshot([large, small, other]),
    allowed: narrow(project({ defaultAlpha: 1 }), null, controls()),
    request: request(),
    promptTokens: 10,
    health: health.of,
    nowMillis,
    billingMode: "managed"
  })
  return Either.getOrThrow(ranked).candidates.map((one) => one.model.id)
}

describe("the odds of failure", () => {
  it("are one in twenty for a route that nothing is known about", () => {
    expect(start().health.of(large)).toEqual({ failure: 0.05, restingUntilMillis: 0, latencyMillis: null })
  })

  it("rise with failures, fall with successes, and fade by half in a minute", () => {
    const { fails, health, timers } = start()
    fails(serverError, 4)
    expect(health.of(large).failure).toBeCloseTo(5 / 24)
    timers.advance(60_000)
    expect(health.of(large).failure).toBeCloseTo(3 / 22)
    for (let n = 0; n < 20; n++) health.succeeded(large, 100)
    expect(health.of(large).failure).toBeCloseTo(3 / 42)
    timers.advance(3_600_000)
    expect(health.of(large).failure).toBeCloseTo(0.05)
  })

  it("are the route's own: what fails at one model does not count for another", () => {
    const { fails, health, rest } = start()
    fails(serverError, 5)
    expect(rest()).toBe(30_000)
    expect(health.of(small)).toEqual({ failure: 0.05, restingUntilMillis: 0, latencyMillis: null })
  })
})

describe("what is the client's own fault", () => {
  it("a hundred content refusals, rejections, long prompts and deadlines change nothing", () => {
    const { fails, health } = start()
    health.succeeded(large, 500)
    const before = health.of(large)
    fails(fault({ _tag: "ContentPolicy", message: "no" }), 100)
    fails(fault({ _tag: "RequestRejected", message: "no", param: null }), 100)
    fails(fault({ _tag: "ContextLengthExceeded", message: "no" }), 100)
    fails(fault({ _tag: "RequestTimeout" }), 100)
    expect(health.of(large)).toEqual(before)
  })
})

describe("a route that fails", () => {
  it("rests after five failures in a row, not after four", () => {
    const { fails, rest } = start()
    fails(serverError, 4)
    expect(rest()).toBe(0)
    fails(serverError, 1)
    expect(rest()).toBe(30_000)
  })

  it("is left by the next call, and used again 30 s later once it is well", () => {
    const { fails, health, timers } = start()
    expect(order(health, timers.now())).toEqual(["acme/large", "beta/large", "acme/small"])
    fails(serverError, 50)
    expect(order(health, timers.now())).toEqual(["beta/large", "acme/small", "acme/large"])
    timers.advance(29_999)
    expect(order(health, timers.now())[0]).toBe("beta/large")
    timers.advance(1)
    expect(order(health, timers.now())[0]).toBe("acme/large")
  })

  it("is kept when all the others rest too", () => {
    const { fails, health, timers } = start()
    for (const one of [large, small, other]) fails(serverError, 5, one)
    expect(order(health, timers.now())).toEqual(["acme/large", "beta/large", "acme/small"])
  })

  it("is back in order by one success between the failures", () => {
    const { fails, health, rest } = start()
    for (let n = 0; n < 3; n++) {
      fails(serverError, 4)
      for (let m = 0; m < 9; m++) health.succeeded(large, 100)
    }
    expect(rest()).toBe(0)
  })

  it("rests when more than half of twenty within 30 s failed, in whatever order", () => {
    const { fails, health, rest } = start()
    for (let n = 0; n < 9; n++) {
      fails(serverError, 1)
      health.succeeded(large, 100)
    }
    fails(serverError, 1)
    expect(rest()).toBe(0)
    fails(serverError, 1)
    expect(rest()).toBe(30_000)
  })

  it("does not rest for the same failures spread over more than 30 s", () => {
    const { fails, health, rest, timers } = start()
    for (let n = 0; n < 40; n++) {
      fails(serverError, 2)
      health.succeeded(large, 100)
      timers.advance(5_000)
    }
    expect(rest()).toBe(0)
  })

  it("is on trial after its rest: one failure puts it out for longer each time, up to 300 s", () => {
    const { fails, rest, timers } = start()
    fails(serverError, 5)
    const rests = [rest()]
    for (let n = 0; n < 11; n++) {
      timers.advance(rest())
      fails(serverError, 1)
      rests.push(rest())
    }
    expect(rests.map((millis) => millis / 1_000)).toEqual([30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300])
  })

  it("is on trial too when it was put out by its share of failures", () => {
    const { fails, health, rest, timers } = start()
    for (let n = 0; n < 11; n++) {
      health.succeeded(large, 100)
      fails(serverError, n === 10 ? 3 : 1)
    }
    expect(rest()).toBe(30_000)
    timers.advance(30_000)
    fails(serverError, 1)
    expect(rest()).toBe(60_000)
  })

  it("is whole again after one success on trial", () => {
    const { fails, health, rest, timers } = start()
    fails(serverError, 5)
    timers.advance(30_000)
    fails(serverError, 1)
    timers.advance(60_000)
    health.succeeded(large, 100)
    fails(serverError, 4)
    expect(rest()).toBe(0)
    fails(serverError, 1)
    expect(rest()).toBe(30_000)
  })

  it("is tried by one call at a time after its rest; the others keep away until that one has its answer", () => {
    const { fails, health, timers } = start()
    fails(serverError, 5)
    timers.advance(30_000)
    expect(order(health, timers.now())[0]).toBe("acme/large")
    health.attempted(large)
    expect(order(health, timers.now())[0]).toBe("beta/large")
    health.succeeded(large, 100)
    expect(order(health, timers.now())[0]).toBe("acme/large")
    health.attempted(large)
    expect(order(health, timers.now())[0]).toBe("acme/large")
  })

  it("gets another trial after five seconds when the first one has no end", () => {
    const { fails, health, rest, timers } = start()
    fails(serverError, 5)
    timers.advance(30_000)
    health.attempted(large)
    expect(rest()).toBe(5_000)
    timers.advance(4_999)
    health.attempted(large)
    expect(rest()).toBe(1)
    timers.advance(1)
    expect(rest()).toBe(0)
    health.attempted(large)
    fails(serverError, 1)
    expect(rest()).toBe(60_000)
  })

  it("is not held to a trial that nobody remembers", () => {
    const { fails, rest, timers } = start()
    fails(serverError, 5)
    timers.advance(3_600_000)
    fails(serverError, 4)
    expect(rest()).toBe(0)
    fails(serverError, 1)
    expect(rest()).toBe(30_000)
  })

  it("is not punished for calls that were under way when it was put out", () => {
    const { fails, health, rest, timers } = start()
    fails(serverError, 200)
    expect(rest()).toBe(30_000)
    timers.advance(30_000)
    expect(health.of(large).failure).toBeCloseTo(0.05)
  })

  it("an answer without content counts half", () => {
    const { fails, rest } = start()
    fails(empty, 9)
    expect(rest()).toBe(0)
    fails(empty, 1)
    expect(rest()).toBe(30_000)
  })
})

describe("a provider that cannot be reached", () => {
  it("rests with all its routes, and no other", () => {
    const { fails, rest } = start()
    fails(refused, 2, large)
    fails(refused, 3, small)
    expect([rest(large), rest(small), rest(other)]).toEqual([30_000, 30_000, 0])
  })

  it("is reached again by a success on any route", () => {
    const { fails, health, rest } = start()
    fails(refused, 4, large)
    health.succeeded(small, 100)
    fails(refused, 4, large)
    expect(rest(large)).toBe(0)
  })
})

describe("a rate limit", () => {
  it("rests the route until the named time, without doubt about its quality", () => {
    const { fails, health, rest } = start()
    fails(limited(12_000), 1)
    expect(rest()).toBe(12_000)
    expect(rest(small)).toBe(0)
    expect(health.of(large).failure).toBe(0.05)
  })

  it("only ever moves its end forward", () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: -5, max: 100_000 })), { minLength: 1 }), (named) => {
        const { fails, health, timers } = start()
        let end = 0
        for (const millis of named) {
          fails(limited(millis), 1)
          const { restingUntilMillis } = health.of(large)
          expect(restingUntilMillis === 0 || restingUntilMillis >= end).toBe(true)
          end = Math.max(end, restingUntilMillis)
          timers.advance(1)
        }
      })
    )
  })

  it("without a time is 5 s, doubling to 60 s while it goes on, back to 5 s after a success", () => {
    const { fails, health, rest, timers } = start()
    const rests: Array<number> = []
    for (let n = 0; n < 6; n++) {
      fails(limited(null), 1)
      rests.push(rest())
      timers.advance(rest())
    }
    expect(rests).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
    health.succeeded(large, 100)
    fails(limited(null), 1)
    expect(rest()).toBe(5_000)
  })

  it("of many calls at once is one cool-down", () => {
    const { fails, rest, timers } = start()
    fails(limited(null), 50)
    expect(rest()).toBe(5_000)
    timers.advance(5_000)
    fails(limited(null), 1)
    expect(rest()).toBe(10_000)
  })

  it("is shortened by up to a quarter, so that nodes do not come back in step", () => {
    const { fails, rest } = start(() => 1)
    fails(limited(null), 1)
    expect(rest()).toBe(3_750)
  })

  it("is not believed for longer than an hour", () => {
    const { fails, rest } = start()
    fails(limited(86_400_000), 1)
    expect(rest()).toBe(3_600_000)
  })

  it("an overloaded provider that names a time rests at once, one that does not after five", () => {
    const { fails, rest } = start()
    fails(fault({ _tag: "Overloaded", retryAfterMillis: 7_000 }), 1)
    expect(rest(large)).toBe(7_000)
    fails(fault({ _tag: "Overloaded", retryAfterMillis: null }), 1, small)
    expect(rest(small)).toBe(0)
  })
})

describe("what is out for long", () => {
  it("a refused credential takes out the whole provider for five minutes, then it has its trial", () => {
    for (const reason of [{ _tag: "CredentialRejected" }, { _tag: "QuotaExhausted" }] as const) {
      const { fails, health, rest, timers } = start()
      fails(fault(reason), 1)
      expect([rest(large), rest(small), rest(other)]).toEqual([300_000, 300_000, 0])
      expect(health.of(small).failure).toBe(1)
      timers.advance(300_000)
      expect(health.of(small)).toMatchObject({ failure: 0.05, restingUntilMillis: 0 })
      fails(fault(reason), 1)
      expect(rest(small)).toBe(300_000)
    }
  })

  it("a model that is gone rests for an hour, alone", () => {
    const { fails, rest } = start()
    fails(fault({ _tag: "ModelGone" }), 1)
    expect([rest(large), rest(small)]).toEqual([3_600_000, 0])
  })
})

describe("latency", () => {
  it("follows what is measured, slowly", () => {
    const { health } = start()
    health.succeeded(large, 1_000)
    expect(health.of(large).latencyMillis).toBe(1_000)
    health.succeeded(large, 2_000)
    expect(health.of(large).latencyMillis).toBe(1_200)
    for (let n = 0; n < 50; n++) health.succeeded(large, 2_000)
    expect(health.of(large).latencyMillis).toBeCloseTo(2_000, 0)
  })
})

describe("the service", () => {
  it("forgets the oldest routes rather than grow for ever", () => {
    const { fails, health } = start()
    fails(fault({ _tag: "ModelGone" }), 1)
    for (let n = 0; n < 9_999; n++) health.succeeded(model(`acme/${n}`), 1)
    expect(health.of(large).failure).toBe(1)
    health.succeeded(model("acme/last"), 1)
    expect(health.of(large).failure).toBe(0.05)
  })

  const jittered = Effect.gen(function* () {
    const timers = VirtualTimers.make()
    return yield* Effect.provide(
      Effect.map(Health, (health) => {
        health.failed(large, limited(null))
        return health.of(large).restingUntilMillis - timers.now()
      }),
      Layer.provide(Health.layer, VirtualTimers.layerOf(timers))
    )
  })

  effectIt.effect("draws its jitter from Random, so that a scripted run repeats exactly", () =>
    Effect.gen(function* () {
      const drawn = (seed: string) => Effect.withRandom(jittered, Random.make(seed))
      const first = yield* drawn("one")
      expect(first).toBeGreaterThanOrEqual(3_750)
      expect(first).toBeLessThanOrEqual(5_000)
      expect(yield* drawn("one")).toBe(first)
      expect(yield* drawn("another")).not.toBe(first)
    })
  )
})
