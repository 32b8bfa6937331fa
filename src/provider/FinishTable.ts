import type { FinishReason } from "../domain/ChatEvent.ts"
import type { ProviderFailure } from "../domain/ProviderError.ts"

/** A provider's word for the end of an answer, what it means, and who is known to say it. */
export type FinishWord = readonly [word: string, meaning: FinishReason | ProviderFailure, source: string]

/**
 * What a finish reason means. An unknown one is never a success: servers report their own failures in this field too, and an
 * answer that was broken off would pass as whole.
 */
export const finishTable = (words: ReadonlyArray<FinishWord>): ((word: string) => FinishReason | ProviderFailure) => {
  const meanings = new Map(words.map(([word, meaning]) => [word, meaning]))
  return (word) =>
    meanings.get(word) ?? {
      _tag: "BadResponse",
      detail: /^[A-Za-z_]{1,40}$/.test(word) ? `the unknown finish reason ${word}` : "an unknown finish reason"
    }
}

/** The model's own failure, for which another model may do better. */
export const brokenAnswer = (detail: string): ProviderFailure => ({ _tag: "BadResponse", detail })
