import type { CallerShape } from "../domain/Caller.ts"
import type { ChatRequest, Effort, Message, UserPart } from "../domain/Chat.ts"
import { isWebAddress } from "../domain/MediaTypes.ts"
import { alwaysReasons, type Capability, type Model } from "../domain/Model.ts"
import type { Prices } from "../domain/Prices.ts"
import { maxOpenAiTools, maxStopStrings } from "../domain/ProtocolLimits.ts"
import {
  type Parameter,
  type ProtocolId,
  protocolIds,
  shapingParameters,
  type TuningParameter,
  tuningParameters
} from "../domain/Support.ts"
import { type MediaNeed, mediaNeeds, needOfFile, needOfImage } from "./MediaNeeds.ts"
import { isClaude, requiresEffort } from "./ReasoningMode.ts"

/** One capability, parameter or effort that the request needs of a model. */
export interface Requirement {
  /** The key in `excluded`. */
  readonly reason: string
  /** Path of the request field that needs it. */
  readonly param: string
  /** For the error message "does not support …". */
  readonly what: string
  readonly capability: Capability | null
  /** Must not be unsupported in the model's support table. */
  readonly parameter: Parameter | null
  /** An effort or depth that the model must list. */
  readonly effort: Effort | number | null
  /** What must have a price where the customer is charged. */
  readonly isPriced: ((prices: Prices) => boolean) | null
  /** Of these protocols only, unless the model is not sent the parameter. */
  readonly protocols?: ReadonlySet<ProtocolId>
  /** Of these protocols the capability is not needed. */
  readonly asText?: ReadonlySet<ProtocolId>
  /** Whether the model's API takes it, beside what the catalog says of the model. */
  readonly isTaken?: (model: Model) => boolean
}

/** Whether a model meets the requirement; `null` when that is unknown. */
export const meets = (
  model: Model,
  requirement: Requirement,
  billingMode: CallerShape["billingMode"]
): boolean | null => {
  const { isPriced } = requirement
  if (isPriced !== null && billingMode === "managed" && model.prices !== null && !isPriced(model.prices)) return false
  if (requirement.protocols?.has(model.protocol) === false && !isDropped(model, requirement)) return false
  if (requirement.parameter !== null && isUnsupported(model, requirement.parameter)) return false
  if (requirement.isTaken?.(model) === false) return false
  if (requirement.effort !== null) return takesEffort(model, requirement.effort)
  return requirement.capability === null || requirement.asText?.has(model.protocol)
    ? true
    : model.capabilities[requirement.capability]
}

/** Each requirement once: parameters first, then message parts in their order. `isForced`: a tool must be called. */
export const requirementsOf = (request: ChatRequest, pinned: boolean, isForced = false): ReadonlyArray<Requirement> => {
  const requirements: Array<Requirement> = []
  if (request.tools.length > 0) requirements.push(tools("tools", "tools"))
  if (request.tools.length > maxOpenAiTools) requirements.push(manyTools)
  const choice = request.toolChoice
  if (choice !== undefined && choice !== "auto" && (choice !== "none" || request.tools.length > 0)) {
    requirements.push(parameter("tool_choice", "tool_choice", "tools"))
  }
  if (isForced) requirements.push(forcedTool)
  const format = request.responseFormat?.["type"]
  if (format !== undefined && format !== "text") {
    requirements.push(parameter("response_format", "structured output", "structured-output"))
    if (format === "json_schema") requirements.push(jsonSchema)
    if (format === "json_schema" && request.stream) requirements.push(streamedSchema)
    if (request.tools.length > 0) requirements.push(toolsWithFormat)
  }
  if (request.modalities?.some((modality) => modality !== "text") === true) {
    requirements.push(parameter("modalities", "modalities other than text"))
  }
  if (request.audio !== undefined) requirements.push(parameter("audio", "audio output"))
  addPriceRequirements(requirements, request)
  if (request.logprobs === true) requirements.push(parameter("logprobs", "log probabilities", "logprobs"))
  if (request.topLogprobs !== undefined && request.topLogprobs > 0) {
    requirements.push(parameter("top_logprobs", "log probabilities", "logprobs"))
  }
  if (pinned && request.effort !== undefined && requiresEffort(request.reasoning)) {
    requirements.push({
      ...parameter("reasoning_effort", `the reasoning effort '${request.effort}'`),
      effort: request.effort
    })
  }
  for (const name of tuningOf(request)) requirements.push(parameter(name, `the parameter '${name}'`))
  if (request.stop.length > 1) requirements.push(secondStop)
  if (request.stop.length > 0) addStopRequirement(requirements, request.stop.length)
  addMessageRequirements(requirements, request.messages)
  return requirements
}

