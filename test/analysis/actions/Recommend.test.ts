import { expect, it } from "vitest"
import type { Outlook } from "../../../src/account/replay/RoutingReplay.ts"
import { type AttemptTally, withRouting } from "../../../src/analysis/actions/Recommend.ts"
import { EngineSession } from "../../../src/analysis/EngineSession.ts"
import { ProjectId } from "../../../src/domain/Ids.ts"
import type { Outcome } from "../../../src/routing/Replay.ts"

const projectId = ProjectId.make("00000000-0000-4000-8000-00000000000b")
const empty = new EngineSession({}).report({
  fromMillis: 0,
  toMillis: 86_400_000,
  configVersions: [],
  source: "call_log",
  traffic: { calls: 100, spentMicroUsd: 1_000, optedIn: { calls: 0, spentMicroUsd: 0 } },
  seed: 1
}).report

const outcome = (model: string, costMicroUsd: number, quality: number, withoutModel = 0): Outcome => ({
  costMicroUsd,
  quality: quality * (100 - withoutModel),
  withoutModel,
  models: new Map([[model, 100 - withoutModel]])
})

/** 100 calls at alpha .65, which are expected to cost 1,000 micro-USD there. */
const outlook = (
  points: ReadonlyArray<readonly [alpha: number, costMicroUsd: number, quality: number, withoutModel?: number]>,
  slug: string | null = null,
  calls = 100,
  chargedMicroUsd = 1_000
): Outlook => {
  const current = outcome("sim/best", 1_000, 0.8)
  const at = points.map(([alpha, cost, quality, withoutModel]) => ({
    alpha,
    outcome: outcome(`at-${alpha}`, cost, quality, withoutModel)
  }))
  return {
    calls,
    skipped: 0,
    from: null,
    to: null,
    chargedMicroUsd,
    defaultAlpha: 0.65,
    current,
    points: at,
    groups: [{ slug, alpha: 0.65, calls, chargedMicroUsd, current, points: at }],
    qualityVersion: null
  }
}

const reportWith = (found: Outlook | undefined, attempts: ReadonlyArray<AttemptTally> = []) =>
  withRouting(empty, { projectId, outlook: found, attempts })

it("states no more for all hypotheses than all calls of the range cost", () => {
  const known = { ...empty, headline: { ...empty.headline, hypotheses_microusd_up_to: 700 } }
  const cheaper = outlook([
    [0.3, 400, 0.8],
    [0.5, 700, 0.8]
  ])
  const { headline } = withRouting(known, { projectId, outlook: cheaper, attempts: [] })
  expect(headline.hypotheses_microusd_up_to).toBe(known.scope.traffic.spent_microusd)
})

it("proposes the cheapest lower alpha whose answers are expected to be nearly as good", () => {
  const { actions, alpha_curve, causes, headline } = reportWith(
    outlook([
      [0, 100, 0.6],
      [0.3, 400, 0.79],
      [0.5, 700, 0.8],
      [0.9, 50, 0.9]
    ])
  )
  expect(actions).toMatchObject([
    {
      id: "lower_alpha",
      kind: "policy",
      patch: { method: "PUT", path: `/api/projects/${projectId}/policy`, body: { default_alpha: 0.3 } },
      saving: { at_least: null, likely: 600 }
    }
  ])
  expect(causes).toMatchObject([
    { id: "overkill_model", number: 19, tier: "hypothesis", share_microusd: 0, alone_microusd: 600, calls: 100 }
  ])
  expect(headline.hypotheses_microusd_up_to).toBe(600)
  expect(headline.observed.avoidable_microusd).toBe(0)
  expect(alpha_curve[1]).toEqual({
    alpha: 0.3,
    cost_microusd: 400,
    quality: 0.79,
    basis: "prior",
    models: { "at-0.3": 1 }
  })
})

it("states what is expected to be saved of what the calls were charged, not of what they were expected to cost", () => {
  const { actions, causes } = reportWith(outlook([[0.3, 400, 0.79]], null, 100, 251))
  expect(causes[0]?.alone_microusd).toBe(150)
  expect(actions[0]?.saving.likely).toBe(150)
  expect(reportWith(outlook([[0.3, 400, 0.79]], null, 100, 0)).actions).toEqual([])
})

it("changes the routing configuration that the alpha comes from", () => {
  expect(reportWith(outlook([[0.3, 400, 0.79]], "cheap")).actions).toMatchObject([
    {
      id: "lower_alpha.cheap",
      kind: "routing_configuration",
      patch: { path: `/api/projects/${projectId}/routing-configurations/cheap`, slug: "cheap", body: { alpha: 0.3 } }
    }
  ])
})

it.each([
  ["worse answers", outlook([[0.3, 400, 0.77]])],
  ["a saving within what expectations are wrong by", outlook([[0.3, 960, 0.8]])],
  ["calls that nothing could take any more", outlook([[0.3, 400, 0.8, 1]])],
  ["few calls", outlook([[0.3, 400, 0.8]], null, 29)],
  ["nothing ranked again", undefined]
])("proposes no alpha for %s", (_, found) => {
  expect(reportWith(found).actions).toEqual([])
})

it("proposes to leave out models that fail often, and only these", () => {
  const { actions } = reportWith(undefined, [
    { model: "a/one", attempts: 100, failed: 20 },
    { model: "a/two", attempts: 101, failed: 20 },
    { model: "a/three", attempts: 19, failed: 19 }
  ])
  expect(actions).toMatchObject([
    { id: "exclude_failing_models", kind: "policy", patch: { body: { excluded_models: ["a/one"] } } }
  ])
})
