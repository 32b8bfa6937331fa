import type { ChatRequest, Effort, Message, ToolChoice, UserPart } from "../domain/Chat.ts"
import type { Capability, Model } from "../domain/Model.ts"
import { type Parameter, shapingParameters, type TuningParameter } from "../domain/Support.ts"

/** One thing the request asks of a model. */
export interface Need {
  /** The word that `excluded` counts by. */
  readonly reason: string
  /** Where the request asks for it. */
  readonly param: string
  /** For people: "does not support …". */
  readonly what: string
  readonly capability: Capability | null
  /** The support table may not refuse it. */
  readonly parameter: Parameter | null
  /** An effort or depth that the model has to advertise. */
  readonly effort: Effort | number | null
}

/** Whether a model does it; `null` where its source does not say. */
export const meets = (model: Model, need: Need): boolean | null => {
  if (need.parameter !== null && isRefused(model, need.parameter)) return false
  if (need.effort !== null) return takesEffort(model, need.effort)
  return need.capability === null ? true : model.capabilities[need.capability]
}

/** All that the request asks for, each once; first come the parameters, then the parts in their order. */
export const needsOf = (request: ChatRequest, pinned: boolean): ReadonlyArray<Need> => {
  const needs: Array<Need> = []
  if (request.tools.length > 0) needs.push(tools("tools", "tools"))
  const choice = request.toolChoice
  if (choice !== undefined && choice !== "auto" && (choice !== "none" || request.tools.length > 0)) {
    needs.push(parameter("tool_choice", "tool_choice", "tools"))
  }
  const format = request.responseFormat?.["type"]
  if (format !== undefined && format !== "text") {
    needs.push(parameter("response_format", "structured output", "structured-output"))
  }
  if (request.modalities?.some((modality) => modality !== "text") === true) {
    needs.push(parameter("modalities", "other modalities than text"))
  }
  if (request.audio !== undefined) needs.push(parameter("audio", "audio output"))
  if (request.logprobs === true) needs.push(parameter("logprobs", "log probabilities", "logprobs"))
  if (request.topLogprobs !== undefined && request.topLogprobs > 0) {
    needs.push(parameter("top_logprobs", "log probabilities", "logprobs"))
  }
  if (pinned && request.effort !== undefined) {
    needs.push({
      ...parameter("reasoning_effort", `the reasoning effort '${request.effort}'`),
      effort: request.effort
    })
  }
  for (const name of tuningOf(request)) needs.push(parameter(name, `the parameter '${name}'`))
  addMessageNeeds(needs, request.messages)
  return needs
}

/** The tuning parameters that the request really sets. */
export const tuningOf = (request: ChatRequest): ReadonlyArray<TuningParameter> => {
  const names: Array<TuningParameter> = []
  const note = (name: TuningParameter, value: unknown): void => {
    if (value !== undefined) names.push(name)
  }
  note("temperature", request.temperature)
  note("top_p", request.topP)
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
  return names
}

/** What of the request the model leaves out, by wire names; `tuning` are the tuning parameters that it sets. */
export const droppedBy = (
  model: Model,
  request: ChatRequest,
  tuning: ReadonlyArray<TuningParameter>,
  effort: Effort | number | undefined
): ReadonlyArray<string> => {
  let dropped: Array<string> | undefined
  for (const name of tuning) {
    if (
      model.support[name] === "dropped" ||
      (isSampling(name) && model.capabilities.sampling === false) ||
      isRefusedBeside(model, name, request, effort)
    ) {
      dropped ??= []
      dropped.push(name)
    }
  }
  if (request.reasoning.maxTokens !== undefined && model.reasoning?.style !== "budget") {
    dropped ??= []
    dropped.push("reasoning.max_tokens")
  }
  return dropped ?? nothingDropped
}

const nothingDropped: ReadonlyArray<string> = []

/** What the provider takes, but not together with something else that is sent; of the stop sequences, the blank ones. */
const isRefusedBeside = (
  model: Model,
  name: TuningParameter,
  request: ChatRequest,
  effort: Effort | number | undefined
): boolean => {
  if (name === "stop") {
    return (isClaude(model) || model.protocol === "bedrock-converse") && request.stop.some((stop) => !/\S/.test(stop))
  }
  if (!isSampling(name) || !isClaude(model)) return false
  const thinks = model.reasoning !== null && effort !== undefined && effort !== "none"
  return thinks || (name === "top_p" && request.temperature !== undefined)
}

