import type { JsonObject } from "../../../domain/Chat.ts"
import { writeExactly } from "../../../domain/ExactJson.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { exceedsStrictLimits } from "../../../domain/StrictSchema.ts"
import type { ProviderCall } from "../../Provider.ts"
import { strictSchema } from "../anthropic-messages/StrictSchema.ts"
import { conversationOf } from "../shared/Conversation.ts"
import { objectAt, textAt } from "../shared/Json.ts"
import { toolNamesOf } from "../shared/ToolNames.ts"
import { isForced, toolSetOf, withoutStrict } from "../shared/Tools.ts"
import { type UpstreamBody, writeBody } from "../shared/UpstreamBody.ts"
import { familyOf } from "./Family.ts"
import { type LoweredMessages, lowerMessages } from "./Messages.ts"
import { isMidTools, type LoweredReasoning, lowerReasoning } from "./Reasoning.ts"
import { lowerTools, withoutTools } from "./Tools.ts"

/** The upstream request body. The field order is fixed; the path names the model. */
export const lower = (call: ProviderCall): UpstreamBody | ProviderFailure => {
  const given = conversationOf(call.request, call.model.id)
  if ("_tag" in given) return given
  const allTools = toolSetOf(call.request)
  if ("_tag" in allTools) return allTools
  const names = toolNamesOf(call.request)
  const family = familyOf(call.model.upstreamModel)
  const toolSet = family.isClaude && exceedsStrictLimits(call.request) ? withoutStrict(allTools) : allTools
  const conversation = toolSet.choice?._tag === "None" ? withoutTools(given) : given
  const takesMarks = family.cachePoints && !call.dropped.includes("cache_control")
  const caching = {
    ofTools: takesMarks && toolSet.tools.some(({ cacheControl }) => cacheControl !== undefined),
    ofWhole: takesMarks && call.request.cacheControl !== undefined
  }
  const messages = lowerMessages(conversation, names, family, caching)
  if ("_tag" in messages) return messages
  const reasoning = lowerReasoning(call, family, isForced(toolSet), isMidTools(messages))
  if ("_tag" in reasoning) return reasoning
  const { request } = call
  const system = request.responseFormat?.["type"] === "json_object" ? [...messages.system, jsonOnly] : messages.system
  const body: ConverseRequest = {
    messages: messages.messages,
    system: system.length === 0 ? undefined : system,
    inferenceConfig: inferenceConfig(call, reasoning, family.isClaude),
    toolConfig: lowerTools(toolSet, conversation, names, caching.ofTools),
    outputConfig: present({ textFormat: textFormat(request.responseFormat), effort: reasoning.effort }),
    additionalModelRequestFields: additionalFields(call, reasoning, family.isClaude)
  }
  return writeBody(body, request)
}

interface ConverseRequest {
  readonly messages: LoweredMessages["messages"]
  readonly system: LoweredMessages["system"] | undefined
  readonly inferenceConfig: JsonObject
  readonly toolConfig: JsonObject | undefined
  readonly outputConfig: JsonObject | undefined
  readonly additionalModelRequestFields: JsonObject | undefined
}

const inferenceConfig = (
  call: ProviderCall,
  { isReasoning: reasons }: LoweredReasoning,
  isClaude: boolean
): JsonObject => {
  const { request } = call
  const takes = (parameter: string): boolean => !call.dropped.includes(parameter)
  // Claude rejects sampling parameters while it reasons, and temperature together with top_p always
  const sampling = !(isClaude && reasons)
  const temperature = takes("temperature") && sampling ? between0and1(request.temperature) : undefined
  const topP = takes("top_p") && sampling && !(isClaude && temperature !== undefined) ? request.topP : undefined
  // blank stop sequences are rejected; the others are still sent
  const stops = request.stop.filter((stop) => /\S/.test(stop))
  return {
    maxTokens: call.maxOutputTokens,
    temperature,
    topP,
    stopSequences: stops.length === 0 || !takes("stop") ? undefined : stops
  }
}

/** Only Claude's models have this parameter here, and not while they reason. */
const additionalFields = (
  call: ProviderCall,
  reasoning: LoweredReasoning,
  isClaude: boolean
): JsonObject | undefined => {
  const { topK } = call.request
  const isSent = topK !== undefined && isClaude && !reasoning.isReasoning && !call.dropped.includes("top_k")
  return isSent ? { ...reasoning.fields, top_k: topK } : reasoning.fields
}

const between0and1 = (temperature: number | undefined): number | undefined =>
  temperature === undefined ? undefined : Math.min(1, Math.max(0, temperature))

const jsonOnly = { text: "Answer with one JSON object and nothing else: no other text around it, no code fence." }

/** The schema is sent as JSON text. */
const textFormat = (format: JsonObject | undefined): JsonObject | undefined => {
  const asked = objectAt(format, "json_schema")
  const schema = objectAt(asked, "schema")
  if (format?.["type"] !== "json_schema" || schema === undefined) return undefined
  const jsonSchema = {
    schema: writeExactly(strictSchema(schema)),
    name: textAt(asked, "name"),
    description: textAt(asked, "description")
  }
  return { type: "json_schema", structure: { jsonSchema } }
}

const present = (fields: JsonObject): JsonObject | undefined =>
  Object.values(fields).every((value) => value === undefined) ? undefined : fields
