import { describe, expect, it } from "vitest"
import { diagnose } from "../../src/analysis/Diagnose.ts"
import { Preparation } from "../../src/analysis/Prepare.ts"
import { Rebill } from "../../src/analysis/Rebill.ts"
import { countsOf } from "../../src/analysis/Tokens.ts"
import type { CapturedCall } from "../../src/domain/CapturedCall.ts"
import { type Application, cacheOfSimulated, generate, type Shape, truthOf } from "./planted/Application.ts"
import { precisionOf } from "./planted/Precision.ts"

const planted = (
  shape: Shape,
  plants: ReadonlyArray<string>,
  traps: ReadonlyArray<string> = [],
  seed = 77
): Application => ({
  seed,
  shape,
  plants: new Set(plants),
  traps: new Set(traps)
})

const workloadOf = (app: Application, changed = (call: CapturedCall) => call) => {
  const preparation = new Preparation(countsOf, cacheOfSimulated)
  for (const { calls, id } of generate(app)) preparation.add({ conversation: id, inclusion: 1 }, calls.map(changed))
  return preparation.workload()
}
const claimed = (app: Application) => {
  const { findings } = diagnose(workloadOf(app), 1)
  return findings.filter(({ tier }) => tier === "exact" || tier === "rebilled")
}

/** Each with the applications that show it, and what looks like it and is none. */
const cases: ReadonlyArray<readonly [cause: string, shape: Shape, traps: ReadonlyArray<string>]> = [
  ["prefix_volatile", "agent", ["name", "version"]],
  ["tools_shuffled", "agent", ["rareTool"]],
  ["cache_unmarked", "chat", []],
  ["write_never_read", "unshared", []],
  ["ttl_gap", "chat", []],
  ["cache_lost", "agent", []],
  ["route_switch", "chat", ["failover", "pinned"]],
  ["duplicate", "extraction", ["samples"]],
  ["client_retry", "chat", ["stopped"]],
  ["truncated_retry", "chat", ["cut"]],
  ["schema_reask", "extraction", ["clarified"]],
  ["repeat_read", "agent", ["polling"]],
  ["oversize_output", "agent", ["verbatim"]],
  ["json_pretty", "agent", ["jsonFiles"]],
  ["repeated_instruction", "chat", ["reminder"]],
  ["unused_tools", "agent", ["rareTool"]]
]

describe.each(cases)("%s", (cause, shape, traps) => {
  it("is found where it is planted, and nothing else is", () => {
    const app = planted(shape, [cause])
    const found = claimed(app)
    expect(found.map((finding) => finding.cause.id)).toEqual([cause])
    const truth = truthOf(app, cause)
    expect(found[0]?.aloneMicroUsd).toBeGreaterThan(0.8 * truth)
    expect(found[0]?.aloneMicroUsd).toBeLessThan(1.3 * truth)
  })

  it(`is not claimed for ${traps.length === 0 ? "a clean application" : traps.join(" and ")}`, () => {
    expect(
      claimed(planted(shape === "unshared" ? "chat" : shape, [], traps)).map((finding) => finding.cause.id)
    ).toEqual([])
  })
})

describe("calls of a project that pays its providers itself, whose costs are estimates,", () => {
  const estimated = (call: CapturedCall): CapturedCall => ({ ...call, cost: { ...call.cost, basis: "estimated" } })
  const reported = (call: CapturedCall): CapturedCall => ({ ...estimated(call), isUsageReported: true })
  const diagnosed = (app: Application, changed?: (call: CapturedCall) => CapturedCall) => {
    const { avoidableMicroUsd, findings, modelErrors } = diagnose(workloadOf(app, changed), 1)
    return { avoidableMicroUsd, modelErrors, causes: findings.map(({ cause, tier }) => [cause.id, tier]) }
  }
  it.each([
    ["prefix_volatile", "agent"],
    ["cache_unmarked", "chat"],
    ["ttl_gap", "chat"]
  ] as const)("show %s as those of the account do", (plant, shape) => {
    const app = planted(shape, [plant])
    const expected = diagnosed(app)
    expect(expected.avoidableMicroUsd).toBeGreaterThan(0)
    expect(diagnosed(app, reported)).toEqual(expected)
    // samples of earlier versions do not say what was reported
    expect(diagnosed(app, estimated)).toEqual(expected)
  })
})

