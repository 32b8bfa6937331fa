import type { CallerShape } from "../domain/Caller.ts"
import type { ChatRequest, Effort, JsonObject, Message, Tool, ToolChoice } from "../domain/Chat.ts"
import type { Model } from "../domain/Model.ts"
import { anthropicServiceTiers } from "../domain/ServiceTiers.ts"
import { exceedsStrictLimits, isStrictMixed, losesFormat, losesStrict } from "../domain/StrictSchema.ts"
import type { ProtocolId, TuningParameter } from "../domain/Support.ts"
import { isClaude, isModeLost, isUnasked } from "./ReasoningMode.ts"
import { tuningOf } from "./Requirements.ts"

/** What of a request does not reach a model as it was sent. The names are those of the request fields. */
export interface LeftOut {
  /** Not sent. */
  readonly dropped: Array<string>
  /** Sent in part, or with another value. */
  readonly altered: Array<string>
}

/** What a request sets, beside its conversation. */
export interface RequestExtras {
  /** The tuning parameters. */
  readonly tuning: ReadonlyArray<TuningParameter>
  /** Images have a level of detail: only one protocol has a field for it. */
  readonly hasDetail: boolean
  /** Parts end cached prefixes. */
  readonly hasBreakpoint: boolean
  /** A tool has failed. */
  readonly hasFailedResult: boolean
  /** Strict tools have more than Claude's providers enforce. */
  readonly exceedsStrictLimits: boolean
}

/** Read once for all candidates: a conversation may be long. */
export const extrasOf = (request: ChatRequest): RequestExtras => ({
  tuning: tuningOf(request),
  ...partExtrasOf(request.messages),
  hasFailedResult: request.messages.some((message) => message.role === "tool" && message.is_error === true),
  exceedsStrictLimits: exceedsStrictLimits(request)
})

/**
 * What this model does not support, or what has no known price here; `extras` are those of the request, `effort` is what is sent. Whatever the translation to the model's protocol leaves out is named here: nothing is left out silently.
 */
export const leftOutOf = (
  model: Model,
  request: ChatRequest,
  extras: RequestExtras,
  effort: Effort | number | undefined,
  isUnpriced: (name: TuningParameter) => boolean
): LeftOut => {
  const { hasBreakpoint, hasDetail, hasFailedResult, tuning } = extras
  const dropped: Array<string> = []
  const altered: Array<string> = []
  for (const name of tuning) {
    if (model.support[name] === "dropped" || isUnpriced(name) || isUnsendable(model, name, request, effort)) {
      dropped.push(name)
    } else if (name === "temperature" && isClamped(model, request)) altered.push(name)
    else if (name === "stop" && rejectsBlankStops(model)) addBlankStops(request.stop, altered)
    else if (isTooLongId(model, name, request)) altered.push(name)
  }
  const isForced = forcesTool(request.toolChoice)
  const takesBudget = model.reasoning?.style === "budget" && !isUnasked(model, request, isForced)
  if (request.reasoning.maxTokens !== undefined && !takesBudget) dropped.push("reasoning.max_tokens")
  if (isModeLost(model, request, effort, isForced)) dropped.push("reasoning.mode")
  // no protocol has a field for it
  if (request.reasoning.summary !== undefined) dropped.push("reasoning.summary")
  if (model.protocol === "gemini" && (request.topLogprobs ?? 0) > 0 && request.logprobs !== true) {
    dropped.push("top_logprobs")
  }
  if (request.responseFormat !== undefined && model.support.response_format !== "native") {
    addUnknownMembers(request.responseFormat, altered)
    addLostMembers(model, request.responseFormat, altered)
  }
  if (isStrictLost(model, request, extras)) altered.push("tools.function.strict")
  if (model.rules?.isOpenAi === true && losesFormat(request)) altered.push("response_format")
  if (hasDetail && isTranslated(model)) dropped.push("messages.image_url.detail")
  if (hasBreakpoint && !takesBreakpoints(model, dropped)) dropped.push("messages.prompt_cache_breakpoint")
  if (hasFailedResult && !tellsFailures(model)) dropped.push("messages.is_error")
  return { dropped, altered }
}

/** The conversation ends with a message of the assistant, and the provider only accepts one that ends with the user. */
export const addsUserTurn = (model: Model, { messages }: ChatRequest): boolean => {
  if (model.protocol !== "bedrock-converse") return false
  const last = messages.findLast(({ role }) => role !== "system" && role !== "developer")
  return last?.role === "assistant" && (last.tool_calls ?? []).length === 0
}

