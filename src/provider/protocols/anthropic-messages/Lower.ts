import { createHash } from "node:crypto"
import type { JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { objectAt } from "../../Json.ts"
import type { ProviderCall } from "../../Provider.ts"
import { type ToolNames, toolNamesOf } from "../turns/ToolNames.ts"
import { type Offer, type OfferedTool, offerOf } from "../turns/Tools.ts"
import { type Conversation, conversationOf } from "../turns/Turns.ts"
import { type Blocks, lowerConversation } from "./Blocks.ts"
import { strictSchema } from "./StrictSchema.ts"
import { isThinking, type Thinking, thinkingOf } from "./Thinking.ts"
import { takesSampling } from "./Version.ts"

/** The upstream body, its fields always in this order. */
export const lower = (call: ProviderCall): string | ProviderFailure => {
  const conversation = conversationOf(call.request, call.model.id)
  if ("_tag" in conversation) return conversation
  const offer = offerOf(call.request)
  if ("_tag" in offer) return offer
  const names = toolNamesOf(call.request)
  const blocks = lowerConversation(conversation, names)
  if ("_tag" in blocks) return blocks
  const thinking = thinkingOf(call, isForced(offer), isMidTools(conversation, blocks))
  if ("_tag" in thinking) return thinking
  return JSON.stringify(bodyOf(call, offer, names, blocks, thinking))
}

const bodyOf = (
  call: ProviderCall,
  offer: Offer,
  names: ToolNames,
  blocks: Blocks,
  thinking: Thinking
): Record<string, unknown> => {
  const { model, request } = call
  const takes = (parameter: string): boolean => !call.dropped.includes(parameter)
  const body: Record<string, unknown> = { model: model.upstreamModel, max_tokens: call.maxOutputTokens }
  const set = (field: string, value: unknown, parameter: string = field): void => {
    if (value !== undefined && takes(parameter)) body[field] = value
  }
  const system = request.responseFormat?.["type"] === "json_object" ? [...blocks.system, jsonOnly] : blocks.system
  if (system.length > 0) body["system"] = system
  body["messages"] = blocks.messages
  if (offer.tools.length > 0) body["tools"] = offer.tools.map((tool) => lowerTool(tool, names))
  const choice = lowerChoice(offer, names, takes("parallel_tool_calls") ? request.parallelToolCalls : undefined)
  if (choice !== undefined) body["tool_choice"] = choice
  if (thinking.thinking !== undefined) body["thinking"] = thinking.thinking
  const output = { effort: thinking.effort, format: lowerFormat(request.responseFormat) }
  if (output.effort !== undefined || output.format !== undefined) body["output_config"] = output
  if (takesSampling(model) && !isThinking(thinking)) {
    set("temperature", between0and1(request.temperature))
    // the two together are refused
    if (body["temperature"] === undefined) set("top_p", request.topP)
  }
  // blank ones are refused; the rest still holds
  const stops = request.stop.filter((stop) => /\S/.test(stop))
  if (stops.length > 0) body["stop_sequences"] = stops
  const user =
    (takes("user") ? request.user : undefined) ?? (takes("safety_identifier") ? request.safetyIdentifier : undefined)
  if (user !== undefined) body["metadata"] = { user_id: opaque(user) }
  set("service_tier", serviceTiers.get(request.serviceTier ?? ""))
  body["stream"] = request.stream
  return body
}

// Tools

const isForced = ({ choice }: Offer): boolean => choice?._tag === "Required" || choice?._tag === "Tool"

/** The answer goes on with a turn of the model's that called tools and did not think first. */
const isMidTools = ({ turns }: Conversation, { messages }: Blocks): boolean => {
  if (turns.at(-1)?.blocks[0]?._tag !== "ToolResult") return false
  const first = messages.at(-2)?.content[0]?.["type"]
  return first !== "thinking" && first !== "redacted_thinking"
}

const lowerTool = (tool: OfferedTool, names: ToolNames): JsonObject => ({
  name: names.toProvider(tool.name),
  description: tool.description,
  input_schema: tool.strict === true ? strictSchema(tool.parameters) : tool.parameters,
  strict: tool.strict === true ? true : undefined
})

/** The wish for one call at a time lives inside the choice, so there has to be one. */
const lowerChoice = (offer: Offer, names: ToolNames, parallel: boolean | undefined): JsonObject | undefined => {
  if (offer.tools.length === 0) return undefined
  const single = parallel === false ? { disable_parallel_tool_use: true } : {}
  switch (offer.choice?._tag) {
    case undefined:
      return parallel === false ? { type: "auto", ...single } : undefined
    case "Auto":
      return { type: "auto", ...single }
    case "Required":
      return { type: "any", ...single }
    case "Tool":
      return { type: "tool", name: names.toProvider(offer.choice.name), ...single }
    case "None":
      return { type: "none" }
  }
}

// Output

const jsonOnly = {
  type: "text",
  text: "Answer with one JSON object and nothing else: no other text around it, no code fence."
}

const lowerFormat = (format: JsonObject | undefined): JsonObject | undefined => {
  const schema = objectAt(objectAt(format, "json_schema"), "schema")
  return format?.["type"] === "json_schema" && schema !== undefined
    ? { type: "json_schema", schema: strictSchema(schema) }
    : undefined
}

const between0and1 = (temperature: number | undefined): number | undefined =>
  temperature === undefined ? undefined : Math.min(1, Math.max(0, temperature))

const longestUserId = 256

/** Must not be longer, and must name nobody: whatever looks like an address is sent as its digest. */
const opaque = (user: string): string =>
  user.length <= longestUserId && !/@|\s|^\+?\d{7,}$/.test(user)
    ? user
    : createHash("sha256").update(user).digest("hex")

const serviceTiers: ReadonlyMap<string, string> = new Map([
  ["auto", "auto"],
  ["priority", "auto"],
  ["default", "standard_only"],
  ["standard_only", "standard_only"]
])