it("requests are the same whichever mark of the whole prompt was sent with them", () => {
  const call = generate(planted("chat", []))[0]?.calls[0]
  if (call === undefined) throw new Error("no call")
  const preparation = new Preparation(countsOf, cacheOfSimulated)
  const marked = { ...call, request: { ...call.request, params: { ...call.request.params, cacheMark: "5m" as const } } }
  preparation.add({ conversation: "c", inclusion: 1 }, [call, marked])
  expect(new Set(preparation.workload().calls.map(({ request }) => request)).size).toBe(1)
})

describe("usage that the provider has not reported", () => {
  const call = generate(planted("chat", []))[0]?.calls[0]
  if (call === undefined) throw new Error("no call")
  const estimated: CapturedCall = { ...call, cost: { ...call.cost, basis: "estimated" } }
  const isEstimated = (...calls: ReadonlyArray<CapturedCall>) => {
    const preparation = new Preparation(countsOf, cacheOfSimulated)
    preparation.add({ conversation: "c", inclusion: 1 }, calls)
    return preparation.workload().calls.map((each) => each.isEstimated)
  }
  it("is known by the sample, whatever the basis of the cost", () => {
    expect(isEstimated({ ...call, isUsageReported: false }, { ...estimated, isUsageReported: true })).toEqual([
      true,
      false
    ])
  })
  it("is that of a sample of an earlier version with an estimated cost, where the account pays or the response did not end", () => {
    expect(isEstimated(call, estimated)).toEqual([false, true])
    expect(isEstimated(estimated, { ...estimated, status: "cancelled" })).toEqual([false, true])
    expect(isEstimated(estimated, { ...estimated, response: null })).toEqual([false, true])
  })
})

it("bills of the simulated provider are computed within 1 %", () => {
  for (const shape of ["agent", "chat", "extraction"] as const) {
    const errors = new Rebill(workloadOf(planted(shape, []))).modelErrors
    expect(errors.length).toBeGreaterThan(0)
    for (const { readsExplained, share } of errors) {
      expect(share).toBeLessThan(0.01)
      expect(readsExplained).toBeGreaterThan(0.9)
    }
  }
})

it("what one route was charged beyond its computed bill is no saving at another", () => {
  const wasteful = planted("extraction", ["duplicate"])
  const [alone] = claimed(wasteful)
  const preparation = new Preparation(countsOf, cacheOfSimulated)
  for (const { calls, id } of generate(wasteful)) preparation.add({ conversation: id, inclusion: 1 }, calls)
  for (const { calls, id } of generate(planted("chat", [], [], 78))) {
    const charged = calls.map((call) => ({
      ...call,
      attempts: call.attempts.map((attempt) => ({ ...attempt, model: "other/model" })),
      cost: { ...call.cost, amount_microusd: 3 * call.cost.amount_microusd }
    }))
    preparation.add({ conversation: `other ${id}`, inclusion: 1 }, charged)
  }
  const { findings } = diagnose(preparation.workload(), 1)
  const found = findings.find(({ cause }) => cause.id === "duplicate")
  expect(found?.tier).toBe("exact")
  expect(Math.abs((found?.aloneMicroUsd ?? 0) - (alone?.aloneMicroUsd ?? 0))).toBeLessThanOrEqual(1)
})

it("several causes are told apart in a slice of planted applications", { timeout: 120_000 }, () => {
  const { scores } = precisionOf(Array.from({ length: 16 }, (_, i) => 300 + i))
  let [tp, fp, fn] = [0, 0, 0]
  for (const score of scores.values()) {
    tp += score.truePositives
    fp += score.falsePositives
    fn += score.falseNegatives
  }
  expect(tp).toBeGreaterThan(8)
  expect(fp / (tp + fp)).toBeLessThanOrEqual(0.05)
  expect(fn / (tp + fn)).toBeLessThanOrEqual(0.05)
})
