import { asksToReason, type ChatRequest } from "../../../domain/Chat.ts"
import { isEnforceable } from "../../../domain/StrictSchema.ts"
import type { ProviderCall } from "../../Provider.ts"
import { isObject, objectAt } from "../shared/Json.ts"
import { idWithin } from "../shared/OpaqueIds.ts"
import { toolNamesOf } from "../shared/ToolNames.ts"
import { type UpstreamBody, writeBody } from "../shared/UpstreamBody.ts"
import { lowerMessages } from "./Messages.ts"
import type { Quirks } from "./Quirks.ts"
import { lowerReasoning } from "./Reasoning.ts"
import { lowerTools } from "./Tools.ts"

/** The upstream request body. The field order is fixed. */
export const lower = (given: ProviderCall, quirks: Quirks): UpstreamBody => {
  const { request } = given
  const names = toolNamesOf(request)
  const tools = lowerTools(given, quirks, names)
  const call = withForcedTool(given, tools.choice, quirks)
  const takes = (parameter: string): boolean => !call.dropped.includes(parameter)
  const body: Record<string, unknown> = {
    model: call.model.upstreamModel,
    messages: lowerMessages(call, quirks, names)
  }
  const set = (field: string, value: unknown, parameter: string = field): void => {
    if (value !== undefined && takes(parameter)) body[field] = value
  }
  const setId = (field: string, id: string | undefined): void =>
    set(field, id && idWithin(id, quirks.rules.maxIdCharacters))
  set("tools", tools.tools)
  set("tool_choice", tools.choice)
  set("parallel_tool_calls", tools.tools === undefined ? undefined : request.parallelToolCalls)
  set("temperature", request.temperature)
  set("top_p", request.topP)
  set("top_k", request.topK)
  set("stop", request.stop.length === 0 ? undefined : request.stop)
  set("frequency_penalty", request.frequencyPenalty)
  set("presence_penalty", request.presencePenalty)
  set(quirks.seedField, request.seed, "seed")
  // clients send values that ask for nothing, and several vendors reject the fields themselves
  set("logprobs", request.logprobs || undefined)
  set("top_logprobs", request.topLogprobs || undefined)
  set("response_format", lowerResponseFormat(request, quirks))
  if (takes("reasoning_effort")) Object.assign(body, lowerReasoning(call, quirks))
  set("verbosity", request.verbosity)
  set("service_tier", request.serviceTier)
  set("metadata", request.metadata)
  set("store", request.store)
  setId("safety_identifier", request.safetyIdentifier)
  setId("prompt_cache_key", request.promptCacheKey)
  set("prompt_cache_options", request.promptCacheOptions)
  set("prompt_cache_retention", request.promptCacheRetention)
  set("prediction", request.prediction)
  set("modalities", quirks.support.modalities === "refused" ? withAudio(request.modalities) : request.modalities)
  set("audio", request.audio)
  set("moderation", request.moderation)
  set("web_search_options", request.webSearchOptions)
  setId("user", request.user)
  for (const [field, value] of Object.entries(quirks.always)) body[field] = value
  body[quirks.outputCapField] = call.maxOutputTokens
  body["stream"] = request.stream
  if (request.stream && quirks.streamOptions) body["stream_options"] = { include_usage: true }
  return writeBody(body, request)
}

/** Text alone asks for nothing. */
const withAudio = (modalities: ChatRequest["modalities"]) => (modalities?.includes("audio") ? modalities : undefined)

/**
 * A model that reasons unasked is told not to where the vendor would reject the forced tool call, also when the client's own effort
 * is left out.
 */
const withForcedTool = (call: ProviderCall, choice: unknown, quirks: Quirks): ProviderCall => {
  const isForced = choice === "required" || isObject(choice)
  if (!quirks.forcedToolsForbidReasoning || !isForced) return call
  const { effort, model, request } = call
  const isUnasked = effort === undefined && !asksToReason(request.reasoning) && model.reasonsByDefault
  if (!isUnasked || model.reasoning?.efforts.includes("none") !== true) return call
  return { ...call, effort: "none", dropped: call.dropped.filter((name) => name !== "reasoning_effort") }
}

/** A schema has to have a name here, and has none in other formats. */
const unnamed = "output"

/** Only OpenAI's own models get members that are not documented here: other servers reject what they do not know. */
const lowerResponseFormat = (request: ChatRequest, { rules, support }: Quirks): unknown => {
  const format = request.responseFormat
  if (format === undefined) return undefined
  const schema = objectAt(format, "json_schema")
  if ((support.response_format ?? "native") === "native") {
    if (schema === undefined || (schema["name"] ?? null) !== null) return format
    const isEnforced = rules.isOpenAi && request.objectArguments === true && isEnforceable(schema["schema"])
    return { ...format, json_schema: { ...schema, name: unnamed, ...(isEnforced && { strict: true }) } }
  }
  if (format["type"] !== "json_schema" || schema === undefined) return { type: format["type"] }
  return {
    type: "json_schema",
    json_schema: {
      name: schema["name"] ?? unnamed,
      description: schema["description"] ?? undefined,
      schema: schema["schema"],
      strict: schema["strict"] ?? undefined
    }
  }
}
