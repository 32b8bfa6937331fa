import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import type { Model } from "../../src/domain/Model.ts"
import { intersectPolicies } from "../../src/policy/EffectivePolicy.ts"
import type { CostBound } from "../../src/routing/CostBound.ts"
import { rank } from "../../src/routing/Router.ts"
import { controls, expected, healthy, model, prices, project, request } from "./models.ts"

const cheap = model("acme/cheap", { prices: prices(1_000_000, 2_000_000), quality: 0.5 })
const dear = model("beta/dear", { prices: prices(10_000_000, 20_000_000), quality: 0.9 })
const thinker = model("cera/thinker", {
  prices: prices(1_000_000, 2_000_000),
  quality: 0.8,
  reasonsByDefault: true
})

/** 100 tokens of text: 100 micro-USD at the cheap one, 1,000 at the dear one. */
const bounded = (maxMicroUsd: number, more: Partial<CostBound> = {}): CostBound => ({
  maxMicroUsd,
  textTokens: 100,
  imagesAndFiles: 0,
  audioTokens: 0,
  ...more
})

const decided = (models: ReadonlyArray<Model>, costBound: CostBound, named = "auto", maxOutputTokens?: number) => {
  const routing = controls({ alpha: 1, maxCostMicroUsd: costBound.maxMicroUsd })
  const asked = request({ model: named, routing, maxOutputTokens })
  const made = expected(asked, 90)
  return rank({
    snapshot: makeSnapshot(models),
    policy: intersectPolicies(project(), null, routing),
    request: asked,
    ...made,
    features: { ...made.features, costBound },
    health: () => healthy,
    nowMillis: 0,
    billingMode: "managed"
  })
}
const idsOf = (...args: Parameters<typeof decided>) =>
  Either.getOrThrow(decided(...args))
    .candidates.all()
    .map(({ model }) => model.id)

describe("What a call may cost", () => {
  it("excludes the models at which it does not pay for the prompt and an answer of a useful length", () => {
    // 256 tokens at 20 micro-USD and the prompt
    expect(idsOf([cheap, dear], bounded(1_000 + 256 * 20))).toEqual(["beta/dear", "acme/cheap"])
    const narrow = decided([cheap, dear], bounded(1_000 + 256 * 20 - 1))
    expect(Either.getOrThrow(narrow)).toMatchObject({ excluded: { request_max_cost: 1 }, reason: "only_candidate" })
    // an answer of the client's own length is useful
    expect(idsOf([cheap, dear], bounded(1_000 + 10 * 20), "auto", 10)).toEqual(["beta/dear", "acme/cheap"])
    // of a model that reasons, what it thinks counts as output
    expect(idsOf([cheap, thinker], bounded(100 + 4_095 * 2))).toEqual(["acme/cheap"])
    expect(idsOf([cheap, thinker], bounded(100 + 4_096 * 2))).toEqual(["cera/thinker", "acme/cheap"])
  })

  it("lets a shorter answer be where no model could give more", () => {
    expect(idsOf([cheap, dear], bounded(100 + 2))).toEqual(["acme/cheap"])
    expect(idsOf([cheap, dear], bounded(1_000 + 20), "beta/dear")).toEqual(["beta/dear"])
  })

  it("is refused where it does not pay for the prompt, and says what would", () => {
    const refused = decided([cheap, dear], bounded(101))
    expect(Either.isLeft(refused) && refused.left).toMatchObject({
      _tag: "InvalidRequest",
      code: "invalid_value",
      param: "max_cost_microusd",
      message: expect.stringContaining("at least 102 micro-USD")
    })
    expect(Either.isLeft(decided([cheap, dear], bounded(1_019), "beta/dear"))).toBe(true)
  })

  it("counts images at each model's own length, and bounds no model without a price", () => {
    expect(idsOf([cheap], bounded(100 + 1_000 + 512, { imagesAndFiles: 1 }))).toEqual(["acme/cheap"])
    expect(Either.isLeft(decided([cheap], bounded(100 + 1_000, { imagesAndFiles: 1 })))).toBe(true)
    const unpriced = model("acme/unpriced", { prices: null })
    const refused = decided([unpriced], bounded(1_000_000), "acme/unpriced")
    expect(Either.isLeft(refused)).toBe(true)
  })

  it("never adds a model, and a higher one never excludes more", () => {
    fc.assert(
      fc.property(fc.nat(30_000), fc.nat(30_000), (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((max) => decided([cheap, dear, thinker], bounded(max)))
        if (low === undefined || high === undefined || Either.isLeft(low)) return
        expect(Either.isRight(high)).toBe(true)
        const least = 100 + 256 * 2
        // below it the answer is short at any model
        if (Math.min(a, b) < least || Either.isLeft(high)) return
        const ids = high.right.candidates.all().map(({ model }) => model.id)
        for (const { model } of low.right.candidates.all()) expect(ids).toContain(model.id)
      })
    )
  })
})
