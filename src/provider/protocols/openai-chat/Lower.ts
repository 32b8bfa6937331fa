import { hash } from "node:crypto"
import type {
  AssistantMessage,
  JsonObject,
  Message,
  ReasoningDetail,
  TextPart,
  Tool,
  ToolCall,
  ToolChoice,
  UserPart
} from "../../../domain/Chat.ts"
import { isObject, listAt, objectAt, textAt } from "../../Json.ts"
import type { ProviderCall } from "../../Provider.ts"
import { thinkingBudget } from "../../ThinkingBudget.ts"
import type { Quirks } from "./Quirks.ts"

/** The upstream body, its fields always in this order. */
export const lower = (call: ProviderCall, quirks: Quirks): string => {
  const { request } = call
  const takes = (parameter: string): boolean => !call.dropped.includes(parameter)
  const tools = lowerTools(request.tools, request.toolChoice, quirks)
  const body: Record<string, unknown> = {
    model: call.model.upstreamModel,
    messages: request.messages.map((message) => lowerMessage(message, call, quirks))
  }
  const set = (field: string, value: unknown, parameter: string = field): void => {
    if (value !== undefined && takes(parameter)) body[field] = value
  }
  set("tools", tools.tools)
  set("tool_choice", tools.choice)
  set("parallel_tool_calls", tools.tools === undefined ? undefined : request.parallelToolCalls)
  set("temperature", request.temperature)
  set("top_p", request.topP)
  set("stop", request.stop.length === 0 ? undefined : request.stop)
  set("frequency_penalty", request.frequencyPenalty)
  set("presence_penalty", request.presencePenalty)
  set(quirks.seedField, request.seed, "seed")
  set("logprobs", request.logprobs)
  set("top_logprobs", request.topLogprobs)
  set("response_format", lowerResponseFormat(request.responseFormat))
  if (takes("reasoning_effort")) for (const [field, value] of thinkingFields(call, quirks)) body[field] = value
  set("verbosity", request.verbosity)
  set("service_tier", request.serviceTier)
  set("metadata", request.metadata)
  set("store", request.store)
  set("safety_identifier", request.safetyIdentifier)
  set("prompt_cache_key", request.promptCacheKey)
  set("prompt_cache_options", request.promptCacheOptions)
  set("prompt_cache_retention", request.promptCacheRetention)
  set("prediction", request.prediction)
  set("modalities", request.modalities)
  set("audio", request.audio)
  set("moderation", request.moderation)
  set("web_search_options", request.webSearchOptions)
  set("user", request.user)
  for (const [field, value] of Object.entries(quirks.always)) body[field] = value
  body[quirks.outputCapField] = call.maxOutputTokens
  body["stream"] = request.stream
  if (request.stream && quirks.streamOptions) body["stream_options"] = { include_usage: true }
  return JSON.stringify(body)
}

// Messages

const lowerMessage = (message: Message, call: ProviderCall, quirks: Quirks): JsonObject => {
  switch (message.role) {
    case "developer":
      return { role: quirks.instructionRole, content: lowerContent(message.content, call), name: message.name }
    case "system":
      return { role: "system", content: lowerContent(message.content, call), name: message.name }
    case "user":
      return { role: "user", content: lowerContent(message.content, call), name: message.name }
    case "assistant":
      return lowerAssistant(message, call, quirks)
    case "tool":
      return {
        role: "tool",
        tool_call_id: toolCallId(message.tool_call_id, quirks),
        content: lowerContent(message.content, call)
      }
  }
}

const lowerContent = (content: string | ReadonlyArray<UserPart>, call: ProviderCall): unknown =>
  typeof content === "string" ? content : content.map((part) => lowerPart(part, call))

const lowerPart = (part: UserPart, call: ProviderCall): JsonObject => {
  switch (part.type) {
    case "text":
      return lowerText(part, call)
    case "image_url":
      return { type: "image_url", image_url: { url: part.image_url.url, detail: part.image_url.detail } }
    case "input_audio":
      return { type: "input_audio", input_audio: { data: part.input_audio.data, format: part.input_audio.format } }
    case "file":
      return {
        type: "file",
        file: { filename: part.file.filename, file_data: part.file.file_data, file_id: part.file.file_id }
      }
  }
}

/** A breakpoint means something only where the other caching parameters do. */
const lowerText = (part: TextPart, call: ProviderCall): JsonObject =>
  part.prompt_cache_breakpoint && !call.dropped.includes("prompt_cache_options") && caches(call)
    ? { type: "text", text: part.text, prompt_cache_breakpoint: part.prompt_cache_breakpoint }
    : { type: "text", text: part.text }

const caches = (call: ProviderCall): boolean => call.model.support.prompt_cache_options === "native"

const lowerAssistant = (message: AssistantMessage, call: ProviderCall, quirks: Quirks): JsonObject => {
  const content = message.content
  return {
    role: "assistant",
    content:
      typeof content === "string" || !content
        ? (content ?? null)
        : content.map((part) =>
            part.type === "text" ? lowerText(part, call) : { type: "refusal", refusal: part.refusal }
          ),
    refusal: message.refusal ?? undefined,
    name: message.name,
    audio: message.audio ? { id: message.audio.id } : undefined,
    ...reasoningBack(message, call, quirks),
    tool_calls:
      message.tool_calls === undefined || message.tool_calls.length === 0
        ? undefined
        : message.tool_calls.map((toolCall) => lowerToolCall(toolCall, quirks))
  }
}

/**
 * Thoughts with an origin go back there only: a signature is worth nothing elsewhere. Plain thoughts have no origin; vendors
 * that refuse a tool turn without them get them.
 */
