import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { isBlank, type SseEvent } from "../../../wire/framing/Sse.ts"
import { parse } from "../../../wire/validation/JsonBounds.ts"
import type { ProviderCall } from "../../Provider.ts"
import { firstOf, listOf, malformed, objectOf, objectsOf, textOf } from "../shared/Fields.ts"
import { isObject, type Json, objectAt, parseObject, textAt } from "../shared/Json.ts"
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
import { classifyInBand } from "./Errors.ts"
import { finishReasonOf } from "./FinishReasons.ts"
import { FunctionCalls } from "./FunctionCalls.ts"
import { logprobsOf } from "./Logprobs.ts"
import { usageOf } from "./Usage.ts"

/** Decoder state of one stream. */
export interface State {
  readonly calls: FunctionCalls
  /** Number of reasoning blocks so far. */
  blocks: number
  /** Index of the reasoning block that is open. */
  openBlock: number | undefined
  /** A signature of text, received before any text. */
  signature: string | undefined
  hasText: boolean
  hasContent: boolean
  finished: boolean
  served: string
  usage: string
}

const start = (call: ProviderCall): State => ({
  calls: new FunctionCalls(call),
  blocks: 0,
  openBlock: undefined,
  signature: undefined,
  hasText: false,
  hasContent: false,
  finished: false,
  served: "",
  usage: ""
})

export const streamDecoder: StreamDecoder<SseEvent, State> = {
  start,
  step: (state, frame) => {
    if (isBlank(frame)) return incomplete()
    // OpenAI's last event, which servers in front of Gemini add
    if (frame.data === "[DONE]") return onEnd(state)
    const json = parseObject(frame.data)
    if (frame.event !== "message" && (json === undefined || !("candidates" in json || "error" in json)))
      return frame.event === "error" ? failed(classifyInBand(json)) : incomplete()
    return json === undefined
      ? failed({ _tag: "BadResponse", detail: "an event that is not a JSON object" })
      : chunk(state, json)
  },
  onEnd: (state) => onEnd(state)
}

const onEnd = (state: State): Step => (state.finished ? complete() : failed({ _tag: "Disconnected" }))

/**
 * A non-streaming response is one chunk; a stream without server-sent events is a list of chunks. Either is whole as JSON, so that a
 * missing finish reason means nothing.
 */
export const nonStreaming = (call: ProviderCall, body: string): Step =>
  readable(() => {
    const chunks = chunksOf(body)
    if (chunks === undefined) return failed({ _tag: "BadResponse", detail: "an answer that is not JSON" })
    const state = start(call)
    const events: Array<ChatEvent> = []
    for (const json of chunks) {
      const step = chunk(state, json)
      for (const event of step.events) events.push(event)
      if (step.progress !== "incomplete") return { events, progress: step.progress }
    }
    if (state.finished) return complete(events)
    if (!state.hasContent) return failed({ _tag: "EmptyCompletion" })
    return state.calls.incomplete ? failed(unendedCall, events) : complete([...events, unsaidFinish(state.calls.count)])
  })

const chunksOf = (body: string): ReadonlyArray<Json> | undefined => {
  const value = parse(body)
  const chunks = Array.isArray(value) ? value : [value]
  return chunks.every(isObject) ? chunks : undefined
}

const chunk = (state: State, json: Json): Step => {
  const error = json["error"]
  if (error !== undefined && error !== null) return failed(classifyInBand(error))
  const events: Array<ChatEvent> = []
  const candidates = listOf(json, "candidates")
  const usage = usageOf(json)
  const blocked = textAt(objectAt(json, "promptFeedback"), "blockReason")
  if (blocked !== undefined && candidates.length === 0) {
    return failed({ _tag: "ContentPolicy", message: `The provider blocked the prompt (${word(blocked)}).` })
  }
  if (!("candidates" in json) && usage === undefined && textAt(json, "modelVersion") === undefined) {
    return failed({ _tag: "BadResponse", detail: "an event without candidates" })
  }
  served(state, json, events)
  const candidate = firstOf(candidates)
  const { finished } = state
  let failure: ProviderFailure | undefined
  if (candidate !== undefined) {
    failure = contents(state, candidate, events)
    failure ??= finish(state, textOf(candidate, "finishReason"), events)
  }
  const counts = JSON.stringify(usage ?? null)
  // the same counts again are no report of what has come since, unless they stand at the finish
  if (usage !== undefined && (counts !== state.usage || state.finished !== finished)) {
    state.usage = counts
    events.push({ _tag: "Usage", usage })
  }
  return failure === undefined ? incomplete(events) : failed(failure, events)
}

