import { describe, expect, it } from "vitest"
import { alphaTally, ruleTally } from "../../../src/account/replay/ReplayTallies.ts"
import { makeSnapshot } from "../../../src/catalog/Catalog.ts"
import type { PastCall, Rules } from "../../../src/routing/Replay.ts"
import { featuresOf } from "../../../src/routing/RequestFeatures.ts"
import { configuration, controls, model, project, request } from "../../routing/models.ts"

const rulesWith = (more: Partial<Rules> = {}): Rules => ({
  snapshot: makeSnapshot([model("a/a"), model("b/b")]),
  project: project({ defaultAlpha: 0.3 }),
  configurations: [configuration({ slug: "fast", alpha: 0.1 }), configuration({ slug: "plain", alpha: null })],
  billingMode: "managed",
  ...more
})
const callOf = (routingConfig: string | null, alpha?: number): PastCall => ({
  features: featuresOf(request(alpha === undefined ? {} : { routing: controls({ alpha }) }), false, 10, []),
  routingConfig
})
const noModel = makeSnapshot([])

describe("calls at each alpha", () => {
  it("are grouped by the place that their alpha comes from, but for those that name it themselves", () => {
    const tally = alphaTally(rulesWith())
    for (const call of [callOf(null), callOf("plain"), callOf("fast"), callOf(null, 0.9), callOf("fast", 0.9)]) {
      expect(tally.rank(call, 7)).toBe(true)
    }
    const { current, defaultAlpha, groups, points } = tally.sums()
    expect(groups.map(({ alpha, calls, chargedMicroUsd, slug }) => ({ alpha, calls, chargedMicroUsd, slug }))).toEqual([
      { slug: null, alpha: 0.3, calls: 2, chargedMicroUsd: 14 },
      { slug: "fast", alpha: 0.1, calls: 1, chargedMicroUsd: 7 }
    ])
    expect(defaultAlpha).toBe(0.3)
    const counted = (models: ReadonlyMap<string, number>) => [...models.values()].reduce((sum, count) => sum + count, 0)
    expect(counted(current.models)).toBe(5)
    expect(points.map(({ outcome }) => counted(outcome.models))).toEqual(points.map(() => 5))
    expect(groups.map((group) => group.points.map(({ alpha }) => alpha))).toEqual(
      groups.map(() => points.map(({ alpha }) => alpha))
    )
  })

  it("are not counted where their routing configuration is gone", () => {
    const tally = alphaTally(rulesWith())
    expect(tally.rank(callOf("gone"), 7)).toBe(false)
    expect(tally.sums()).toMatchObject({ groups: [], current: { withoutModel: 0 } })
  })

  it("are charged for nothing that could be saved where no model could take them", () => {
    const tally = alphaTally(rulesWith({ snapshot: noModel }))
    tally.rank(callOf(null), 7)
    expect(tally.sums()).toMatchObject({
      current: { withoutModel: 1 },
      groups: [{ slug: null, calls: 1, chargedMicroUsd: 0, current: { withoutModel: 1 } }]
    })
  })
})

describe("calls under two sets of rules", () => {
  it("have changed where another model, or none, would take them", () => {
    const same = ruleTally(rulesWith(), rulesWith())
    const none = ruleTally(rulesWith(), rulesWith({ snapshot: noModel }))
    for (const tally of [same, none]) expect(tally.rank(callOf(null), 7)).toBe(true)
    expect(same.sums().changed).toBe(0)
    expect(none.sums()).toMatchObject({ changed: 1, before: { withoutModel: 0 }, after: { withoutModel: 1 } })
  })

  it("are not counted where either cannot rank them", () => {
    const tally = ruleTally(rulesWith(), rulesWith({ configurations: [] }))
    expect(tally.rank(callOf("fast"), 7)).toBe(false)
    expect(tally.sums()).toMatchObject({ changed: 0, before: { withoutModel: 0 }, after: { withoutModel: 0 } })
  })
})
