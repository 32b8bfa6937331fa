import type { ChatRequest, JsonObject } from "../../../domain/Chat.ts"
import { maxStopStrings } from "../../../domain/ProtocolLimits.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { ProviderCall } from "../../Provider.ts"
import { conversationOf } from "../shared/Conversation.ts"
import { objectAt, textAt } from "../shared/Json.ts"
import { toolNamesOf } from "../shared/ToolNames.ts"
import { toolSetOf } from "../shared/Tools.ts"
import { type UpstreamBody, writeBody } from "../shared/UpstreamBody.ts"
import { lowerMessages } from "./Messages.ts"
import { lowerReasoning } from "./Reasoning.ts"
import { Copies, jsonSchema, openApiSchema, type SchemaDialect, schemaTooLarge } from "./Schema.ts"
import { lowerTools } from "./Tools.ts"

/** The upstream request body. The field order is fixed. */
export const lower = (call: ProviderCall, schemas: SchemaDialect): UpstreamBody | ProviderFailure => {
  const conversation = conversationOf(call.request, call.model.id)
  if ("_tag" in conversation) return conversation
  const toolSet = toolSetOf(call.request)
  if ("_tag" in toolSet) return toolSet
  const names = toolNamesOf(call.request)
  const contents = lowerMessages(conversation.turns, call, names)
  if ("_tag" in contents) return contents
  const copies = new Copies()
  const tools = lowerTools(toolSet, names, schemas, copies)
  if ("_tag" in tools) return tools
  const config = generationConfig(call, schemas, copies)
  if ("_tag" in config) return config
  const body = {
    contents: contents.contents,
    systemInstruction:
      conversation.instructions.length === 0
        ? undefined
        : { parts: conversation.instructions.map(({ text }) => ({ text })) },
    tools: tools.tools,
    toolConfig: tools.choice,
    generationConfig: config.fields
  }
  return writeBody(body, call.request)
}

interface Fields {
  readonly fields: JsonObject
}

const generationConfig = (call: ProviderCall, schemas: SchemaDialect, copies: Copies): Fields | ProviderFailure => {
  const { request } = call
  const takes = (parameter: string): boolean => !call.dropped.includes(parameter)
  if (takes("stop") && request.stop.length > maxStopStrings.gemini) {
    return {
      _tag: "RequestRejected",
      message: `The provider supports at most ${maxStopStrings.gemini} stop sequences.`,
      param: "stop"
    }
  }
  const format = responseFormat(request.responseFormat, schemas, copies)
  if ("_tag" in format) return format
  const config: Record<string, unknown> = { maxOutputTokens: call.maxOutputTokens }
  const set = (field: string, value: unknown, parameter: string): void => {
    if (value !== undefined && takes(parameter)) config[field] = value
  }
  set("temperature", request.temperature, "temperature")
  set("topP", request.topP, "top_p")
  set("topK", request.topK, "top_k")
  set("stopSequences", request.stop.length === 0 ? undefined : request.stop, "stop")
  set("frequencyPenalty", request.frequencyPenalty, "frequency_penalty")
  set("presencePenalty", request.presencePenalty, "presence_penalty")
  set("seed", request.seed, "seed")
  set("responseLogprobs", request.logprobs === true ? true : undefined, "logprobs")
  set("logprobs", topLogprobs(request), "top_logprobs")
  for (const [field, value] of Object.entries(format.fields)) config[field] = value
  set("thinkingConfig", lowerReasoning(call), "reasoning_effort")
  return { fields: config }
}

/** The API accepts alternatives only together with `responseLogprobs`. */
const topLogprobs = ({ logprobs, topLogprobs }: ChatRequest): number | undefined =>
  logprobs === true && topLogprobs !== undefined && topLogprobs > 0 ? topLogprobs : undefined

const responseFormat = (
  format: JsonObject | undefined,
  schemas: SchemaDialect,
  copies: Copies
): Fields | ProviderFailure => {
  if (format === undefined || (format["type"] !== "json_object" && format["type"] !== "json_schema"))
    return { fields: {} }
  const responseMimeType = "application/json"
  const asked = objectAt(format, "json_schema")
  const schema = objectAt(asked, "schema")
  if (format["type"] === "json_object" || schema === undefined) return { fields: { responseMimeType } }
  const description = textAt(asked, "description")
  const described = description === undefined || "description" in schema ? schema : { ...schema, description }
  if (schemas === "json") return { fields: { responseMimeType, responseJsonSchema: jsonSchema(described) } }
  const responseSchema = openApiSchema(described, copies)
  return responseSchema === undefined
    ? schemaTooLarge("response_format")
    : { fields: { responseMimeType, responseSchema } }
}
