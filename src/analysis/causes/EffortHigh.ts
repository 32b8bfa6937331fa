import { type Cause, found } from "../Cause.ts"
import { noEdits } from "../Rebill.ts"

/** Short answers after long reasoning: less of it may have done. */
export const effortHigh: Cause = {
  id: "effort_high",
  number: 18,
  tier: "hypothesis",
  owner: "client",
  title: "Short answers come after long reasoning",
  falsePositiveIf: "The question is hard and its answer short.",
  advice: "Try a lower effort on calls of this kind and compare the answers.",
  find: ({ workload }) => {
    const calls = new Set<number>()
    let upTo = 0
    workload.calls.forEach(({ isInRange, prices, status, usage }, index) => {
      if (
        !isInRange ||
        usage === null ||
        prices === null ||
        status !== "success" ||
        usage.outputTokens > maxVisibleTokens
      )
        return
      if (usage.reasoningTokens < minReasoningTokens || usage.reasoningTokens < 5 * usage.outputTokens) return
      calls.add(index)
      upTo += (usage.reasoningTokens * prices.output) / 1_000_000
    })
    return found(
      noEdits,
      calls,
      0.5,
      [...calls].map((call) => ({ call, block: null })),
      { up_to_microusd: Math.floor(upTo) }
    )
  }
}

const maxVisibleTokens = 100
const minReasoningTokens = 200
