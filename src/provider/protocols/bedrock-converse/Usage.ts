import { noDetails, type Usage } from "../../../domain/Usage.ts"
import { countAt, type Json } from "../shared/Json.ts"

/** The kinds of prompt tokens are disjoint; reasoning tokens are part of the output tokens and not reported separately. */
export const usageOf = (usage: Json | undefined): Usage | undefined => {
  const inputTokens = countAt(usage, "inputTokens")
  const outputTokens = countAt(usage, "outputTokens")
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  return {
    inputTokens,
    cacheReadTokens: countAt(usage, "cacheReadInputTokens") ?? 0,
    cacheWriteTokens: countAt(usage, "cacheWriteInputTokens") ?? 0,
    outputTokens,
    reasoningTokens: 0,
    details: noDetails
  }
}
