import { promptTokens } from "../../domain/Usage.ts"
import { type Cause, found } from "../Cause.ts"
import { noEdits } from "../Rebill.ts"

/** Prompts that are just longer than where a higher price begins. */
export const tierEdge: Cause = {
  id: "tier_edge",
  number: 22,
  tier: "info",
  owner: "client",
  title: "Prompts are just above the edge of a price tier",
  falsePositiveIf: "Nothing in the prompt can be left out.",
  advice: "Keep prompts below the edge: the whole call has the higher rates above it.",
  find: ({ workload }) => {
    const calls = new Set<number>()
    workload.calls.forEach(({ prices, usage }, index) => {
      if (usage === null || prices?.tiers === undefined) return
      const prompt = promptTokens(usage)
      if (prices.tiers.some(({ abovePromptTokens: edge }) => prompt > edge && prompt <= edge * 1.1)) calls.add(index)
    })
    return found(
      noEdits,
      calls,
      1,
      [...calls].map((call) => ({ call, block: null }))
    )
  }
}
