import * as Either from "effect/Either"
import * as Utils from "effect/Utils"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import type { Model } from "../../src/domain/Model.ts"
import { excludedBy, intersectPolicies } from "../../src/policy/EffectivePolicy.ts"
import type { Affinity } from "../../src/routing/Arrange.ts"
import { type Exploration, mayExplore } from "../../src/routing/Exploration.ts"
import { recorded } from "../../src/routing/RequestFeatures.ts"
import type { RouteHealth } from "../../src/routing/RouteHealth.ts"
import { type Ranked, rank } from "../../src/routing/Router.ts"
import { configuration, controls, expected, healthy, model, prices, project, request } from "./models.ts"

const share = 0.02

/** The same price, so that quality alone decides: at alpha 0.5 a distance of 0.1 in quality is one of 0.05 in utility. */
const route = (id: string, quality: number, more: Partial<Model> = {}): Model =>
  model(id, { quality, prices: prices(1_000_000, 4_000_000), ...more })

const best = route("acme/best", 0.8)
const near = route("beta/near", 0.75)
const nearElsewhere = route("cera/near", 0.75)
const alsoNear = route("acme/also-near", 0.71)
const far = route("delta/far", 0.65)
const pool = [best, near, nearElsewhere, alsoNear, far]

interface Asked {
  readonly exploration?: Exploration
  readonly draw?: number
  readonly deny?: ReadonlyArray<string>
  readonly affinity?: Affinity
  readonly health?: (one: Model) => RouteHealth
  readonly models?: ReadonlyArray<Model>
  readonly alpha?: number
}

const ask = ({
  affinity,
  alpha = 0.5,
  deny = [],
  draw = 0,
  exploration,
  health = () => healthy,
  models = pool
}: Asked): Ranked => {
  const routing = controls({ alpha, models: { allow: null, deny } })
  const asked = request({ model: "auto", routing })
  return Either.getOrThrow(
    rank({
      snapshot: makeSnapshot(models),
      policy: intersectPolicies(project(), null, routing),
      request: asked,
      ...expected(asked, 500),
      health,
      nowMillis: 0,
      billingMode: "managed",
      load: () => 0,
      draw,
      exploration,
      affinity
    })
  )
}

const firstOf = ({ candidates }: Ranked): string => candidates.first.model.id

