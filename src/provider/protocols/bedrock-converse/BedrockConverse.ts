import type { SupportTable } from "../../../domain/Support.ts"
import { awsEventStream } from "../../transport/Framing.ts"
import { type Protocol, streaming } from "../shared/Protocol.ts"
import { all, otherFormat } from "../shared/SupportTables.ts"
import { escapeUrl } from "../shared/UrlEscape.ts"
import { nonStreaming, streamDecoder } from "./Decode.ts"
import { classify } from "./Errors.ts"
import { lower } from "./Lower.ts"

/** A custom tool is sent as a function with one string parameter; `none` removes the tools; marks of cached blocks and `top_k` are for Claude. */
const support: SupportTable = { ...otherFormat, ...all("translated", "top_k", "cache_control") }

/** Converse and ConverseStream, the common format of Amazon Bedrock for models of all vendors. */
export const bedrockConverse: Protocol = {
  id: "bedrock-converse",
  support,
  takesCustomTools: true,
  /** Model ids contain colons and, as ARNs, slashes. */
  path: ({ model, request }) =>
    `/model/${escapeUrl(model.upstreamModel)}/${request.stream ? "converse-stream" : "converse"}`,
  headers: () => ({}),
  lower,
  nonStreaming: nonStreaming,
  stream: streaming(awsEventStream, streamDecoder),
  failure: classify
}
