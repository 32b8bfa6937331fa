// Promise: Health is fair.
import { it as effectIt } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import { CredentialId } from "../../src/domain/Ids.ts"
import { ProviderError, type ProviderFailure } from "../../src/domain/ProviderError.ts"
import { intersectPolicies } from "../../src/policy/EffectivePolicy.ts"
import { choose } from "../../src/routing/CredentialChoice.ts"
import { Health, type HealthShape, make } from "../../src/routing/Health.ts"
import { rank } from "../../src/routing/Router.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { controls, expected, model, project, request } from "./models.ts"

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
    /** For how many milliseconds the circuit is still open. */
    openMillis: (one = large) => Math.max(0, health.of(one).openUntilMillis - timers.now()),
    elapsed: () => timers.now() - since
  }
}

/** The same, whether all routes are asked about or those of which something is known. */
const order = (health: HealthShape, nowMillis: number) => {
  const ids = orderBy(health, nowMillis, undefined)
  expect(orderBy(health, nowMillis, health.knownIn)).toEqual(ids)
  return ids
}

const orderBy = (health: HealthShape, nowMillis: number, knownIn: HealthShape["knownIn"] | undefined) => {
  const ranked = rank({
    snapshot: makeSnapshot([large, small, other]),
    policy: intersectPolicies(project({ defaultAlpha: 1 }), null, controls()),
    request: request(),
    ...expected(request(), 10),
    health: health.of,
    knownIn,
    nowMillis,
    billingMode: "managed"
  })
  return Either.getOrThrow(ranked)
    .candidates.all()
    .map((one) => one.model.id)
}

