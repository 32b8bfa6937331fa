import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { isBlank, type SseEvent } from "../../../wire/framing/Sse.ts"
import type { ProviderCall } from "../../Provider.ts"
import { firstOf, listOf, malformed, objectOf, objectsOf, textOf } from "../shared/Fields.ts"
import { isObject, type Json, parseObject, textAt } from "../shared/Json.ts"
import {
  complete,
  failed,
  finishAfter,
  incomplete,
  readable,
  type Step,
  type StreamDecoder,
  unsaidFinish
} from "../shared/Protocol.ts"
import { responseInfoOf } from "../shared/ResponseInfo.ts"
import { classifyInBand, inBandError } from "./Errors.ts"
import { finishReasonOf } from "./FinishReasons.ts"
import type { Quirks } from "./Quirks.ts"
import { ReasoningReader } from "./ReasoningReader.ts"
import { ToolCalls } from "./ToolCalls.ts"
import { usageOf } from "./Usage.ts"

/** Decoder state of one stream. */
export interface State {
  readonly toolCalls: ToolCalls
  readonly reasoning: ReasoningReader
  finished: boolean
  hasContent: boolean
  responseInfo: string
}

const start = (call: ProviderCall, quirks: Quirks): State => ({
  toolCalls: new ToolCalls(call),
  reasoning: new ReasoningReader(quirks.repeatsReasoning),
  finished: false,
  hasContent: false,
  responseInfo: ""
})

export const streamDecoder = (quirks: Quirks): StreamDecoder<SseEvent, State> => ({
  start: (call) => start(call, quirks),
  step: (state, frame) => {
    if (frame.data === "[DONE]")
      return state.finished || state.hasContent ? onEnd(state) : failed({ _tag: "EmptyCompletion" })
    if (isBlank(frame)) return incomplete()
    const json = parseObject(frame.data)
    if (isForeign(frame, json)) return incomplete()
    if (json === undefined) return failed({ _tag: "BadResponse", detail: "an event that is not a JSON object" })
    const error = inBandError(json)
    if (error !== undefined) return failed(classifyInBand(error))
    if (frame.event === "error") return failed(classifyInBand(json))
    return chunk(state, json, "delta")
  },
  onEnd: (state) => onEnd(state)
})

/** An event of a name of its own that is neither a part of the response nor an error, such as a `ping`. */
const isForeign = ({ event }: SseEvent, json: Json | undefined): boolean =>
  event !== "message" &&
  event !== "error" &&
  (json === undefined || (inBandError(json) === undefined && !("choices" in json) && !("usage" in json)))

/**
 * A non-streaming response is decoded as one chunk whose message is the delta. Some servers leave out the finish reason: a response
 * that is whole as JSON cannot have been cut off.
 */
export const nonStreaming = (call: ProviderCall, body: string, quirks: Quirks): Step =>
  readable(() => {
    const json = parseObject(body)
    if (json === undefined) return failed({ _tag: "BadResponse", detail: "an answer that is not a JSON object" })
    const error = inBandError(json)
    if (error !== undefined) return failed(classifyInBand(error))
    const state = start(call, quirks)
    const step = chunk(state, json, "message")
    if (step.progress !== "incomplete") return step
    if (state.finished) return complete(step.events)
    if (!state.hasContent) return failed({ _tag: "EmptyCompletion" })
    if (state.toolCalls.incomplete) return failed(withoutName, step.events)
    const events = [...step.events]
    state.toolCalls.complete(events)
    return complete([...events, unsaidFinish(state.toolCalls.count)])
  })

/** Complete if a finish reason has been received: not all vendors send `[DONE]`. */
const onEnd = (state: State): Step => (state.finished ? complete() : failed({ _tag: "Disconnected" }))

const chunk = (state: State, json: Json, shape: "delta" | "message"): Step => {
  const usage = usageOf(json)
  if (json["choices"] === undefined || json["choices"] === null) {
    return usage === undefined
      ? failed({ _tag: "BadResponse", detail: "an event without choices" })
      : incomplete([{ _tag: "Usage", usage }])
  }
  const events: Array<ChatEvent> = []
  served(state, json, events)
  const choice = firstOf(listOf(json, "choices"))
  let failure: ProviderFailure | undefined
  if (choice !== undefined) {
    const inner = inBandError(choice)
    if (inner !== undefined) return failed(classifyInBand(inner), events)
    failure = contents(state, choice, shape, events)
    failure ??= finish(state, textOf(choice, "finish_reason"), textAt(choice, "native_finish_reason"), events)
  }
  if (usage !== undefined) events.push({ _tag: "Usage", usage })
  return failure === undefined ? incomplete(events) : failed(failure, events)
}

