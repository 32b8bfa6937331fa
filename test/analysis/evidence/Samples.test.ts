import { describe, expect, it } from "@effect/vitest"
import type { PlannedQuestion } from "../../../src/analysis/evidence/Plan.ts"
import { SampleList } from "../../../src/analysis/evidence/Samples.ts"
import type { CapturedCall, CapturedParams } from "../../../src/domain/CapturedCall.ts"
import { generate } from "../planted/Application.ts"

const conversations = generate({ seed: 4, shape: "extraction", plants: new Set(), traps: new Set() })
const captured = conversations.flatMap(({ calls }) => calls).find(({ response }) => response?.finish === "stop")

const question: PlannedQuestion = {
  id: "math:mine/large:mine/small",
  promptClass: "math",
  incumbent: "mine/large",
  candidate: "mine/small",
  savingPerCallMicroUsd: 1,
  expectedMicroUsd: 1,
  pairs: 10,
  costs: { candidate: 1, incumbent: 1, judge: 1 },
  quote: { costMicroUsd: 1, paybackCalls: 1, paybackDays: 1, isAdvised: true }
}

/** What is asked again of a call with these parameters. */
const askedOf = (params: Omit<CapturedParams, "stream">) => {
  if (captured === undefined) throw new Error("no call was answered")
  const call: CapturedCall = {
    ...captured,
    class: "math",
    attempts: captured.attempts.map((attempt) => ({ ...attempt, model: "mine/large" })),
    flowAuthorized: true,
    request: { ...captured.request, params: { stream: true, ...params } }
  }
  const samples = new SampleList([question])
  samples.add([call])
  return samples.of(question)[0]?.request
}

describe("a captured call that is asked again", () => {
  it("has the parameters of the client", () => {
    const sampling = { temperature: 0.1, topP: 0.2, topK: 5, frequencyPenalty: 0.3, presencePenalty: -0.3 }
    const output = { maxOutputTokens: 300, stop: ["END"], parallelToolCalls: false, verbosity: "low" }
    const reasoning = { mode: "enabled", maxTokens: 2_000, summary: "auto" }
    expect(askedOf({ ...sampling, ...output, seed: "7", effort: "high", reasoning })).toMatchObject({
      ...sampling,
      ...output,
      seed: 7,
      effort: "high",
      reasoning: { mode: "enabled", maxTokens: 2_000 }
    })
    expect(askedOf({ effort: 40 })?.effort).toBe(40)
  })

  it("has a seed beyond 2^53 exactly", () => {
    expect(askedOf({ seed: "9007199254740993" })?.seed).toBe(9_007_199_254_740_993n)
  })

  it("has no output cap that the client has not set", () => {
    const asked = askedOf({})
    expect(asked?.messages.length).toBeGreaterThan(0)
    expect(asked?.maxOutputTokens).toBeUndefined()
    expect(asked?.stop).toEqual([])
  })
})
