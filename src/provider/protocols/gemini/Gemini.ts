import type { SupportTable } from "../../../domain/Support.ts"
import { sse } from "../../transport/Framing.ts"
import { type Protocol, streaming } from "../shared/Protocol.ts"
import { all, otherFormat } from "../shared/SupportTables.ts"
import { nonStreaming, streamDecoder } from "./Decode.ts"
import { classify } from "./Errors.ts"
import { lower } from "./Lower.ts"
import type { SchemaDialect } from "./Schema.ts"

/** Parameters without a field in this API are dropped; nothing is sent that is billed apart from tokens. */
const support: SupportTable = {
  ...otherFormat,
  ...all("native", "top_k", "frequency_penalty", "presence_penalty", "seed"),
  ...all("translated", "logprobs", "top_logprobs")
}

/** Google's generateContent, of the Gemini API and Vertex AI. */
export const make = (schemas: SchemaDialect): Protocol => ({
  id: "gemini",
  support,
  takesCustomTools: true,
  path: ({ model, request }) =>
    `/models/${encodeURIComponent(model.upstreamModel)}:${request.stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  headers: () => ({}),
  lower: (call) => lower(call, schemas),
  nonStreaming: nonStreaming,
  stream: streaming(sse, streamDecoder),
  failure: classify
})
