import * as Stream from "effect/Stream"
import type { Question } from "../../../src/analysis/evidence/ModelCalls.ts"
import { finishEvent, makeModel, textEvent, usageEvent } from "../../../src/index.ts"

export const model = makeModel({
  id: "mine/small",
  prices: { input: 1_000_000, output: 2_000_000 },
  contextTokens: 8_192,
  outputTokens: 1_024
})

/** Costs 1,020 micro-USD. */
export const answer = () =>
  Stream.make(textEvent("VERDICT: TIE"), finishEvent(), usageEvent({ inputTokens: 20, outputTokens: 500 }))

export const question: Question = {
  model: "mine/small",
  sample: "00000000-0000-7000-8000-000000000001",
  messages: [{ role: "user", content: "Which is better?" }],
  tools: [],
  temperature: 0,
  maxOutputTokens: 600
}
