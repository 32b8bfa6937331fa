import { noDetails, type Usage } from "../../../domain/Usage.ts"
import { countAt, type Json, objectAt } from "../shared/Json.ts"

/**
 * Usage comes in two events: prompt counts at the start, output counts at the end, which may repeat prompt counts. Each count
 * replaces the one before, but prompt counts that are all 0 are those of a server that does not repeat them. The kinds of prompt
 * tokens are disjoint; reasoning tokens are part of the output tokens.
 */
export type Counts = Readonly<Record<string, number>>

export const addCounts = (before: Counts, usage: Json | undefined): Counts => {
  const counts: Record<string, number> = { ...before }
  const isRepeated = promptKinds.some((kind) => (countAt(usage, kind) ?? 0) > 0)
  for (const kind of promptKinds) {
    const count = countAt(usage, kind)
    if (count !== undefined && (isRepeated || counts[kind] === undefined)) counts[kind] = count
  }
  const output = countAt(usage, "output_tokens")
  if (output !== undefined) counts["output_tokens"] = output
  const reasoning = countAt(objectAt(usage, "output_tokens_details"), "thinking_tokens")
  if (reasoning !== undefined) counts["reasoning"] = reasoning
  return counts
}

/** `undefined` until input and output counts are known. */
export const usageOf = (counts: Counts): Usage | undefined => {
  const { cache_creation_input_tokens, cache_read_input_tokens, input_tokens, output_tokens, reasoning } = counts
  if (input_tokens === undefined || output_tokens === undefined) return undefined
  const reasoningTokens = Math.min(output_tokens, reasoning ?? 0)
  return {
    inputTokens: input_tokens,
    cacheReadTokens: cache_read_input_tokens ?? 0,
    cacheWriteTokens: cache_creation_input_tokens ?? 0,
    outputTokens: output_tokens - reasoningTokens,
    reasoningTokens,
    details: noDetails
  }
}

const promptKinds = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"] as const