/** Whether the model would refuse to think, given the tools of the request. */
export const forbidsEffort = (model: Model, request: ChatRequest): boolean =>
  request.tools.length > 0 && (model.toolsForbidEffort || (isClaude(model) && forcesTool(request.toolChoice)))

/** By Anthropic's own interface, or behind Bedrock's, whose ids name the maker. */
const isClaude = (model: Model): boolean =>
  model.protocol === "anthropic-messages" ||
  (model.protocol === "bedrock-converse" && /(?:^|[./])anthropic\./.test(model.upstreamModel))

const forcesTool = (choice: ToolChoice | undefined): boolean => {
  if (choice === undefined || typeof choice === "string") return choice === "required"
  const allowed = choice["allowed_tools"]
  if (typeof allowed !== "object" || allowed === null) return true
  return "mode" in allowed && allowed.mode === "required"
}

const isSampling = (name: TuningParameter): boolean => name === "temperature" || name === "top_p"

/** What shapes the answer cannot be left out quietly, so for such a parameter `dropped` is as good as `refused`. */
export const isRefused = (model: Model, name: Parameter): boolean => {
  const support = model.support[name]
  return support === "refused" || (support === "dropped" && shaping.has(name))
}

const shaping: ReadonlySet<Parameter> = new Set<Parameter>(shapingParameters)

const takesEffort = (model: Model, effort: Effort | number): boolean => {
  if (model.reasoning === null) return false
  if (typeof effort === "string") return model.reasoning.efforts.includes(effort)
  const { depth } = model.reasoning
  return depth !== null && effort >= depth.min && effort <= depth.max
}

const parameter = (name: Parameter, what: string, capability: Capability | null = null): Need => ({
  reason: `unsupported_${name}`,
  param: name,
  what,
  capability,
  parameter: name,
  effort: null
})

const part = (capability: Capability, param: string, what: string): Need => ({
  reason: `unsupported_${capability.replace("-", "_")}`,
  param,
  what,
  capability,
  parameter: null,
  effort: null
})

const tools = (param: string, what: string): Need => ({ ...parameter("tools", what, "tools"), param })

/** Looks for the first part of each kind that not every model takes. */
const addMessageNeeds = (needs: Array<Need>, messages: ReadonlyArray<Message>): void => {
  const seen = new Set<Capability>()
  if (needs.some((need) => need.parameter === "tools")) seen.add("tools")
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]
    if (message === undefined) continue
    if (message.role === "user") {
      if (typeof message.content === "string") continue
      for (let index = 0; index < message.content.length; index++) {
        const one = message.content[index]
        if (one !== undefined && one.type !== "text")
          addPartNeeds(needs, seen, one, `messages[${at}].content[${index}]`)
      }
    } else if (!seen.has("tools")) {
      if (message.role === "tool") {
        seen.add("tools")
        needs.push(tools(`messages[${at}].role`, "tool messages"))
      } else if (message.role === "assistant" && message.tool_calls !== undefined && message.tool_calls.length > 0) {
        seen.add("tools")
        needs.push(tools(`messages[${at}].tool_calls`, "tool calls"))
      }
    }
  }
}

const addPartNeeds = (needs: Array<Need>, seen: Set<Capability>, one: UserPart, path: string): void => {
  const once = (capability: Capability, param: string, what: string): void => {
    if (seen.has(capability)) return
    seen.add(capability)
    needs.push(part(capability, param, what))
  }
  switch (one.type) {
    case "text":
      return
    case "image_url":
      once("vision", `${path}.type`, "images")
      if (isWebAddress(one.image_url.url)) once("image-url", `${path}.image_url.url`, "images by address")
      return
    case "input_audio":
      once("audio-input", `${path}.type`, "audio")
      return
    case "file":
      once("file-input", `${path}.type`, "files")
      return
  }
}

const isWebAddress = (url: string): boolean => /^https?:/i.test(url)