/** The tuning parameters that the request sets. */
export const tuningOf = (request: ChatRequest): ReadonlyArray<TuningParameter> => {
  const names: Array<TuningParameter> = []
  const note = (name: TuningParameter, value: unknown): void => {
    if (value !== undefined) names.push(name)
  }
  note("temperature", request.temperature)
  note("top_p", request.topP)
  note("top_k", request.topK)
  if (request.stop.length > 0) names.push("stop")
  note("frequency_penalty", request.frequencyPenalty)
  note("presence_penalty", request.presencePenalty)
  note("seed", request.seed)
  note("verbosity", request.verbosity)
  note("service_tier", request.serviceTier)
  note("store", request.store)
  note("metadata", request.metadata)
  note("user", request.user)
  note("safety_identifier", request.safetyIdentifier)
  note("prompt_cache_key", request.promptCacheKey)
  note("prompt_cache_options", request.promptCacheOptions)
  note("prompt_cache_retention", request.promptCacheRetention)
  note("prediction", request.prediction)
  note("moderation", request.moderation)
  note("web_search_options", request.webSearchOptions)
  note("parallel_tool_calls", request.parallelToolCalls)
  note("cache_control", request.cacheMarks)
  if (request.messages.some(isNamed)) names.push("messages.name")
  return names
}

/** A participant is named. */
const isNamed = (message: Message): boolean => message.role !== "tool" && message.name !== undefined

/** A parameter that shapes the response must not be dropped silently: for it `dropped` counts as `refused`. */
export const isUnsupported = (model: Model, name: Parameter): boolean => {
  const support = model.support[name]
  return support === "refused" || (support === "dropped" && shaping.has(name))
}

/**
 * The requirement with this key in `excluded`, as any request has it that needs the same: without the place that needs it. The
 * requirements of a request can so be recorded without its content. `undefined` for any other text.
 */
export const requirementFor = (reason: string): Requirement | undefined => requirementsByReason().get(reason)

let byReason: ReadonlyMap<string, Requirement> | undefined
const requirementsByReason = (): ReadonlyMap<string, Requirement> => {
  byReason ??= new Map(
    [
      tools("tools", "tools"),
      manyTools,
      parameter("tool_choice", "tool_choice", "tools"),
      forcedTool,
      parameter("response_format", "structured output", "structured-output"),
      jsonSchema,
      streamedSchema,
      toolsWithFormat,
      parameter("logprobs", "log probabilities", "logprobs"),
      parameter("top_logprobs", "log probabilities", "logprobs"),
      ...(["modalities", "audio", ...tuningParameters] as const).map((name) => parameter(name, `'${name}'`)),
      ...(["vision", "image-url", "audio-input", "file-input"] as const).map((name) => part(name, "messages", name)),
      ...mediaNeeds.map((need) => media(need, "messages")),
      secondStop,
      ...moreStops.map(({ requirement }) => requirement),
      pricedModalities("modalities"),
      pricedAudioOutput("audio"),
      pricedAudioInput("messages")
    ].map((one) => [one.reason, one])
  )
  return byReason
}

const shaping: ReadonlySet<Parameter> = new Set<Parameter>(shapingParameters)

