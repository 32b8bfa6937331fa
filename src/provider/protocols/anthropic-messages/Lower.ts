import type { CacheControl, JsonObject } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { anthropicServiceTiers } from "../../../domain/ServiceTiers.ts"
import { exceedsStrictLimits } from "../../../domain/StrictSchema.ts"
import type { ProviderCall } from "../../Provider.ts"
import { conversationOf } from "../shared/Conversation.ts"
import { objectAt } from "../shared/Json.ts"
import { digestOf, idWithin } from "../shared/OpaqueIds.ts"
import { type ToolNames, toolNamesOf } from "../shared/ToolNames.ts"
import { isForced, type ToolSet, toolSetOf, withoutStrict } from "../shared/Tools.ts"
import { type UpstreamBody, writeBody } from "../shared/UpstreamBody.ts"
import { type LowerCacheControl, type LoweredMessages, lowerMessages } from "./Messages.ts"
import { isMidTools, isReasoning, type LoweredReasoning, lowerReasoning } from "./Reasoning.ts"
import { strictSchema } from "./StrictSchema.ts"
import { takesSystemMessages } from "./SystemMessages.ts"
import { lowerTools } from "./Tools.ts"
import { takesSampling } from "./Version.ts"

/** The upstream request body. The field order is fixed. */
export const lower = (call: ProviderCall): UpstreamBody | ProviderFailure => {
  const conversation = conversationOf(call.request, call.model.id, takesSystemMessages(call.model))
  if ("_tag" in conversation) return conversation
  const given = toolSetOf(call.request)
  if ("_tag" in given) return given
  const toolSet = exceedsStrictLimits(call.request) ? withoutStrict(given) : given
  const names = toolNamesOf(call.request)
  const cacheControl = cacheControlOf(call)
  const lowered = lowerMessages(conversation, names, cacheControl)
  if ("_tag" in lowered) return lowered
  const reasoning = lowerReasoning(call, isForced(toolSet), isMidTools(conversation, lowered))
  if ("_tag" in reasoning) return reasoning
  return writeBody(bodyOf(call, toolSet, names, lowered, reasoning, cacheControl), call.request)
}

/** The client's marks as they are, without a time that is not sent to this route. */
const cacheControlOf = ({ dropped }: ProviderCall): LowerCacheControl => {
  if (dropped.includes("cache_control")) return () => undefined
  const takesTtl = !dropped.includes("cache_control.ttl")
  return (given: CacheControl | undefined) => given && { type: given.type, ttl: takesTtl ? given.ttl : undefined }
}

const bodyOf = (
  call: ProviderCall,
  toolSet: ToolSet,
  names: ToolNames,
  lowered: LoweredMessages,
  reasoning: LoweredReasoning,
  cacheControl: LowerCacheControl
): Record<string, unknown> => {
  const { model, request } = call
  const takes = (parameter: string): boolean => !call.dropped.includes(parameter)
  const body: Record<string, unknown> = { model: model.upstreamModel, max_tokens: call.maxOutputTokens }
  const set = (field: string, value: unknown, parameter: string = field): void => {
    if (value !== undefined && takes(parameter)) body[field] = value
  }
  const system = request.responseFormat?.["type"] === "json_object" ? [...lowered.system, jsonOnly] : lowered.system
  if (system.length > 0) body["system"] = system
  body["messages"] = lowered.messages
  set("cache_control", cacheControl(request.cacheControl))
  const tools = lowerTools(
    toolSet,
    names,
    cacheControl,
    takes("parallel_tool_calls") ? request.parallelToolCalls : undefined
  )
  if (tools.tools !== undefined) body["tools"] = tools.tools
  if (tools.choice !== undefined) body["tool_choice"] = tools.choice
  if (reasoning.thinking !== undefined) body["thinking"] = reasoning.thinking
  const output = { effort: reasoning.effort, format: lowerFormat(request.responseFormat) }
  if (output.effort !== undefined || output.format !== undefined) body["output_config"] = output
  if (takesSampling(model) && !isReasoning(reasoning)) {
    set("temperature", between0and1(request.temperature))
    // the API rejects temperature together with top_p
    if (body["temperature"] === undefined) set("top_p", request.topP)
    set("top_k", request.topK)
  }
  // blank stop sequences are rejected; the others are still sent
  const stops = request.stop.filter((stop) => /\S/.test(stop))
  if (stops.length > 0 && takes("stop")) body["stop_sequences"] = stops
  const user =
    (takes("user") ? request.user : undefined) ?? (takes("safety_identifier") ? request.safetyIdentifier : undefined)
  if (user !== undefined) body["metadata"] = { user_id: opaque(user) }
  set("service_tier", anthropicServiceTiers.get(request.serviceTier ?? ""))
  body["stream"] = request.stream
  return body
}

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

const maxUserIdCharacters = 256

/** The id must not be longer and must not identify a person: an id that looks like an e-mail address or phone number is sent as its digest. */
const opaque = (user: string): string =>
  /@|\s|^\+?\d{7,}$/.test(user) ? digestOf(user) : idWithin(user, maxUserIdCharacters)