describe("The expected failure of a route", () => {
  it("one attempt in twenty is expected to fail at an unknown route", () => {
    expect(start().health.of(large)).toEqual({ failure: 0.05, openUntilMillis: 0, latencyMillis: null })
  })

  it("the expected failure rises with failures, falls with successes, and outcomes lose half their weight in a minute", () => {
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

  it("failures of one model do not count for another one", () => {
    const { fails, health, openMillis } = start()
    fails(serverError, 5)
    expect(openMillis()).toBe(30_000)
    expect(health.of(small)).toEqual({ failure: 0.05, openUntilMillis: 0, latencyMillis: null })
  })
})

describe("A provider that cannot be reached", () => {
  it("is passed over with all of its routes, also those that nobody has tried", () => {
    const { fails, health, timers } = start()
    expect(order(health, timers.now())[0]).toBe("acme/large")
    fails(refused, 5, small)
    expect(order(health, timers.now())).toEqual(["beta/large", "acme/large", "acme/small"])
  })
})

describe("Failures that are the client's fault", () => {
  it("a hundred content refusals, rejections, long prompts and deadlines do not change the health of a route", () => {
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

describe("What the machine of the gateway lacks", () => {
  it("a hundred connections for which no socket was left do not change the health of a route", () => {
    const { fails, health, timers } = start()
    health.succeeded(large, 500)
    const before = health.of(large)
    for (const detail of ["open-files", "local-ports", "memory"] as const) {
      fails(fault({ _tag: "NoSocket", detail }), 100)
    }
    expect(health.of(large)).toEqual(before)
    expect(order(health, timers.now())[0]).toBe("acme/large")
  })
})

describe("The circuit of a route", () => {
  it("a circuit opens after five consecutive failures, not after four", () => {
    const { fails, openMillis } = start()
    fails(serverError, 4)
    expect(openMillis()).toBe(0)
    fails(serverError, 1)
    expect(openMillis()).toBe(30_000)
  })

  it("a route with an open circuit is avoided, and used again 30 s later once it succeeds", () => {
    const { fails, health, timers } = start()
    expect(order(health, timers.now())).toEqual(["acme/large", "beta/large", "acme/small"])
    fails(serverError, 50)
    expect(order(health, timers.now())).toEqual(["beta/large", "acme/small", "acme/large"])
    timers.advance(29_999)
    expect(order(health, timers.now())[0]).toBe("beta/large")
    timers.advance(1)
    expect(order(health, timers.now())[0]).toBe("acme/large")
  })

  it("a route is kept when all other circuits are open too", () => {
    const { fails, health, timers } = start()
    for (const one of [large, small, other]) fails(serverError, 5, one)
    expect(order(health, timers.now())).toEqual(["acme/large", "beta/large", "acme/small"])
  })

  it("a success between failures ends their row", () => {
    const { fails, health, openMillis } = start()
    for (let n = 0; n < 3; n++) {
      fails(serverError, 4)
      for (let m = 0; m < 9; m++) health.succeeded(large, 100)
    }
    expect(openMillis()).toBe(0)
  })

  it("a circuit opens when more than half of twenty attempts within 30 s failed, in any order", () => {
    const { fails, health, openMillis } = start()
    for (let n = 0; n < 9; n++) {
      fails(serverError, 1)
      health.succeeded(large, 100)
    }
    fails(serverError, 1)
    expect(openMillis()).toBe(0)
    fails(serverError, 1)
    expect(openMillis()).toBe(30_000)
  })

  it("a circuit does not open for the same failures spread over more than 30 s", () => {
    const { fails, health, openMillis, timers } = start()
    for (let n = 0; n < 40; n++) {
      fails(serverError, 2)
      health.succeeded(large, 100)
      timers.advance(5_000)
    }
    expect(openMillis()).toBe(0)
  })

  it("a half-open circuit opens for longer with each failure, up to 300 s", () => {
    const { fails, openMillis, timers } = start()
    fails(serverError, 5)
    const periods = [openMillis()]
    for (let n = 0; n < 11; n++) {
      timers.advance(openMillis())
      fails(serverError, 1)
      periods.push(openMillis())
    }
    expect(periods.map((millis) => millis / 1_000)).toEqual([30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300])
  })

  it("a circuit that was opened by its share of failures is half-open after its open period too", () => {
    const { fails, health, openMillis, timers } = start()
    for (let n = 0; n < 11; n++) {
      health.succeeded(large, 100)
      fails(serverError, n === 10 ? 3 : 1)
    }
    expect(openMillis()).toBe(30_000)
    timers.advance(30_000)
    fails(serverError, 1)
    expect(openMillis()).toBe(60_000)
  })

  it("a circuit closes after one success of the half-open probe", () => {
    const { fails, health, openMillis, timers } = start()
    fails(serverError, 5)
    timers.advance(30_000)
    fails(serverError, 1)
    timers.advance(60_000)
    health.succeeded(large, 100)
    fails(serverError, 4)
    expect(openMillis()).toBe(0)
    fails(serverError, 1)
    expect(openMillis()).toBe(30_000)
  })

  it("one call at a time probes a half-open circuit; the others keep away until the probe is decided", () => {
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

  it("a half-open circuit is probed again after five seconds when the first probe does not end", () => {
    const { fails, health, openMillis, timers } = start()
    fails(serverError, 5)
    timers.advance(30_000)
    health.attempted(large)
    expect(openMillis()).toBe(5_000)
    timers.advance(4_999)
    health.attempted(large)
    expect(openMillis()).toBe(1)
    timers.advance(1)
    expect(openMillis()).toBe(0)
    health.attempted(large)
    fails(serverError, 1)
    expect(openMillis()).toBe(60_000)
  })

  it("a circuit is not half-open any more when its last outcome is forgotten", () => {
    const { fails, openMillis, timers } = start()
    fails(serverError, 5)
    timers.advance(3_600_000)
    fails(serverError, 4)
    expect(openMillis()).toBe(0)
    fails(serverError, 1)
    expect(openMillis()).toBe(30_000)
  })

  it("failures of calls that were running when a circuit opened do not count", () => {
    const { fails, health, openMillis, timers } = start()
    fails(serverError, 200)
    expect(openMillis()).toBe(30_000)
    timers.advance(30_000)
    expect(health.of(large).failure).toBeCloseTo(0.05)
  })

  it("a success of a call that was running when a circuit opened does not shorten the next open period", () => {
    const { fails, health, openMillis, timers } = start()
    fails(serverError, 5)
    timers.advance(10_000)
    health.succeeded(large, 100)
    expect(openMillis()).toBe(20_000)
    timers.advance(20_000)
    fails(serverError, 5)
    expect(openMillis()).toBe(60_000)
  })

  it("a circuit is half-open after its open period also where a call that was running has succeeded meanwhile", () => {
    const { fails, health, openMillis, timers } = start()
    fails(serverError, 5)
    timers.advance(10_000)
    health.succeeded(large, 100)
    timers.advance(20_000)
    expect(openMillis()).toBe(0)
    health.attempted(large)
    expect(openMillis()).toBe(5_000)
    fails(serverError, 1)
    expect(openMillis()).toBe(60_000)
  })

  it("an empty answer counts as half a failure", () => {
    const { fails, openMillis } = start()
    fails(empty, 9)
    expect(openMillis()).toBe(0)
    fails(empty, 1)
    expect(openMillis()).toBe(30_000)
  })
})

describe("A provider that cannot be reached", () => {
  it("the circuits of all routes of an unreachable provider open, and no others", () => {
    const { fails, openMillis } = start()
    fails(refused, 2, large)
    fails(refused, 3, small)
    expect({ large: openMillis(large), small: openMillis(small), other: openMillis(other) }).toEqual({
      large: 30_000,
      small: 30_000,
      other: 0
    })
  })

  it("a success on any route closes the circuits of an unreachable provider", () => {
    const { fails, health, openMillis } = start()
    fails(refused, 4, large)
    health.succeeded(small, 100)
    fails(refused, 4, large)
    expect(openMillis(large)).toBe(0)
  })
})

describe("A rate limit", () => {
  it("a rate limit keeps calls from the route until the named time, and does not count as a failure", () => {
    const { fails, health, openMillis } = start()
    fails(limited(12_000), 1)
    expect(openMillis()).toBe(12_000)
    expect(openMillis(small)).toBe(0)
    expect(health.of(large).failure).toBe(0.05)
  })

  it("a later rate limit never shortens an earlier one", () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.integer({ min: -5, max: 100_000 })), { minLength: 1 }), (named) => {
        const { fails, health, timers } = start()
        let end = 0
        for (const millis of named) {
          fails(limited(millis), 1)
          const { openUntilMillis } = health.of(large)
          expect(openUntilMillis === 0 || openUntilMillis >= end).toBe(true)
          end = Math.max(end, openUntilMillis)
          timers.advance(1)
        }
      })
    )
  })

  it("a rate limit without a time lasts 5 s, doubles up to 60 s while it goes on, and is 5 s again after a success", () => {
    const { fails, health, openMillis, timers } = start()
    const periods: Array<number> = []
    for (let n = 0; n < 6; n++) {
      fails(limited(null), 1)
      periods.push(openMillis())
      timers.advance(openMillis())
    }
    expect(periods).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
    health.succeeded(large, 100)
    fails(limited(null), 1)
    expect(openMillis()).toBe(5_000)
  })

  it("many calls that are limited at once cause one cool-down", () => {
    const { fails, openMillis, timers } = start()
    fails(limited(null), 50)
    expect(openMillis()).toBe(5_000)
    timers.advance(5_000)
    fails(limited(null), 1)
    expect(openMillis()).toBe(10_000)
  })

  it("a cool-down is shortened by up to a quarter, so that nodes do not return together", () => {
    const { fails, openMillis } = start(() => 1)
    fails(limited(null), 1)
    expect(openMillis()).toBe(3_750)
  })

  it("a rate limit lasts one hour at most", () => {
    const { fails, openMillis } = start()
    fails(limited(86_400_000), 1)
    expect(openMillis()).toBe(3_600_000)
  })

  it("an overloaded provider that names a time is avoided at once, one that does not after five failures", () => {
    const { fails, openMillis } = start()
    fails(fault({ _tag: "Overloaded", retryAfterMillis: 7_000 }), 1)
    expect(openMillis(large)).toBe(7_000)
    fails(fault({ _tag: "Overloaded", retryAfterMillis: null }), 1, small)
    expect(openMillis(small)).toBe(0)
  })
})

describe("Failures that last", () => {
  it("what is known of a project's credential ends with its secret", () => {
    const { health, timers } = start()
    const id = CredentialId.make("018f0000-0000-7000-8000-000000000001")
    const own = (version: string) => [
      { id, providerId: "acme", secret: Redacted.make(`secret ${version}`), version, allowedModels: null }
    ]
    const millis = () => Math.max(0, health.of(large, id).openUntilMillis - timers.now())
    choose(own("1"), health)
    health.failed(large, fault({ _tag: "CredentialRejected" }), id)
    health.failed(small, limited(60_000), id)
    timers.advance(10_000)
    choose(own("1"), health)
    expect(millis()).toBe(290_000)
    choose(own("2"), health)
    expect(millis()).toBe(0)
    expect(health.of(small, id).openUntilMillis).toBe(0)
    health.failed(large, fault({ _tag: "CredentialRejected" }), id)
    choose(own("2"), health)
    expect(millis()).toBe(300_000)
  })

  it("of two credentials the one that is out for the shorter time is used, and not a rejected one while both wait", () => {
    const { fails, health, timers } = start()
    const [one, two] = ["1", "2"].map((n) => ({
      id: CredentialId.make(`018f0000-0000-7000-8000-00000000000${n}`),
      providerId: "acme",
      secret: Redacted.make(n),
      version: "1",
      allowedModels: null
    }))
    if (one === undefined || two === undefined) throw new Error("there are two")
    const chosen = () => choose([one, two], health)(large)?.secret
    expect(chosen()).toBe(one.secret)
    health.failed(large, fault({ _tag: "CredentialRejected" }), one.id)
    expect(chosen()).toBe(two.secret)
    health.failed(large, limited(2_000), two.id)
    expect(chosen()).toBe(two.secret)
    timers.advance(299_000)
    // what concerns both ends last
    fails(serverError, 5)
    expect(chosen()).toBe(two.secret)
    timers.advance(30_000)
    expect(chosen()).toBe(one.secret)
  })

  it("a call that began before its provider or its credential was changed says nothing about what there is now", () => {
    const { health, timers } = start()
    const id = CredentialId.make("018f0000-0000-7000-8000-000000000001")
    const own = (version: string) => [
      { id, providerId: "acme", secret: Redacted.make(`secret ${version}`), version, allowedModels: null }
    ]
    const rejected = fault({ _tag: "CredentialRejected" })
    choose(own("1"), health)
    const before = timers.now()
    timers.advance(1)
    choose(own("2"), health)
    health.forget("acme")
    health.failed(large, rejected, id, before)
    health.failed(large, rejected, null, before)
    expect(health.of(large, id).openUntilMillis).toBe(0)
    expect(health.of(large).openUntilMillis).toBe(0)
    health.failed(other, fault({ _tag: "CredentialRejected" }), null, before)
    expect(health.of(other).openUntilMillis).toBeGreaterThan(0)
    health.failed(large, rejected, id, timers.now())
    expect(health.of(large, id).openUntilMillis).toBeGreaterThan(0)
    expect(health.of(large).openUntilMillis).toBe(0)
    health.failed(large, rejected, null, timers.now())
    expect(health.of(large).openUntilMillis).toBeGreaterThan(0)
  })

  it("a success of a call that began before its provider was changed is none of the provider that there is now", () => {
    const { fails, health, timers } = start()
    const before = timers.now()
    timers.advance(1)
    health.forget("acme")
    fails(serverError, 4)
    health.succeeded(large, 10, null, before)
    expect(health.of(large).latencyMillis).toBeNull()
    fails(serverError, 1)
    expect(health.of(large).openUntilMillis).toBeGreaterThan(0)
    timers.advance(30_000)
    health.attempted(large)
    health.succeeded(large, 10, null, timers.now())
    expect(health.of(large)).toMatchObject({ openUntilMillis: 0, latencyMillis: 10 })
  })

  it("a rejected credential opens the circuit of the whole provider for five minutes, then it is probed", () => {
    for (const reason of [{ _tag: "CredentialRejected" }, { _tag: "QuotaExhausted" }] as const) {
      const { fails, health, openMillis, timers } = start()
      fails(fault(reason), 1)
      expect({ large: openMillis(large), small: openMillis(small), other: openMillis(other) }).toEqual({
        large: 300_000,
        small: 300_000,
        other: 0
      })
      expect(health.of(small).failure).toBe(1)
      timers.advance(300_000)
      expect(health.of(small)).toMatchObject({ failure: 0.05, openUntilMillis: 0 })
      fails(fault(reason), 1)
      expect(openMillis(small)).toBe(300_000)
    }
  })

  it("a route that is not listed opens only its own circuit", () => {
    const unlisted = model("acme/own", { listed: false })
    const { fails, openMillis } = start()
    fails(fault({ _tag: "CredentialRejected" }), 1, unlisted)
    fails(refused, 5, model("acme/mine", { listed: false }))
    expect(openMillis(unlisted)).toBe(300_000)
    expect(openMillis(large)).toBe(0)
  })

  it("a model that is gone is avoided for an hour, alone", () => {
    const { fails, openMillis } = start()
    fails(fault({ _tag: "ModelGone" }), 1)
    expect({ large: openMillis(large), small: openMillis(small) }).toEqual({ large: 3_600_000, small: 0 })
  })
})

describe("Latency", () => {
  it("the latency of a route follows what is measured, slowly", () => {
    const { health } = start()
    health.succeeded(large, 1_000)
    expect(health.of(large).latencyMillis).toBe(1_000)
    health.succeeded(large, 2_000)
    expect(health.of(large).latencyMillis).toBe(1_200)
    for (let n = 0; n < 50; n++) health.succeeded(large, 2_000)
    expect(health.of(large).latencyMillis).toBeCloseTo(2_000, 0)
  })
})

describe("The service", () => {
  it("the oldest routes are forgotten when there are too many", () => {
    const { fails, health } = start()
    fails(fault({ _tag: "ModelGone" }), 1)
    for (let n = 0; n < 9_998; n++) health.succeeded(model(`acme/${n}`), 1)
    expect(health.of(large).failure).toBe(1)
    health.succeeded(model("acme/last"), 1)
    expect(health.of(large).failure).toBe(0.05)
  })

  const jittered = Effect.gen(function* () {
    const timers = VirtualTimers.make()
    return yield* Effect.provide(
      Effect.map(Health, (health) => {
        health.failed(large, limited(null))
        return health.of(large).openUntilMillis - timers.now()
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
