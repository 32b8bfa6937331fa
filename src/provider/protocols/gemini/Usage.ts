import { noDetails, type Usage } from "../../../domain/Usage.ts"
import { countAt, isObject, type Json, listAt, objectAt, textAt } from "../shared/Json.ts"

/**
 * The usage of an event, in disjoint counts. Cached tokens are part of the prompt count; results of the provider's own tools and
 * reasoning are not part of the prompt and candidate counts. A missing count of the answer is what the others leave of the total, any other
 * missing count 0; without a prompt count there is no usage.
 */
export const usageOf = (json: Json): Usage | undefined => {
  const usage = objectAt(json, "usageMetadata")
  const given = countAt(usage, "promptTokenCount")
  if (given === undefined) return undefined
  const prompt = given + (countAt(usage, "toolUsePromptTokenCount") ?? 0)
  const cacheRead = Math.min(prompt, countAt(usage, "cachedContentTokenCount") ?? 0)
  const reasoningTokens = countAt(usage, "thoughtsTokenCount") ?? 0
  const unnamed = (countAt(usage, "totalTokenCount") ?? 0) - prompt - reasoningTokens
  const audio = audioIn(listAt(usage, "promptTokensDetails"))
  const inputAudioTokens = Math.max(0, audio - cachedAudioOf(listAt(usage, "cacheTokensDetails"), audio, cacheRead))
  const outputAudioTokens = audioIn(listAt(usage, "candidatesTokensDetails"))
  return {
    inputTokens: prompt - cacheRead,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: 0,
    outputTokens: countAt(usage, "candidatesTokenCount") ?? Math.max(0, unnamed),
    reasoningTokens,
    details:
      inputAudioTokens + outputAudioTokens === 0 ? noDetails : { ...noDetails, inputAudioTokens, outputAudioTokens }
  }
}

/** Where the parts of what was cached are not told, as much of it as may be is audio: what is certain is charged as such. */
const cachedAudioOf = (cached: ReadonlyArray<unknown>, audio: number, cacheRead: number): number =>
  cached.length > 0 ? audioIn(cached) : Math.min(audio, cacheRead)

const audioIn = (modalities: ReadonlyArray<unknown>): number => {
  let tokens = 0
  for (const one of modalities) {
    if (isObject(one) && textAt(one, "modality") === "AUDIO") tokens += countAt(one, "tokenCount") ?? 0
  }
  return tokens
}