/** Emitted once, and again only when the reported values change. */
const served = (state: State, json: Json, events: Array<ChatEvent>): void => {
  const model = textAt(json, "modelVersion")
  if (model === undefined || model === state.served) return
  state.served = model
  events.push(responseInfoOf({ model }))
}

const contents = (state: State, candidate: Json, events: Array<ChatEvent>): ProviderFailure | undefined => {
  const before = events.length
  let logprobs = logprobsOf(candidate)
  for (const part of objectsOf(objectOf(candidate, "content"), "parts")) {
    const call = objectOf(part, "functionCall")
    if (call !== undefined) {
      state.openBlock = undefined
      const failure = state.calls.read(part, call, () => state.blocks++, events)
      if (failure !== undefined) return failure
    } else if (part["thought"] === true) {
      reasoning(state, part, events)
    } else {
      for (const key of Object.keys(part)) {
        if (!textFields.has(key)) return malformed("a part of an unknown kind")
      }
      text(state, part, logprobs, events)
      logprobs = []
    }
  }
  if (events.length > before) state.hasContent = true
  return undefined
}

/** The fields of a text part. Image output and the provider's own tools are never requested. */
const textFields: ReadonlySet<string> = new Set(["text", "thought", "thoughtSignature", "partMetadata"])

const reasoning = (state: State, part: Json, events: Array<ChatEvent>): void => {
  const content = textOf(part, "text") ?? ""
  const signature = textOf(part, "thoughtSignature")
  if (content === "" && signature === undefined) return
  state.openBlock ??= state.blocks++
  events.push({
    _tag: "Reasoning",
    index: state.openBlock,
    kind: "text",
    text: content,
    ...(signature !== undefined && { signature })
  })
}

/** A signature may come with empty text at the end of a stream. Without any text before, it is kept until text comes. */
const text = (state: State, part: Json, logprobs: ReadonlyArray<unknown>, events: Array<ChatEvent>): void => {
  const content = textOf(part, "text") ?? ""
  if (content !== "" || logprobs.length > 0) {
    state.openBlock = undefined
    state.hasText = true
    events.push(logprobs.length === 0 ? { _tag: "Text", text: content } : { _tag: "Text", text: content, logprobs })
  }
  state.signature = textOf(part, "thoughtSignature") ?? state.signature
  if (state.signature === undefined || !state.hasText) return
  events.push({ _tag: "Reasoning", index: state.blocks++, kind: "encrypted", text: state.signature })
  state.signature = undefined
}

const unendedCall: ProviderFailure = { _tag: "BadResponse", detail: "a function call that does not end" }

/** The first of several finish reasons applies, but a failure always does. */
const finish = (state: State, reason: string | undefined, events: Array<ChatEvent>): ProviderFailure | undefined => {
  if (reason === undefined || reason === "FINISH_REASON_UNSPECIFIED") return undefined
  const known = finishReasonOf(reason)
  // OTHER explains nothing, and there is no output
  if (reason === "OTHER" && !state.hasContent) return { _tag: "EmptyCompletion" }
  if (typeof known !== "string") return known
  if (state.finished) return undefined
  if (state.calls.incomplete) return unendedCall
  state.finished = true
  events.push({
    _tag: "Finish",
    reason: finishAfter(state.calls.count, known),
    native: reason
  })
  return undefined
}

/** The provider's code if it has the form of one. */
const word = (text: string): string => (/^[A-Z_]{1,40}$/.test(text) ? text : "OTHER")