const takesEffort = (model: Model, effort: Effort | number): boolean => {
  if (effort === "none" && model.toolsForbidEffort) return true
  if (model.reasoning === null) return false
  if (typeof effort === "string") return model.reasoning.efforts.includes(effort)
  const { depth } = model.reasoning
  return depth !== null && effort >= depth.min && effort <= depth.max
}

const parameter = (name: Parameter, what: string, capability: Capability | null = null): Requirement => ({
  reason: `unsupported_${name}`,
  param: name,
  what,
  capability,
  parameter: name,
  effort: null,
  isPriced: null
})

const priced = (
  name: string,
  param: string,
  what: string,
  isPriced: Exclude<Requirement["isPriced"], null>
): Requirement => ({
  reason: `unpriced_${name}`,
  param,
  what: `${what} at a known price`,
  capability: null,
  parameter: null,
  effort: null,
  isPriced
})

const hasAudioInput = ({ audioInput }: Prices): boolean => (audioInput ?? null) !== null
const hasAudioOutput = ({ audioOutput }: Prices): boolean => (audioOutput ?? null) !== null

const pricedModalities = (param: string): Requirement =>
  priced("modalities", param, "modalities other than text and audio", () => false)
const pricedAudioOutput = (param: string): Requirement => priced("audio_output", param, "audio output", hasAudioOutput)
const pricedAudioInput = (param: string): Requirement => priced("audio_input", param, "audio", hasAudioInput)

/** Of other modalities than text only audio has prices. */
const addPriceRequirements = (requirements: Array<Requirement>, { audio, modalities }: ChatRequest): void => {
  const others = modalities?.filter((modality) => modality !== "text") ?? []
  if (others.some((modality) => modality !== "audio")) {
    requirements.push(pricedModalities("modalities"))
  }
  if (audio !== undefined || others.length > 0) {
    const param = others.length > 0 ? "modalities" : "audio"
    requirements.push(pricedAudioOutput(param))
  }
}

const part = (capability: Capability, param: string, what: string): Requirement => ({
  reason: `unsupported_${capability.replace("-", "_")}`,
  param,
  what,
  capability,
  parameter: null,
  effort: null,
  isPriced: null
})

/** Some providers take no other format than a JSON object. */
const jsonSchema: Requirement = {
  ...parameter("response_format.json_schema", "a JSON schema as response format"),
  param: "response_format"
}

const streamedSchema: Requirement = {
  ...parameter("response_format.json_schema.stream", "a streamed response with a JSON schema"),
  param: "response_format"
}

/**
 * With the tool choice `none` too: the providers that reject the pair are sent the tools all the same. Gemini takes it from version 3
 * on: https://github.com/googleapis/python-genai/issues/706 and /867.
 */
const toolsWithFormat: Requirement = {
  ...parameter("response_format.tools", "tools together with a response format"),
  param: "response_format",
  isTaken: ({ protocol, upstreamModel }) =>
    !(protocol === "gemini" && /(?:^|\/)gemini-[12](?:[.-]|$)/.test(upstreamModel))
}

/** Claude is not forced while it reasons, and some of its models cannot be told not to. */
const forcedTool: Requirement = {
  ...parameter("tool_choice.required", "a forced tool call", "tools"),
  reason: "unsupported_forced_tool",
  param: "tool_choice",
  isTaken: (model) => !(isClaude(model) && alwaysReasons(model))
}

const isDropped = (model: Model, { parameter }: Requirement): boolean =>
  parameter !== null && model.support[parameter] === "dropped"

const secondStop: Requirement = {
  ...parameter("stop[1]", "more than 1 stop sequence"),
  reason: "unsupported_stop_over_1",
  param: "stop"
}

interface MoreStops {
  readonly limit: number
  readonly requirement: Requirement
}

const moreStopsThan = (limit: number): MoreStops => ({
  limit,
  requirement: {
    ...parameter("stop", `more than ${limit} stop sequences`),
    reason: `unsupported_stop_over_${limit}`,
    protocols: new Set(protocolIds.filter((id) => (stopLimits[id] ?? Number.POSITIVE_INFINITY) > limit))
  }
})