describe("Exploration", () => {
  it("is off where the project does not ask for it, and puts nothing but the best first", () => {
    const ranked = ask({})
    expect(firstOf(ranked)).toBe("acme/best")
    expect(ranked.propensity).toBe(1)
    expect(intersectPolicies(project(), null, controls()).explorationShare).toBe(0)
  })

  it("tries each model near the best equally often, once however many routes it has, and says how likely that was", () => {
    const at = (draw: number) => ask({ exploration: { share, draw } })
    expect(firstOf(at(share))).toBe("acme/best")
    expect(at(share).propensity).toBeCloseTo(1 - share + share / 3, 12)
    expect(firstOf(at(0))).toBe("acme/best")
    expect(at(0).reason).toBe("quality_cost_tradeoff")
    const second = at(share / 3 + 1e-6)
    expect(second.candidates.first.model.alias).toBe("near")
    expect(second.reason).toBe("exploration")
    // one of the model's two routes, which have the same load
    expect(second.propensity).toBeCloseTo(share / 3 / 2, 12)
    const third = at((share * 2) / 3 + 1e-6)
    expect(firstOf(third)).toBe("acme/also-near")
    expect(third.propensity).toBeCloseTo(share / 3, 12)
    expect(third.candidates.all()).toHaveLength(pool.length)
  })

  it("is the same for the same draws, and how often each route comes first is what its propensity says", () => {
    const random = new Utils.PCGRandom(7)
    const calls = 8_000
    const wide = 0.6
    const times = new Map<string, number>()
    const said = new Map<string, number>()
    for (let call = 0; call < calls; call++) {
      const given = { draw: random.number(), exploration: { share: wide, draw: random.number() } }
      const ranked = ask(given)
      if (call % 100 === 0) expect(ask(given)).toEqual(ranked)
      times.set(firstOf(ranked), (times.get(firstOf(ranked)) ?? 0) + 1)
      said.set(firstOf(ranked), ranked.propensity)
    }
    expect([...times.keys()].sort()).toEqual(["acme/also-near", "acme/best", "beta/near", "cera/near"])
    expect([...said.values()].reduce((sum, propensity) => sum + propensity, 0)).toBeCloseTo(1, 12)
    for (const [id, count] of times) {
      const propensity = said.get(id) ?? 0
      const deviation = Math.sqrt((propensity * (1 - propensity)) / calls)
      expect(Math.abs(count / calls - propensity)).toBeLessThan(5 * deviation)
    }
  })

  it("lets the mean result of a model that is seldom chosen be told from the log alone", () => {
    const random = new Utils.PCGRandom(11)
    const truth: Readonly<Record<string, number>> = { best: 0.6, near: 0.9, "also-near": 0.3 }
    const calls = 15_000
    const wide = 0.3
    const sums = new Map<string, { weight: number; squares: number }>()
    for (let call = 0; call < calls; call++) {
      const ranked = ask({ draw: random.number(), exploration: { share: wide, draw: random.number() } })
      const { alias } = ranked.candidates.first.model
      const outcome = random.number() < (truth[alias] ?? 0) ? 1 : 0
      const log = JSON.parse(recorded(ranked.features, ranked) ?? "{}") as { readonly p?: number }
      // a model's propensity is that of its routes together: both of `near` are as likely as the other
      const propensity = (log.p ?? 1) * (alias === "near" ? 2 : 1)
      const sum = sums.get(alias) ?? { weight: 0, squares: 0 }
      sums.set(alias, { weight: sum.weight + outcome / propensity, squares: sum.squares + (outcome / propensity) ** 2 })
    }
    for (const [alias, mean] of Object.entries(truth)) {
      const { squares, weight } = sums.get(alias) ?? { weight: 0, squares: 0 }
      const estimate = weight / calls
      const error = Math.sqrt((squares / calls - estimate ** 2) / calls)
      expect(error).toBeLessThan(0.03)
      expect(Math.abs(estimate - mean)).toBeLessThan(4 * error)
    }
  })

  it("never crosses a policy, a price cap or the bound of a call's cost, and no circuit that is open", () => {
    const draw = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
    const down: RouteHealth = { failure: 0.05, openUntilMillis: 60_000, latencyMillis: null }
    fc.assert(
      fc.property(draw, draw, fc.subarray(["near", "also-near", "beta/*", "acme/best"]), (one, other, deny) => {
        const routing = controls({ alpha: 0.5, models: { allow: null, deny } })
        const policy = intersectPolicies(project(), null, routing)
        const ranked = ask({
          draw: one,
          exploration: { share: 1, draw: other },
          deny,
          health: ({ id }) => (id === "cera/near" ? down : healthy)
        })
        const { model: first } = ranked.candidates.first
        expect(excludedBy(policy, first, 500)).toBeNull()
        if (ranked.reason === "exploration") expect(first.id).not.toBe("cera/near")
      })
    )
  })

  it("leaves a conversation with its model", () => {
    const affinity = { modelId: "acme/best", cachedTokens: 400, inToolLoop: false }
    const ranked = ask({ affinity, exploration: { share: 1, draw: 0.5 } })
    expect(firstOf(ranked)).toBe("acme/best")
    expect(ranked.propensity).toBe(1)
  })

  it("is not for tool calls, for calls without fallback, for the cheapest or the best alone", () => {
    const asked = request({ messages: [{ role: "user", content: "Hello" }] })
    const policy = (more: Parameters<typeof project>[0], alpha = 0.5) =>
      intersectPolicies(project({ explorationShare: share, ...more }), configuration(), controls({ alpha }))
    expect(mayExplore(asked, policy({}))).toBe(true)
    expect(mayExplore(asked, policy({ explorationShare: 0 }))).toBe(false)
    expect(mayExplore(asked, policy({ enableFallback: false }))).toBe(false)
    expect(mayExplore(asked, policy({}, 0))).toBe(false)
    expect(mayExplore(asked, policy({}, 1))).toBe(false)
    const inLoop = request({ messages: [...asked.messages, { role: "tool", tool_call_id: "1", content: "4" }] })
    expect(mayExplore(inLoop, policy({}))).toBe(false)
    const reminded = request({ messages: [...inLoop.messages, { role: "user", content: "And?" }] })
    expect(mayExplore(reminded, policy({}))).toBe(false)
  })
})
