import type { FinishReason } from "../../../domain/ChatEvent.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"

/** A provider's finish reason, its meaning, and the API that documents it. */
export type FinishWord = readonly [word: string, meaning: FinishReason | ProviderFailure, source: string]

/**
 * Maps finish reasons. An unknown reason is never a success: servers report their own failures in this field too, and a response
 * that was cut off would pass as complete.
 */
export const finishTable = (words: ReadonlyArray<FinishWord>): ((word: string) => FinishReason | ProviderFailure) => {
  const meanings = new Map(words.map(([word, meaning]) => [word, meaning]))
  return (word) =>
    meanings.get(word) ?? {
      _tag: "BadResponse",
      detail: /^[A-Za-z_]{1,40}$/.test(word) ? `the unknown finish reason ${word}` : "an unknown finish reason"
    }
}

/** A failure of the model itself; another model may succeed. */
export const badResponse = (detail: string): ProviderFailure => ({ _tag: "BadResponse", detail })
