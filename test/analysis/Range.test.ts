import { describe, expect, it } from "vitest"
import { EngineSession } from "../../src/analysis/EngineSession.ts"
import type { AnalysedCall } from "../../src/domain/CapturedCall.ts"
import { cacheOfSimulated, generate, type Shape } from "./planted/Application.ts"

const reportOf = (conversations: ReturnType<typeof generate>, fromMillis: number, toMillis = 2 ** 42) => {
  const models = new Set(conversations.flatMap(({ calls }) => calls.flatMap(({ attempts }) => attempts.map(modelOf))))
  const session = new EngineSession(
    Object.fromEntries([...models].flatMap((model) => [[model, cacheOfSimulated(model)] as const]).filter(isKnown))
  )
  for (const { calls, id } of conversations) session.add({ conversation: id, inclusion: 1 }, calls)
  const sums = { calls: 1, spentMicroUsd: 1 }
  const traffic = { ...sums, optedIn: sums }
  return session.report({ fromMillis, toMillis, configVersions: [], source: "captured", traffic, seed: 1 }).report
}
const modelOf = ({ model }: AnalysedCall["attempts"][number]) => model
const isKnown = <A>(entry: readonly [string, A]): entry is readonly [string, NonNullable<A>] => entry[1] !== null

const planted = (shape: Shape, plant: string) => {
  const conversations = generate({ seed: 77, shape, plants: new Set([plant]), traps: new Set() })
  const calls = conversations.flatMap((each) => each.calls).sort((a, b) => a.capturedAt - b.capturedAt)
  const from = calls[calls.length >> 1]?.capturedAt ?? 0
  return { conversations, from, inRange: calls.filter(({ capturedAt }) => capturedAt >= from) }
}

describe("a range of less than a day", () => {
  const { conversations } = planted("extraction", "duplicate")
  const ofHours = (hours: number) => reportOf(conversations, 0, hours * 3_600_000)

  it("is projected to no month: its rate says nothing of other hours", () => {
    const { actions, causes, headline, honesty } = ofHours(23)
    expect(headline.projected).toBeNull()
    expect(headline.observed.avoidable_microusd).toBeGreaterThan(0)
    expect(causes.map(({ at_least_microusd }) => at_least_microusd)).toEqual(causes.map(() => null))
    expect(actions.map(({ saving }) => saving.at_least)).toEqual(actions.map(() => null))
    expect(honesty.insufficient).toEqual([{ what: "hours of the range, for a projection", have: 23, need: 24 }])
  })

  it("is told from a whole day", () => {
    const { headline, honesty } = ofHours(24)
    expect(headline.projected).not.toBeNull()
    expect(honesty.insufficient).toEqual([])
  })
})

describe("a range that begins within conversations", () => {
  it.each([
    ["extraction", "duplicate"],
    ["agent", "prefix_volatile"],
    ["chat", "client_retry"],
    ["agent", "unused_tools"]
  ] as const)("counts only its own calls: %s with %s", (shape, plant) => {
    const { conversations, from, inRange } = planted(shape, plant)
    const { causes, headline, scope } = reportOf(conversations, from)
    const spent = inRange.reduce((sum, { cost }) => sum + cost.amount_microusd, 0)
    expect(scope.samples).toBe(inRange.length)
    expect(headline.observed.spent_microusd).toBe(spent)
    expect(scope.covered_microusd).toBe(spent)
    const found = causes.find(({ id }) => id === plant)
    expect(found?.share_microusd).toBeGreaterThan(0)
    const ids = new Set<string>(inRange.map(({ requestId }) => requestId))
    for (const { calls, evidence } of causes) {
      expect(calls).toBeLessThanOrEqual(inRange.length)
      for (const { sample_id } of evidence) expect(ids.has(sample_id)).toBe(true)
    }
    const whole = reportOf(conversations, 0)
    expect(headline.observed.avoidable_microusd).toBeLessThan(whole.headline.observed.avoidable_microusd)
  })

  it("knows of earlier calls what was asked before", () => {
    const { conversations } = planted("extraction", "duplicate")
    const whole = reportOf(conversations, 0)
    const again = whole.causes.find(({ id }) => id === "duplicate")?.evidence[0]?.sample_id
    const repeated = conversations.flatMap(({ calls }) => calls).find(({ requestId }) => requestId === again)
    const { causes, headline } = reportOf(conversations, repeated?.capturedAt ?? 0)
    expect(causes.find(({ id }) => id === "duplicate")?.calls).toBe(
      whole.causes.find(({ id }) => id === "duplicate")?.calls
    )
    expect(headline.observed.spent_microusd).toBeLessThan(whole.headline.observed.spent_microusd)
  })
})
