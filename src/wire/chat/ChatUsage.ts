import * as Schema from "effect/Schema"
import { completionTokens, promptTokens, type Usage } from "../../domain/Usage.ts"

const tokens = (description: string) => Schema.Int.pipe(Schema.nonNegative()).annotations({ description })

export const ChatUsage = Schema.Struct({
  prompt_tokens: tokens("Prompt tokens, including cached tokens."),
  completion_tokens: tokens("Completion tokens, including reasoning tokens."),
  total_tokens: tokens("Sum of prompt and completion tokens."),
  prompt_tokens_details: Schema.Struct({
    cached_tokens: tokens("Prompt tokens read from a cache."),
    cache_write_tokens: tokens("Prompt tokens written to a cache."),
    audio_tokens: tokens("Audio tokens in the prompt that were not read from a cache.")
  }).annotations({ description: "Breakdown of the prompt tokens." }),
  completion_tokens_details: Schema.Struct({
    reasoning_tokens: tokens("Reasoning tokens in the completion."),
    accepted_prediction_tokens: tokens("Tokens of `prediction` that the model accepted."),
    rejected_prediction_tokens: tokens("Tokens of `prediction` that the model rejected; they are charged too."),
    audio_tokens: tokens("Audio tokens in the completion.")
  }).annotations({ description: "Breakdown of the completion tokens." })
}).annotations({ identifier: "CompletionUsage", description: "Token counts of the call." })
export type ChatUsage = typeof ChatUsage.Type

export const chatUsage = (usage: Usage): ChatUsage => {
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      audio_tokens: usage.details.inputAudioTokens
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      accepted_prediction_tokens: usage.details.acceptedPredictionTokens,
      rejected_prediction_tokens: usage.details.rejectedPredictionTokens,
      audio_tokens: usage.details.outputAudioTokens
    }
  }
}
