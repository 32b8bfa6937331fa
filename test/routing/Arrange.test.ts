import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import type { Model } from "../../src/domain/Model.ts"
import { intersectPolicies } from "../../src/policy/EffectivePolicy.ts"
import type { Affinity } from "../../src/routing/Arrange.ts"
import { type RankContext, rank } from "../../src/routing/Router.ts"
import { controls, expected, healthy, model, prices, project, request } from "./models.ts"

const ranked = (models: ReadonlyArray<Model>, alpha: number, more: Partial<RankContext> = {}) =>
  Either.getOrThrow(
    rank({
      snapshot: makeSnapshot(models),
      policy: intersectPolicies(project({ defaultAlpha: alpha }), null, controls()),
      request: request(),
      ...expected(request(), 1_000),
      health: () => healthy,
      nowMillis: 0,
      billingMode: "managed",
      ...more
    })
  )
const first = (...args: Parameters<typeof ranked>) => ranked(...args).candidates.first.model.id

const cheap = model("acme/cheap", { quality: 0.6, prices: prices(1_000_000, 4_000_000) })
const near = model("beta/near", { quality: 0.61, prices: prices(1_010_000, 4_040_000) })
const best = model("cera/best", { quality: 0.9, prices: prices(20_000_000, 80_000_000) })
const at = (modelId: string, more: Partial<Affinity> = {}): Partial<RankContext> => ({
  affinity: { modelId, cachedTokens: 0, inToolLoop: false, ...more }
})

describe("A model that has answered the conversation before", () => {
  it("answers it again while it is about as good as the first, and not when another is clearly better", () => {
    const [winner, close] = ranked([cheap, near, best], 0.3)
      .candidates.all()
      .map((one) => one.model.id)
    expect(new Set([winner, close])).toEqual(new Set(["acme/cheap", "beta/near"]))
    expect(first([cheap, near, best], 0.3, at(close ?? ""))).toBe(close)
    expect(first([cheap, near, best], 0.3, at(winner ?? ""))).toBe(winner)
    expect(first([cheap, near, best], 0.95, at("acme/cheap"))).toBe("cera/best")
  })

  it("changes nothing at alpha 0 and 1, where only cost or quality counts", () => {
    expect(first([cheap, near], 0, at("beta/near"))).toBe("acme/cheap")
    expect(first([cheap, near], 1, at("acme/cheap"))).toBe("beta/near")
  })

  it("gets the results of the tools that it has called at any alpha, unless its calls fail", () => {
    const loop = at("acme/cheap", { inToolLoop: true })
    expect(ranked([cheap, near, best], 1, loop)).toMatchObject({ reason: "sticky_session" })
    expect(first([cheap, near, best], 1, loop)).toBe("acme/cheap")
    const failing = { ...loop, health: ({ id }: Model) => ({ ...healthy, failure: id === "acme/cheap" ? 0.9 : 0.05 }) }
    expect(first([cheap, near, best], 1, failing)).toBe("cera/best")
  })

  it("is as much cheaper as its provider's cache makes it", () => {
    const cached = model("acme/cached", {
      quality: 0.6,
      prices: { ...prices(2_000_000, 4_000_000), cacheRead: 100_000 }
    })
    expect(first([cheap, cached], 0)).toBe("acme/cheap")
    expect(ranked([cheap, cached], 0, at("acme/cached", { cachedTokens: 900 })).candidates.first).toMatchObject({
      model: { id: "acme/cached" }
    })
    expect(ranked([cheap, cached], 0, at("acme/cached", { cachedTokens: 900 })).reason).toBe("cache_affinity")
  })
})

describe("Routes to one model that are equal", () => {
  it("are chosen for the same reason, whichever is drawn", () => {
    const routes = ["acme/twin", "beta/twin"].map((id) => model(id))
    for (const draw of [0, 0.4, 0.6, 0.99]) {
      expect(ranked(routes, 0.5, { draw, load: () => 0 })).toMatchObject({
        reason: "quality_cost_tradeoff",
        resting: []
      })
    }
  })

  const routes = ["a", "b", "c", "d"].map((provider) => model(`${provider}/m`, { alias: "m" }))

  it("share its calls by their load, whichever two are compared", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 0.999_999, noNaN: true }), (draw) => {
        const loads: Record<string, number> = { "a/m": 3, "b/m": 2, "c/m": 1, "d/m": 0 }
        const chosen = first(routes, 0.5, { draw, load: ({ id }) => loads[id] ?? 0 })
        // the most loaded one is never the lesser of two
        expect(chosen).not.toBe("a/m")
      })
    )
    const chosen = new Set([0.05, 0.3, 0.55, 0.8].map((draw) => first(routes, 0.5, { draw, load: () => 0 })))
    expect(chosen.size).toBe(4)
  })

  it("come first as often as their propensity says", () => {
    const loads: Record<string, number> = { "a/m": 2, "b/m": 1, "c/m": 1, "d/m": 0 }
    const load = ({ id }: Model): number => loads[id] ?? 0
    const times = new Map<string, number>()
    const propensities = new Map<string, number>()
    const draws = 12_000
    for (let at = 0; at < draws; at++) {
      const { candidates, propensity } = ranked(routes, 0.5, { draw: (at + 0.5) / draws, load })
      const { id } = candidates.first.model
      times.set(id, (times.get(id) ?? 0) + 1)
      propensities.set(id, propensity)
    }
    expect(propensities).toEqual(
      new Map([
        ["b/m", 0.25],
        ["c/m", 0.25],
        ["d/m", 0.5]
      ])
    )
    for (const [id, propensity] of propensities) expect((times.get(id) ?? 0) / draws).toBeCloseTo(propensity, 3)
  })

  it("are left to no chance where a conversation stays with one of them", () => {
    const drawn = { draw: 0.9, load: () => 0 }
    expect(ranked(routes, 0.5, { ...drawn, ...at("b/m") })).toMatchObject({ propensity: 1 })
    expect(ranked(routes, 0.5, drawn).propensity).toBeCloseTo(0.25)
    expect(ranked([cheap, best], 0.5, drawn).propensity).toBe(1)
  })

  it("are not preferred over a cheaper one, however loaded that is", () => {
    const cheaper = model("e/m", { alias: "m", prices: prices(900_000, 4_000_000) })
    const load = ({ id }: Model): number => (id === "e/m" ? 100 : 0)
    expect(first([...routes, cheaper], 0.5, { draw: 0.5, load })).toBe("e/m")
  })
})
