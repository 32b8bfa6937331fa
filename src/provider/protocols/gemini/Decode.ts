import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { parse } from "../../../wire/JsonBounds.ts"
import type { SseEvent } from "../../../wire/Sse.ts"
import { firstOf, listOf, malformed, objectOf, objectsOf, textOf } from "../../Fields.ts"
import { isObject, type Json, objectAt, parseObject, textAt } from "../../Json.ts"
import { failed, type Machine, more, readable, type Step, whole } from "../../Protocol.ts"
import type { ProviderCall } from "../../Provider.ts"
import { servedOf } from "../../Served.ts"
import { classifyInBand } from "./Classify.ts"
import { finishReasonOf } from "./FinishReasons.ts"
import { FunctionCalls } from "./FunctionCalls.ts"
import { logprobsOf } from "./Logprobs.ts"
import { usageOf } from "./Usage.ts"

/** What a stream has said so far. */
export interface State {
  readonly calls: FunctionCalls
  /** Blocks of thought so far. */
  blocks: number
  /** The block that thoughts are being added to. */
  thought: number | undefined
  /** A signature of text of which nothing has come yet. */
  signature: string | undefined
  saidText: boolean
  hasContent: boolean
  finished: boolean
  served: string
  usage: string
}

const start = (call: ProviderCall): State => ({
  calls: new FunctionCalls(call),
  blocks: 0,
  thought: undefined,
  signature: undefined,
  saidText: false,
  hasContent: false,
  finished: false,
  served: "",
  usage: ""
})

export const machine: Machine<SseEvent, State> = {
  start,
  step: (state, frame) => {
    const json = parseObject(frame.data)
    return json === undefined
      ? failed({ _tag: "BadResponse", detail: "an event that is not a JSON object" })
      : chunk(state, json)
  },
  onEnd: (state) => (state.finished ? whole() : failed({ _tag: "Disconnected" }))
}

/** A plain answer is one chunk; a stream that is not sent as events is a list of them. */
export const plain = (call: ProviderCall, body: string): Step =>
  readable(() => {
    const chunks = chunksOf(body)
    if (chunks === undefined) return failed({ _tag: "BadResponse", detail: "an answer that is not JSON" })
    const state = start(call)
    const events: Array<ChatEvent> = []
    for (const json of chunks) {
      const step = chunk(state, json)
      for (const event of step.events) events.push(event)
      if (step.progress !== "more") return { events, progress: step.progress }
    }
    if (state.finished) return whole(events)
    return state.hasContent
      ? failed({ _tag: "BadResponse", detail: "an answer without a finish reason" }, events)
      : failed({ _tag: "EmptyCompletion" })
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
  let failure: ProviderFailure | undefined
  if (candidate !== undefined) {
    failure = contents(state, candidate, events)
    failure ??= finish(state, textOf(candidate, "finishReason"), events)
  }
  const counts = JSON.stringify(usage ?? null)
  if (usage !== undefined && counts !== state.usage) {
    state.usage = counts
    events.push({ _tag: "Usage", usage })
  }
  return failure === undefined ? more(events) : failed(failure, events)
}

/** Who answers, said once and again only when it changes. */
const served = (state: State, json: Json, events: Array<ChatEvent>): void => {
  const model = textAt(json, "modelVersion")
  if (model === undefined || model === state.served) return
  state.served = model
  events.push(servedOf({ model }))
}

const contents = (state: State, candidate: Json, events: Array<ChatEvent>): ProviderFailure | undefined => {
  const before = events.length
  let logprobs = logprobsOf(candidate)
  for (const part of objectsOf(objectOf(candidate, "content"), "parts")) {
    const call = objectOf(part, "functionCall")
    if (call !== undefined) {
      state.thought = undefined
      const failure = state.calls.read(part, call, () => state.blocks++, events)
      if (failure !== undefined) return failure
    } else if (part["thought"] === true) {
      thought(state, part, events)
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

/** A part of text and what may stand beside it. Pictures and the provider's own tools are never asked for. */
const textFields: ReadonlySet<string> = new Set(["text", "thought", "thoughtSignature", "partMetadata"])

const thought = (state: State, part: Json, events: Array<ChatEvent>): void => {
  const said = textOf(part, "text") ?? ""
  const signature = textOf(part, "thoughtSignature")
  if (said === "" && signature === undefined) return
  state.thought ??= state.blocks++
  events.push({
    _tag: "Reasoning",
    index: state.thought,
    kind: "text",
    text: said,
    ...(signature !== undefined && { signature })
  })
}

/** A signature may come on text that is empty, at the end of a stream; alone it is no answer, and waits for one. */
const text = (state: State, part: Json, logprobs: ReadonlyArray<unknown>, events: Array<ChatEvent>): void => {
  const said = textOf(part, "text") ?? ""
  if (said !== "" || logprobs.length > 0) {
    state.thought = undefined
    state.saidText = true
    events.push(logprobs.length === 0 ? { _tag: "Text", text: said } : { _tag: "Text", text: said, logprobs })
  }
  state.signature = textOf(part, "thoughtSignature") ?? state.signature
  if (state.signature === undefined || !state.saidText) return
  events.push({ _tag: "Reasoning", index: state.blocks++, kind: "encrypted", text: state.signature })
  state.signature = undefined
}

/** Of several reasons the first counts, but a failure always does. */
const finish = (state: State, reason: string | undefined, events: Array<ChatEvent>): ProviderFailure | undefined => {
  if (reason === undefined || reason === "FINISH_REASON_UNSPECIFIED") return undefined
  const known = finishReasonOf(reason)
  // a reason that explains nothing, for nothing
  if (reason === "OTHER" && !state.hasContent) return { _tag: "EmptyCompletion" }
  if (typeof known !== "string") return known
  if (state.finished) return undefined
  if (state.calls.incomplete) return { _tag: "BadResponse", detail: "a function call that does not end" }
  state.finished = true
  events.push({
    _tag: "Finish",
    reason: known === "stop" && state.calls.count > 0 ? "tool_calls" : known,
    native: reason
  })
  return undefined
}

/** The provider's word, as far as it is one. */
const word = (text: string): string => (/^[A-Z_]{1,40}$/.test(text) ? text : "OTHER")
