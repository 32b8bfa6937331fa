import type { SupportTable } from "../../../domain/Support.ts"
import { sse } from "../../transport/Framing.ts"
import { type Protocol, streaming } from "../shared/Protocol.ts"
import { all, otherFormat } from "../shared/SupportTables.ts"
import { nonStreaming, streamDecoder } from "./Decode.ts"
import { classify } from "./Errors.ts"
import { lower } from "./Lower.ts"
import { versionOf } from "./Version.ts"

/** `user` and `safety_identifier` share one field; a custom tool is sent as a function with one string parameter. */
const support: SupportTable = {
  ...otherFormat,
  ...all("native", "top_k", "cache_control"),
  ...all("translated", "service_tier", "user", "safety_identifier", "parallel_tool_calls")
}

/** Anthropic's Messages API. */
export const anthropicMessages: Protocol = {
  id: "anthropic-messages",
  support,
  takesCustomTools: true,
  path: () => "/messages",
  headers: (call) => ({ "anthropic-version": versionOf(call.model) }),
  lower,
  nonStreaming: nonStreaming,
  stream: streaming(sse, streamDecoder),
  failure: classify
}
