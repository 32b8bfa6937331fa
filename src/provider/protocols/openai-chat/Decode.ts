import type { ChatEvent, FinishReason } from "../../../domain/ChatEvent.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { SseEvent } from "../../../wire/Sse.ts"
import { isObject, type Json, listAt, objectAt, parseObject, textAt } from "../../Json.ts"
import { failed, type Machine, more, type Step, whole } from "../../Protocol.ts"
import type { ProviderCall } from "../../Provider.ts"
import { classifyInBand, inBandError } from "./Classify.ts"
import type { Quirks } from "./Quirks.ts"
import { Reasoning } from "./Reasoning.ts"
import { ToolCalls } from "./ToolCalls.ts"
import { usageOf } from "./Usage.ts"

/** What a stream has said so far. */
export interface State {
  readonly toolCalls: ToolCalls
  readonly reasoning: Reasoning
  finished: boolean
  hasContent: boolean
  served: string
}

const start = (call: ProviderCall, quirks: Quirks): State => ({
  toolCalls: new ToolCalls(call.requestId),
  reasoning: new Reasoning(quirks.repeatsReasoning),
  finished: false,
  hasContent: false,
  served: ""
})

export const machine = (quirks: Quirks): Machine<SseEvent, State> => ({
  start: (call) => start(call, quirks),
  step: (state, frame) => {
    if (frame.data === "[DONE]")
      return state.finished || state.hasContent ? onEnd(state) : failed({ _tag: "EmptyCompletion" })
    const json = parseObject(frame.data)
    if (json === undefined) return failed({ _tag: "BadResponse", detail: "an event that is not a JSON object" })
    const error = inBandError(json)
    if (error !== undefined) return failed(classifyInBand(error))
    if (frame.event === "error") return failed(classifyInBand(json))
    return chunk(state, json, "delta")
  },
  onEnd: (state) => onEnd(state)
})

/** A plain answer is one chunk whose message is the delta. */
export const plain = (call: ProviderCall, body: string, quirks: Quirks): Step => {
  const json = parseObject(body)
  if (json === undefined) return failed({ _tag: "BadResponse", detail: "an answer that is not a JSON object" })
  const error = inBandError(json)
  if (error !== undefined) return failed(classifyInBand(error))
  const state = start(call, quirks)
  const step = chunk(state, json, "message")
  if (step.progress !== "more") return step
  if (state.finished) return whole(...step.events)
  return state.hasContent
    ? failed({ _tag: "BadResponse", detail: "an answer without a finish reason" }, step.events)
    : failed({ _tag: "EmptyCompletion" })
}

/** Whole if a finish has come: vendors differ in whether they say `[DONE]`. */
const onEnd = (state: State): Step => (state.finished ? whole() : failed({ _tag: "Disconnected" }))

const chunk = (state: State, json: Json, shape: "delta" | "message"): Step => {
  const choices = json["choices"]
  const usage = usageOf(json)
  if (!Array.isArray(choices)) {
    return usage === undefined
      ? failed({ _tag: "BadResponse", detail: "an event without choices" })
      : more({ _tag: "Usage", usage })
  }
  const events: Array<ChatEvent> = []
  served(state, json, events)
  const choice: unknown = choices.find((entry) => isObject(entry) && (entry["index"] ?? 0) === 0)
  let failure: ProviderFailure | undefined
  if (isObject(choice)) {
    const inner = inBandError(choice)
    if (inner !== undefined) return failed(classifyInBand(inner), events)
    failure = contents(state, objectAt(choice, shape) ?? {}, objectAt(choice, "logprobs"), events)
    failure ??= finish(state, choice["finish_reason"], textAt(choice, "native_finish_reason"), events)
  }
  if (usage !== undefined) events.push({ _tag: "Usage", usage })
  return failure === undefined ? more(...events) : failed(failure, events)
}

/** Who answers, said once and again only when it changes. */
const served = (state: State, json: Json, events: Array<ChatEvent>): void => {
  const model = textAt(json, "model")
  const serviceTier = textAt(json, "service_tier")
  const systemFingerprint = textAt(json, "system_fingerprint")
  const said = `${model ?? ""}\n${serviceTier ?? ""}\n${systemFingerprint ?? ""}`
  if (said === state.served || said === "\n\n") return
  state.served = said
  events.push({
    _tag: "Served",
    ...(model !== undefined && { model }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...(systemFingerprint !== undefined && { systemFingerprint })
  })
}

const contents = (
  state: State,
  delta: Json,
  logprobs: Json | undefined,
  events: Array<ChatEvent>
): ProviderFailure | undefined => {
  const before = events.length
  state.reasoning.read(delta, events)
  const text = contentText(state, delta["content"], events)
  const tokens = listAt(logprobs, "content")
  if (text !== "" || tokens.length > 0) {
    events.push(tokens.length === 0 ? { _tag: "Text", text } : { _tag: "Text", text, logprobs: tokens })
  }
  const refusal = textAt(delta, "refusal")
  if (refusal !== undefined) events.push({ _tag: "Refusal", text: refusal })
  const failure = state.toolCalls.read(listAt(delta, "tool_calls"), events)
  for (const annotation of listAt(delta, "annotations")) {
    if (isObject(annotation)) events.push({ _tag: "Annotation", annotation })
  }
  const audio = objectAt(delta, "audio")
  if (audio !== undefined) events.push({ _tag: "Audio", audio })
  if (events.length > before) state.hasContent = true
  return failure
}

/** Text, or a list of parts in which a vendor keeps its thoughts apart from its text. */
const contentText = (state: State, content: unknown, events: Array<ChatEvent>): string => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  let text = ""
  for (const part of content) {
    if (!isObject(part)) continue
    if (part["type"] === "thinking") {
      const thought = part["thinking"]
      const pieces = typeof thought === "string" ? [{ text: thought }] : listAt(part, "thinking")
      for (const piece of pieces) if (isObject(piece)) state.reasoning.plain(textAt(piece, "text"), events)
    } else text += textAt(part, "text") ?? ""
  }
  return text
}

/** An empty finish reason is none. */
const finish = (
  state: State,
  reason: unknown,
  native: string | undefined,
  events: Array<ChatEvent>
): ProviderFailure | undefined => {
  if (typeof reason !== "string" || reason === "" || state.finished) return undefined
  const failure = failedFinish.get(reason)
  if (failure !== undefined) return failure
  if (state.toolCalls.incomplete) return { _tag: "BadResponse", detail: "a tool call without a name" }
  state.finished = true
  const known = finishReasons.get(reason) ?? "stop"
  events.push({
    _tag: "Finish",
    reason: known === "stop" && state.toolCalls.count > 0 ? "tool_calls" : known,
    native: native ?? reason
  })
  return undefined
}

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["eos", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["COMPLETE", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_length", "length"],
  ["MAX_TOKENS", "length"],
  ["tool_calls", "tool_calls"],
  ["tool_use", "tool_calls"],
  ["function_call", "tool_calls"],
  ["TOOL_CALL", "tool_calls"],
  ["content_filter", "content_filter"],
  ["safety", "content_filter"],
  ["sensitive", "content_filter"],
  ["refusal", "content_filter"]
])

/** Some vendors report their own breakdown as a way to finish. */
const failedFinish: ReadonlyMap<string, ProviderFailure> = new Map<string, ProviderFailure>([
  ["error", { _tag: "ServerError", status: 500 }],
  ["ERROR", { _tag: "ServerError", status: 500 }],
  ["network_error", { _tag: "ServerError", status: 502 }],
  ["insufficient_system_resource", { _tag: "Overloaded", retryAfterMillis: null }]
])