const stopLimits: Readonly<Partial<Record<ProtocolId, number>>> = maxStopStrings

/** For each limit of any protocol, lowest first. */
const moreStops: ReadonlyArray<MoreStops> = [...new Set(Object.values(stopLimits))]
  .sort((a, b) => a - b)
  .map(moreStopsThan)

/** Which protocols take that many depends on nothing but the highest limit below: that is what is recorded. */
const addStopRequirement = (requirements: Array<Requirement>, count: number): void => {
  const exceeded = moreStops.findLast(({ limit }) => count > limit)
  if (exceeded !== undefined) requirements.push(exceeded.requirement)
}

const tools = (param: string, what: string): Requirement => ({ ...parameter("tools", what, "tools"), param })

const manyTools: Requirement = {
  ...tools("tools", `more than ${maxOpenAiTools} tools`),
  reason: `unsupported_tools_over_${maxOpenAiTools}`,
  isTaken: ({ rules }) => rules?.isOpenAi !== true
}

/** Adds the first message part of each kind that not every model supports. */
const addMessageRequirements = (requirements: Array<Requirement>, messages: ReadonlyArray<Message>): void => {
  const seen = new Set<string>()
  if (requirements.some((requirement) => requirement.parameter === "tools")) seen.add("tools")
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]
    if (message === undefined) continue
    if (message.role === "user" || (message.role === "tool" && typeof message.content !== "string")) {
      if (message.role === "tool" && !seen.has("tools")) {
        seen.add("tools")
        requirements.push(tools(`messages[${at}].role`, "tool messages"))
      }
      if (typeof message.content === "string") continue
      for (let index = 0; index < message.content.length; index++) {
        const messagePart = message.content[index]
        if (messagePart !== undefined && messagePart.type !== "text")
          addPartRequirements(requirements, seen, messagePart, `messages[${at}].content[${index}]`)
      }
    } else if (!seen.has("tools")) {
      if (message.role === "tool") {
        seen.add("tools")
        requirements.push(tools(`messages[${at}].role`, "tool messages"))
      } else if (message.role === "assistant" && message.tool_calls !== undefined && message.tool_calls.length > 0) {
        seen.add("tools")
        requirements.push(tools(`messages[${at}].tool_calls`, "tool calls"))
      }
    }
  }
}

const addPartRequirements = (
  requirements: Array<Requirement>,
  seen: Set<string>,
  messagePart: UserPart,
  path: string
): void => {
  const once = (capability: Capability, param: string, what: string): void => {
    if (seen.has(capability)) return
    seen.add(capability)
    requirements.push(part(capability, param, what))
  }
  const onceMedia = (need: MediaNeed | undefined, param: string): void => {
    if (need === undefined || seen.has(need.reason)) return
    seen.add(need.reason)
    requirements.push(media(need, param))
  }
  switch (messagePart.type) {
    case "text":
      return
    case "image_url": {
      const { url } = messagePart.image_url
      once("vision", `${path}.type`, "images")
      if (isWebAddress(url)) once("image-url", `${path}.image_url.url`, "images by URL")
      else onceMedia(needOfImage(url), `${path}.image_url.url`)
      return
    }
    case "input_audio":
      if (seen.has("audio-input")) return
      once("audio-input", `${path}.type`, "audio")
      requirements.push(pricedAudioInput(`${path}.type`))
      return
    case "file": {
      const { file } = messagePart
      const need = needOfFile(file)
      if (need?.asText === undefined) once("file-input", `${path}.type`, "files")
      onceMedia(need, `${path}.file.${file.file_data === undefined ? "file_id" : "file_data"}`)
      return
    }
  }
}

const media = ({ asText, capability, protocols, reason, what }: MediaNeed, param: string): Requirement => ({
  ...part(capability, param, what),
  reason,
  protocols,
  ...(asText !== undefined && { asText })
})
