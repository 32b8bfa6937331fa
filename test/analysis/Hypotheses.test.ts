import { describe, expect, it } from "vitest"
import { diagnose } from "../../src/analysis/Diagnose.ts"
import { Preparation } from "../../src/analysis/Prepare.ts"
import { reportOf } from "../../src/analysis/Report.ts"
import { countsOf } from "../../src/analysis/Tokens.ts"
import type { AnalysedCall } from "../../src/domain/CapturedCall.ts"
import { cacheOfSimulated, generate } from "./planted/Application.ts"

/** An application whose causes overlap: a prompt that is shorter has less to gain from the cache. */
const workloadWith = (change: (call: AnalysedCall) => AnalysedCall) => {
  const plants = new Set(["cache_unmarked", "repeated_instruction"])
  const preparation = new Preparation(countsOf, cacheOfSimulated)
  for (const { calls, id } of generate({ seed: 77, shape: "chat", plants, traps: new Set() })) {
    preparation.add({ conversation: id, inclusion: 1 }, calls.map(change))
  }
  return preparation.workload()
}
const reportWith = (change: (call: AnalysedCall) => AnalysedCall) => {
  const workload = workloadWith(change)
  const spentMicroUsd = workload.calls.reduce((sum, { chargedMicroUsd }) => sum + chargedMicroUsd, 0)
  const sums = { calls: workload.calls.length, spentMicroUsd }
  const traffic = { ...sums, optedIn: sums }
  return reportOf(workload, { fromMillis: 0, toMillis: 1, configVersions: [], source: "captured", traffic, seed: 1 })
    .report
}
/** Bills that are so wrong are no reason to claim anything: each cause is a hypothesis. */
const charged = (times: number) => (call: AnalysedCall) => ({
  ...call,
  cost: { ...call.cost, amount_microusd: times * call.cost.amount_microusd }
})

describe("what hypotheses would save at most", () => {
  it("is what they save together, not the sum of what each saves by itself", () => {
    const sure = diagnose(workloadWith(charged(1)), 1)
    const { causes, headline } = reportWith(charged(3))
    expect(causes.map(({ tier }) => tier)).toEqual(["hypothesis", "hypothesis"])
    expect(headline.hypotheses_microusd_up_to / 3 / sure.avoidableMicroUsd).toBeCloseTo(1, 2)
    expect(headline.hypotheses_microusd_up_to).toBeLessThan(
      causes.reduce((sum, { alone_microusd }) => sum + alone_microusd, 0)
    )
  })

  it("is not more than was spent, and of each hypothesis not more than its calls cost", () => {
    const { causes, headline } = reportWith((call) => ({
      ...charged(0.01)(call),
      ...(call.usage !== null && { usage: { ...call.usage, outputTokens: 50, reasoningTokens: 2_000 } })
    }))
    expect(causes.map(({ id }) => id)).toContain("effort_high")
    for (const { alone_microusd } of causes) {
      expect(alone_microusd).toBeLessThanOrEqual(headline.observed.spent_microusd)
    }
    expect(headline.hypotheses_microusd_up_to).toBeGreaterThan(0)
    expect(headline.hypotheses_microusd_up_to).toBeLessThanOrEqual(headline.observed.spent_microusd)
  })
})
