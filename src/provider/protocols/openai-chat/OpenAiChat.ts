import { sse } from "../../transport/Framing.ts"
import { type Protocol, streaming } from "../shared/Protocol.ts"
import { all, everyParameter } from "../shared/SupportTables.ts"
import { nonStreaming, streamDecoder } from "./Decode.ts"
import { classify } from "./Errors.ts"
import { lower } from "./Lower.ts"
import type { Quirks } from "./Quirks.ts"

/** OpenAI's chat completions, which most vendors implement. */
export const make = (quirks: Quirks): Protocol => ({
  id: "openai-chat",
  support: {
    ...everyParameter,
    ...all("dropped", "top_k", "cache_control"),
    seed: quirks.seedField === "seed" ? "native" : "translated",
    ...quirks.support
  },
  takesCustomTools: quirks.customTools,
  path: () => "/chat/completions",
  headers: () => ({}),
  lower: (call) => lower(call, quirks),
  nonStreaming: (call, body) => nonStreaming(call, body, quirks),
  stream: streaming(sse, streamDecoder(quirks)),
  failure: classify
})
