import { noDetails, type Usage } from "../../../domain/Usage.ts"
import { countAt, type Json, objectAt } from "../../Json.ts"

/**
 * Usage comes in pieces: the prompt's side at the start, the answer's at the end, and some of the first again with the second.
 * Each count replaces the one before. The kinds of prompt tokens are disjoint already; thoughts are inside the output.
 */
export class UsageSoFar {
  private seen: Readonly<Record<string, number>> = {}

  read(usage: Json | undefined): void {
    const details = objectAt(usage, "output_tokens_details")
    const counts = [
      ...kinds.map((kind) => [kind, countAt(usage, kind)] as const),
      ["thinking", countAt(details, "thinking_tokens")] as const
    ]
    for (const [kind, count] of counts) if (count !== undefined) this.seen = { ...this.seen, [kind]: count }
  }

  /** Without both sides there is none. */
  get usage(): Usage | undefined {
    const { cache_creation_input_tokens, cache_read_input_tokens, input_tokens, output_tokens, thinking } = this.seen
    if (input_tokens === undefined || output_tokens === undefined) return undefined
    const reasoningTokens = Math.min(output_tokens, thinking ?? 0)
    return {
      inputTokens: input_tokens,
      cacheReadTokens: cache_read_input_tokens ?? 0,
      cacheWriteTokens: cache_creation_input_tokens ?? 0,
      outputTokens: output_tokens - reasoningTokens,
      reasoningTokens,
      details: noDetails
    }
  }
}

const kinds = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"] as const
