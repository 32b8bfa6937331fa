import { noDetails, type Usage } from "../../../domain/Usage.ts"
import { countAt, isObject, type Json, listAt, objectAt } from "../shared/Json.ts"

/**
 * The usage of an event, in disjoint counts. Invalid counts are treated as absent; without prompt and completion counts there is
 * no usage. Cached tokens are part of the prompt count.
 */
export const usageOf = (json: Json): Usage | undefined => {
  const usage = objectAt(json, "usage") ?? objectAt(objectAt(json, "x_groq"), "usage") ?? usageOfChoice(json)
  const prompt = countAt(usage, "prompt_tokens")
  const completion = countAt(usage, "completion_tokens")
  if (usage === undefined || prompt === undefined || completion === undefined) return undefined
  const input = objectAt(usage, "prompt_tokens_details")
  const output = objectAt(usage, "completion_tokens_details")
  const cacheRead = Math.min(
    prompt,
    countAt(input, "cached_tokens") ??
      countAt(usage, "prompt_cache_hit_tokens") ??
      countAt(usage, "cached_tokens") ??
      countAt(usage, "cache_read_input_tokens") ??
      0
  )
  const cacheWrite = Math.min(
    prompt - cacheRead,
    countAt(input, "cache_write_tokens") ??
      countAt(input, "cache_creation_tokens") ??
      countAt(usage, "cache_creation_input_tokens") ??
      0
  )
  const reasoning = countAt(output, "reasoning_tokens") ?? countAt(usage, "reasoning_tokens") ?? 0
  return {
    inputTokens: prompt - cacheRead - cacheWrite,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    outputTokens: reasoningIsInside(usage, prompt, completion, reasoning) ? completion - reasoning : completion,
    reasoningTokens: reasoning,
    details: detailsOf(input, output)
  }
}

/** Reasoning tokens are part of the completion count, except where the total is the sum of all three counts. */
const reasoningIsInside = (usage: Json, prompt: number, completion: number, reasoning: number): boolean =>
  reasoning <= completion && !(reasoning > 0 && countAt(usage, "total_tokens") === prompt + completion + reasoning)

const usageOfChoice = (json: Json): Json | undefined => {
  const choice = listAt(json, "choices")[0]
  return isObject(choice) ? objectAt(choice, "usage") : undefined
}

const detailsOf = (input: Json | undefined, output: Json | undefined): Usage["details"] => {
  const inputAudioTokens = countAt(input, "audio_tokens") ?? 0
  const outputAudioTokens = countAt(output, "audio_tokens") ?? 0
  const acceptedPredictionTokens = countAt(output, "accepted_prediction_tokens") ?? 0
  const rejectedPredictionTokens = countAt(output, "rejected_prediction_tokens") ?? 0
  return inputAudioTokens + outputAudioTokens + acceptedPredictionTokens + rejectedPredictionTokens === 0
    ? noDetails
    : { inputAudioTokens, outputAudioTokens, acceptedPredictionTokens, rejectedPredictionTokens }
}