/** Whether the model rejects a reasoning effort together with the tools of the request. */
export const forbidsEffort = (model: Model, tools: ToolUse): boolean =>
  tools !== "none" && (model.toolsForbidEffort || (isClaude(model) && tools === "forced"))

/** Whether the request has tools, and whether the model has to call one. */
export type ToolUse = "none" | "offered" | "forced"

export const toolUseOf = ({ toolChoice, tools }: Pick<ChatRequest, "toolChoice" | "tools">): ToolUse =>
  tools.length === 0 ? "none" : forcesTool(toolChoice) ? "forced" : "offered"

/** A cache that is kept for an hour has a price of its own, which the catalog does not know; one protocol alone has a field for it. */
export const losesCacheTtl = (
  model: Model,
  { cacheMarks }: ChatRequest,
  dropped: ReadonlyArray<string>,
  billingMode: CallerShape["billingMode"]
): boolean =>
  cacheMarks === "1h" &&
  !dropped.includes("cache_control") &&
  (billingMode === "managed" || model.protocol !== "anthropic-messages")

const forcesTool = (choice: ToolChoice | undefined): boolean => {
  if (choice === undefined || typeof choice === "string") return choice === "required"
  const allowed = choice["allowed_tools"]
  if (typeof allowed !== "object" || allowed === null) return true
  return "mode" in allowed && allowed.mode === "required"
}

/** Parameters whose value, alone or beside others of the request, the provider rejects. */
const isUnsendable = (
  model: Model,
  name: TuningParameter,
  request: ChatRequest,
  effort: Effort | number | undefined
): boolean => {
  switch (name) {
    case "temperature":
      return model.capabilities.sampling === false || (isClaude(model) && reasons(model, request, effort))
    case "top_p":
      return (
        model.capabilities.sampling === false ||
        (isClaude(model) && (request.temperature !== undefined || reasons(model, request, effort)))
      )
    case "stop":
      return (rejectsBlankStops(model) && request.stop.every(isBlank)) || forbidsStop(model, effort)
    case "parallel_tool_calls":
      return model.rules?.isOpenAi === true && isOSeries(model)
    case "verbosity":
      return model.rules?.isOpenAi === true && request.verbosity !== "medium" && (isOSeries(model) || isGpt4(model))
    case "service_tier":
      return model.protocol === "anthropic-messages" && !anthropicServiceTiers.has(request.serviceTier ?? "")
    case "safety_identifier":
      // both are sent in one field, and `user` comes first
      return model.protocol === "anthropic-messages" && request.user !== undefined && model.support.user !== "dropped"
    case "seed":
      return model.protocol === "gemini" && !isInt32(request.seed)
    case "top_k":
      if (model.protocol === "bedrock-converse" && !isClaude(model)) return true
      return model.capabilities.sampling === false || (isClaude(model) && reasons(model, request, effort))
    case "cache_control":
      return model.protocol === "bedrock-converse" && !isClaude(model)
    default:
      return false
  }
}

/** OpenAI's models that reason, those too that do not by default: gpt-5.1 and gpt-5.2 reject it unless they are told not to reason. */
const forbidsStop = ({ reasoning, reasonsByDefault, rules }: Model, effort: Effort | number | undefined): boolean =>
  rules?.isOpenAi === true && (reasoning !== null || reasonsByDefault) && effort !== "none"

const isOSeries = ({ upstreamModel }: Model): boolean => /^o\d/.test(upstreamModel)

const isGpt4 = ({ alias, upstreamModel }: Model): boolean => gpt4.test(alias) || gpt4.test(upstreamModel)

const gpt4 = /^(?:chat)?gpt-4/

/** Claude rejects sampling parameters while it reasons: by request, or by default. */
const reasons = (model: Model, request: ChatRequest, effort: Effort | number | undefined): boolean => {
  const { reasoning, reasonsByDefault } = model
  if (reasoning === null) return reasonsByDefault
  if (forcesTool(request.toolChoice) || effort === "none") return false
  if (effort !== undefined && reasoning.style !== "fixed") return true
  const { maxTokens, mode } = request.reasoning
  if (mode !== undefined) return mode !== "disabled" || reasoning.style === "fixed"
  return reasonsByDefault || (reasoning.style === "budget" && maxTokens !== undefined)
}

/** What Gemini takes as a seed; another one makes it reject the request. */
const isInt32 = (seed: number | bigint | undefined): boolean => typeof seed === "number" && (seed | 0) === seed

/** The range of these protocols ends at 1. */
const isClamped = ({ protocol }: Model, { temperature = 0 }: ChatRequest): boolean =>
  (protocol === "anthropic-messages" || protocol === "bedrock-converse") && (temperature < 0 || temperature > 1)

