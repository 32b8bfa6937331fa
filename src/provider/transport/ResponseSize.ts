import type { ProviderCall } from "../Provider.ts"

/** For short responses, which come with start-up events, citations and the like. */
const minBytes = 32 * 1024 * 1024
/** For providers that ignore an output cap of millions. */
const maxStreamBytes = 4 * 1024 * 1024 * 1024
/** A complete response is in memory as a whole; a provider takes minutes to generate so much. */
const maxNonStreamingBytes = 256 * 1024 * 1024
/** An event of one token, with the fields that some providers repeat in each event. */
const bytesPerToken = 1_024
/** One entry of `logprobs`: a long token as text and as a list of bytes. With 20 of them a token takes 2,020 bytes. */
const bytesPerLogprob = 256
/** Base64 of a twentieth of a second of uncompressed speech. */
const audioBytesPerToken = 4_096

/** The size that no valid response exceeds: so many bytes for each token that the output cap allows. */
export const maxResponseBytes = ({ maxOutputTokens, request }: ProviderCall): number => {
  const logprobs = request.logprobs === true ? bytesPerLogprob * (1 + (request.topLogprobs ?? 0)) : 0
  const audio = request.modalities?.includes("audio") === true ? audioBytesPerToken : 0
  const bytes = Math.max(minBytes, maxOutputTokens * (bytesPerToken + logprobs + audio))
  return Math.min(bytes, request.stream ? maxStreamBytes : maxNonStreamingBytes)
}