const reasoningBack = (message: AssistantMessage, call: ProviderCall, quirks: Quirks): JsonObject => {
  if (quirks.reasoningBack === "none") return {}
  const details = message.reasoning_details ?? []
  const own = details.filter((detail) => detail.format === call.model.id)
  if (quirks.reasoningBack === "reasoning_details") {
    return own.length === 0 ? {} : { reasoning_details: own.map(lowerDetail) }
  }
  const text =
    details.length === 0
      ? (message.reasoning_content ?? message.reasoning ?? "")
      : own.map((detail) => detail.text ?? detail.summary ?? "").join("")
  return text === "" ? {} : { reasoning_content: text }
}

const lowerDetail = (detail: ReasoningDetail): JsonObject => ({
  type: detail.type,
  text: detail.text ?? undefined,
  summary: detail.summary ?? undefined,
  data: detail.data ?? undefined,
  signature: detail.signature ?? undefined,
  id: detail.id ?? undefined,
  index: detail.index ?? undefined
})

const lowerToolCall = (toolCall: ToolCall, quirks: Quirks): JsonObject => {
  const id = toolCallId(toolCall.id, quirks)
  const extra = quirks.extraContent ? (toolCall.extra_content ?? undefined) : undefined
  return toolCall.type === "function"
    ? {
        id,
        type: "function",
        function: { name: toolCall.function.name, arguments: toolCall.function.arguments },
        extra_content: extra
      }
    : {
        id,
        type: "custom",
        custom: { name: toolCall.custom.name, input: toolCall.custom.input },
        extra_content: extra
      }
}

/** An id that the vendor would refuse is replaced by one derived from it, the same in the call and in its result. */
const toolCallId = (id: string, quirks: Quirks): string => {
  const length = quirks.toolCallIdLength
  if (length === null || (id.length === length && /^[A-Za-z0-9]+$/.test(id))) return id
  return hash("sha256", id, "hex").slice(0, length)
}

// Tools

const lowerTools = (
  tools: ReadonlyArray<Tool>,
  choice: ToolChoice | undefined,
  quirks: Quirks
): { readonly tools: ReadonlyArray<JsonObject> | undefined; readonly choice: unknown } => {
  if (tools.length === 0) return { tools: undefined, choice: undefined }
  const allowed = isObject(choice) ? objectAt(choice, "allowed_tools") : undefined
  if (allowed === undefined) return { tools: tools.map(lowerTool), choice: lowerChoice(choice) }
  const names = new Set(listAt(allowed, "tools").map(toolName))
  const mode = allowed["mode"] === "required" ? "required" : "auto"
  if (quirks.allowedTools) {
    const entries = listAt(allowed, "tools").flatMap((entry) => (isObject(entry) ? [namedTool(entry)] : []))
    return { tools: tools.map(lowerTool), choice: { type: "allowed_tools", allowed_tools: { mode, tools: entries } } }
  }
  const kept = tools.filter((tool) => names.has(tool.type === "function" ? tool.function.name : tool.custom.name))
  return kept.length === 0 ? { tools: undefined, choice: undefined } : { tools: kept.map(lowerTool), choice: mode }
}

const lowerTool = (tool: Tool): JsonObject =>
  tool.type === "function"
    ? {
        type: "function",
        function: {
          name: tool.function.name,
          description: tool.function.description,
          parameters: tool.function.parameters,
          strict: tool.function.strict ?? undefined
        }
      }
    : {
        type: "custom",
        custom: { name: tool.custom.name, description: tool.custom.description, format: tool.custom.format }
      }

const lowerChoice = (choice: ToolChoice | undefined): unknown => (isObject(choice) ? namedTool(choice) : choice)

const namedTool = (choice: JsonObject): JsonObject =>
  choice["type"] === "custom"
    ? { type: "custom", custom: { name: toolName(choice) } }
    : { type: "function", function: { name: toolName(choice) } }

const toolName = (entry: unknown): string | undefined =>
  isObject(entry)
    ? (textAt(objectAt(entry, "function"), "name") ?? textAt(objectAt(entry, "custom"), "name"))
    : undefined

// Output

const lowerResponseFormat = (format: JsonObject | undefined): unknown => {
  if (format === undefined) return undefined
  const schema = objectAt(format, "json_schema")
  if (format["type"] !== "json_schema" || schema === undefined) return { type: format["type"] }
  return {
    type: "json_schema",
    json_schema: {
      name: schema["name"],
      description: schema["description"] ?? undefined,
      schema: schema["schema"],
      strict: schema["strict"] ?? undefined
    }
  }
}

const thinkingFields = (call: ProviderCall, quirks: Quirks): ReadonlyArray<[string, unknown]> =>
  Object.entries(thinking(call, quirks))

const thinking = ({ model, request, effort, maxOutputTokens }: ProviderCall, { thinking }: Quirks): JsonObject => {
  const tokens = request.reasoning.maxTokens
  if (model.reasoning === null) return {}
  if (typeof effort === "number") return thinking.effort(effort)
  switch (model.reasoning.style) {
    case "fixed":
      return {}
    case "effort":
      return effort === undefined ? {} : thinking.effort(effort)
    case "toggle":
      return effort === undefined ? {} : thinking.toggle(effort !== "none")
    case "budget":
      if (effort === "none") return thinking.toggle(false)
      if (effort === undefined && tokens === undefined) return {}
      return thinking.budget(thinkingBudget({ effort, tokens, maxOutputTokens, range: model.reasoning.budget }))
  }
}
