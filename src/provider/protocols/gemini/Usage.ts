import { noDetails, type Usage } from "../../../domain/Usage.ts"
import { countAt, isObject, type Json, listAt, objectAt, textAt } from "../../Json.ts"

/**
 * The usage that an event carries, in disjoint counts. Cached tokens are inside the prompt, results of the provider's own
 * tools and thoughts are beside it and beside the answer. Counts that are not there are 0, but without a prompt there is none.
 */
export const usageOf = (json: Json): Usage | undefined => {
  const usage = objectAt(json, "usageMetadata")
  const given = countAt(usage, "promptTokenCount")
  if (given === undefined) return undefined
  const prompt = given + (countAt(usage, "toolUsePromptTokenCount") ?? 0)
  const cacheRead = Math.min(prompt, countAt(usage, "cachedContentTokenCount") ?? 0)
  const inputAudioTokens = audioIn(listAt(usage, "promptTokensDetails"))
  const outputAudioTokens = audioIn(listAt(usage, "candidatesTokensDetails"))
  return {
    inputTokens: prompt - cacheRead,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: 0,
    outputTokens: countAt(usage, "candidatesTokenCount") ?? 0,
    reasoningTokens: countAt(usage, "thoughtsTokenCount") ?? 0,
    details:
      inputAudioTokens + outputAudioTokens === 0 ? noDetails : { ...noDetails, inputAudioTokens, outputAudioTokens }
  }
}

const audioIn = (modalities: ReadonlyArray<unknown>): number => {
  let tokens = 0
  for (const one of modalities) {
    if (isObject(one) && textAt(one, "modality") === "AUDIO") tokens += countAt(one, "tokenCount") ?? 0
  }
  return tokens
}
