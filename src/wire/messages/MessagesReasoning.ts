import type { ReasoningDetail } from "../../domain/Chat.ts"
import type { ReasoningBlock } from "../../domain/Completion.ts"
import { decodeReasoning, encodeReasoning } from "../ReasoningContinuity.ts"

/** The origin of signatures that the gateway has not written: of a conversation that began at Anthropic itself. */
const atAnthropic = "anthropic/*"

/**
 * The `signature` of a thinking block, or the `data` of a redacted one: what the provider has returned, together with the model
 * that alone may be sent it. Providers reject signatures of others, and with `auto` the next call may go to another one. They also
 * reject a signature without the text that it signs: one that the client does not want to see comes along.
 */
export const signatureOf = (block: ReasoningBlock, model: string, isOmitted = false): string =>
  encodeReasoning(block, model, isOmitted)

/** The reasoning of a thinking block that a client sends back; `undefined` where nothing could be sent to any model. */
export const textDetail = (thinking: string, signature: string): ReasoningDetail | undefined => {
  const own = decodeReasoning(signature, thinking)
  if (own !== undefined || signature === "") return own
  return { type: "reasoning.text", text: thinking, signature, format: atAnthropic }
}

export const redactedDetail = (data: string): ReasoningDetail | undefined => {
  const own = decodeReasoning(data, "")
  if (own !== undefined || data === "") return own
  return { type: "reasoning.encrypted", data, format: atAnthropic }
}