/** Emitted once, and again only when the reported values change. */
const served = (state: State, json: Json, events: Array<ChatEvent>): void => {
  const model = textAt(json, "model")
  const serviceTier = textAt(json, "service_tier")
  const systemFingerprint = textAt(json, "system_fingerprint")
  const reported = `${model ?? ""}\n${serviceTier ?? ""}\n${systemFingerprint ?? ""}`
  if (reported === state.responseInfo || reported === "\n\n") return
  state.responseInfo = reported
  events.push(responseInfoOf({ model, serviceTier, systemFingerprint }))
}

const contents = (
  state: State,
  choice: Json,
  shape: "delta" | "message",
  events: Array<ChatEvent>
): ProviderFailure | undefined => {
  const before = events.length
  const said = objectOf(choice, shape)
  // the last delta of a stream may be missing, an answer may not
  if (said === undefined && shape === "message") return { _tag: "BadResponse", detail: "a choice without a message" }
  const delta = said ?? {}
  const logprobs = objectOf(choice, "logprobs")
  state.reasoning.read(delta, events)
  const text = contentText(state, delta["content"], events)
  const tokens = listOf(logprobs, "content")
  if (text !== "" || tokens.length > 0) {
    events.push(tokens.length === 0 ? { _tag: "Text", text } : { _tag: "Text", text, logprobs: tokens })
  }
  const refusal = textOf(delta, "refusal")
  if (refusal !== undefined) events.push({ _tag: "Refusal", text: refusal })
  if (isCalled(objectOf(delta, "function_call"))) return deprecatedCall
  const calls = listOf(delta, "tool_calls")
  const failure = shape === "message" ? state.toolCalls.readWhole(calls, events) : state.toolCalls.read(calls, events)
  for (const annotation of objectsOf(delta, "annotations")) events.push({ _tag: "Annotation", annotation })
  const audio = objectOf(delta, "audio")
  if (audio !== undefined) events.push({ _tag: "Audio", audio })
  if (events.length > before) state.hasContent = true
  return failure
}

/** Text, or a list of parts in which a vendor separates reasoning from text. */
const contentText = (state: State, content: unknown, events: Array<ChatEvent>): string => {
  if (typeof content === "string") return content
  if (content === undefined || content === null) return ""
  if (!Array.isArray(content)) return malformed("content that is neither text nor a list of parts")
  let text = ""
  for (const part of content) {
    if (!isObject(part)) return malformed("a part of the content that is not an object")
    switch (part["type"]) {
      case "text":
        text += textOf(part, "text") ?? ""
        break
      case "thinking": {
        const reasoning = part["thinking"]
        const pieces = typeof reasoning === "string" ? [{ text: reasoning }] : objectsOf(part, "thinking")
        for (const piece of pieces) state.reasoning.emitText(textOf(piece, "text"), events)
        break
      }
      // Mistral's references to tool results; they have no text
      case "reference":
        break
      default:
        return malformed("a part of the content of an unknown type")
    }
  }
  return text
}

/** Of the request field `functions`, which is never sent. Some servers always send the field, without a call in it. */
const isCalled = (deprecated: Json | undefined): boolean =>
  textAt(deprecated, "name") !== undefined || textAt(deprecated, "arguments") !== undefined

const deprecatedCall: ProviderFailure = { _tag: "BadResponse", detail: "a function call that is not a tool call" }
const withoutName: ProviderFailure = { _tag: "BadResponse", detail: "a tool call without a name" }

/** An empty finish reason counts as absent. The first of several applies, but a failure always does. */
const finish = (
  state: State,
  reason: string | undefined,
  native: string | undefined,
  events: Array<ChatEvent>
): ProviderFailure | undefined => {
  if (reason === undefined) return undefined
  const known = finishReasonOf(reason)
  if (typeof known !== "string") return known
  if (state.finished) return undefined
  if (state.toolCalls.incomplete) return withoutName
  state.finished = true
  // a response that was cut short has calls that are not complete
  if (known === "stop" || known === "tool_calls") state.toolCalls.complete(events)
  events.push({
    _tag: "Finish",
    reason: finishAfter(state.toolCalls.count, known),
    native: native ?? reason
  })
  return undefined
}