/** Sent as a digest. */
const isTooLongId = ({ rules }: Model, name: TuningParameter, request: ChatRequest): boolean => {
  const id =
    name === "user"
      ? request.user
      : name === "safety_identifier"
        ? request.safetyIdentifier
        : name === "prompt_cache_key"
          ? request.promptCacheKey
          : undefined
  return rules !== undefined && id !== undefined && id.length > rules.maxIdCharacters
}

const rejectsBlankStops = (model: Model): boolean => isClaude(model) || model.protocol === "bedrock-converse"

const isBlank = (text: string): boolean => !/\S/.test(text)

const addBlankStops = (stops: ReadonlyArray<string>, altered: Array<string>): void => {
  stops.forEach((stop, index) => {
    if (isBlank(stop)) altered.push(`stop[${index}]`)
  })
}

const formatMembers: ReadonlySet<string> = new Set(["type", "json_schema"])
const schemaMembers: ReadonlySet<string> = new Set(["name", "description", "schema", "strict"])

/** The members of a response format that only OpenAI itself may know. */
const addUnknownMembers = (format: JsonObject, altered: Array<string>): void => {
  const schema = format["json_schema"]
  for (const key in format) {
    if (!formatMembers.has(key) || (key === "json_schema" && format["type"] !== key))
      altered.push(memberOf("response_format", key))
  }
  if (format["type"] !== "json_schema" || typeof schema !== "object" || schema === null) return
  for (const key in schema) if (!schemaMembers.has(key)) altered.push(memberOf("response_format.json_schema", key))
}

/** Members of a JSON schema format that these protocols have no field for. */
const lostMembers: ReadonlyMap<ProtocolId, ReadonlyArray<string>> = new Map([
  ["anthropic-messages", ["name", "description", "strict"]],
  ["gemini", ["name", "strict"]],
  ["bedrock-converse", ["strict"]]
])

const addLostMembers = ({ protocol }: Model, format: JsonObject, altered: Array<string>): void => {
  const asked = format["json_schema"]
  if (format["type"] !== "json_schema" || !isObject(asked)) return
  const isGiven = (key: string): boolean => (asked[key] ?? null) !== null
  for (const key of lostMembers.get(protocol) ?? []) {
    if (isGiven(key)) altered.push(`response_format.json_schema.${key}`)
  }
  // at Gemini the description is one of the schema, which may have its own
  const { schema } = asked
  if (protocol === "gemini" && isGiven("description") && isObject(schema) && "description" in schema) {
    altered.push("response_format.json_schema.description")
  }
}

const isStrictLost = (model: Model, request: ChatRequest, extras: RequestExtras): boolean => {
  if (model.protocol === "gemini") return request.tools.some(isStrict)
  if (extras.exceedsStrictLimits && isClaude(model)) return true
  if (model.rules?.isStrictUniform === true) return isStrictMixed(request.tools)
  return model.rules?.isOpenAi === true && request.tools.some((tool) => losesStrict(request, tool))
}

const isStrict = (tool: Tool): boolean => tool.type === "function" && tool.function.strict === true

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null

/** Not in the form of chat completions. */
const isTranslated = ({ protocol }: Model): boolean => lostMembers.has(protocol)

/** There is a field that tells whether a tool has failed; at Bedrock two makers' models take it. */
const tellsFailures = ({ protocol, upstreamModel }: Model): boolean =>
  protocol === "bedrock-converse"
    ? /(?:^|[./])(?:anthropic\.|amazon\.nova)/.test(upstreamModel)
    : protocol !== "openai-chat"

/** They are sent with the options of the cache, or as marks of Claude's. */
const takesBreakpoints = (model: Model, dropped: ReadonlyArray<string>): boolean =>
  model.support.prompt_cache_options === "native" ? !dropped.includes("prompt_cache_options") : isClaude(model)

/** Of images the detail `auto` is the same as none. */
const partExtrasOf = (messages: ReadonlyArray<Message>): Pick<RequestExtras, "hasBreakpoint" | "hasDetail"> => {
  let hasBreakpoint = false
  let hasDetail = false
  for (const { content } of messages) {
    if (typeof content !== "object" || content === null) continue
    for (const part of content) {
      if (part.type === "image_url" && (part.image_url.detail ?? "auto") !== "auto") hasDetail = true
      if (part.type !== "refusal" && (part.prompt_cache_breakpoint ?? null) !== null) hasBreakpoint = true
    }
  }
  return { hasBreakpoint, hasDetail }
}

const maxNameCharacters = 64

const memberOf = (of: string, key: string): string =>
  `${of}.${key.length <= maxNameCharacters ? key : `${key.slice(0, maxNameCharacters).toWellFormed()}…`}`
