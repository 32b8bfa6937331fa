import type { ChatRequest } from "../../domain/Chat.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import { renamed } from "../ResponseMetadata.ts"
import type { DecodedMessages } from "./MessagesRequest.ts"

/** Fields of this format whose names in the canonical request are others. */
const names: ReadonlyMap<string, string> = new Map([
  ["stop", "stop_sequences"],
  ["user", "metadata.user_id"],
  ["parallel_tool_calls", "tool_choice.disable_parallel_tool_use"],
  ["reasoning_effort", "output_config.effort"],
  ["reasoning.effort", "output_config.effort"],
  ["reasoning.mode", "thinking"],
  ["reasoning.max_tokens", "thinking.budget_tokens"],
  ["response_format", "output_config.format"],
  ["tools.function.strict", "tools.strict"],
  ["messages.is_error", "tool_result.is_error"],
  ["max_completion_tokens", "max_tokens"]
])

/** Where a path of the canonical request stands in the client's body; of a conversation, which message it is. */
export const paramOf = (param: string, { paths }: Pick<DecodedMessages, "paths">): string => {
  const index = /^messages\[(\d+)\]/.exec(param)?.[1]
  return index === undefined ? (names.get(param) ?? param) : (paths[Number(index)] ?? "messages")
}

/** The metadata with the client's names of what was left out. */
export const clientMetadata = (metadata: RouterMetadata, { ignored }: Pick<ChatRequest, "ignored">): RouterMetadata =>
  renamed(metadata, ignored, nameOf)

/** A name may be that of one element. */
const nameOf = (name: string): string => {
  const at = name.indexOf("[")
  const field = at < 0 ? name : name.slice(0, at)
  return (names.get(field) ?? field) + name.slice(field.length)
}
