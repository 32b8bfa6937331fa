import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { isBlank, type SseEvent } from "../../../wire/framing/Sse.ts"
import type { ProviderCall } from "../../Provider.ts"
import { malformed, objectOf, objectsOf, textOf } from "../shared/Fields.ts"
import { badResponse } from "../shared/FinishReasonTable.ts"
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
import { ContentBlocks } from "./ContentBlocks.ts"
import { classifyInBand } from "./Errors.ts"
import { finishReasonOf } from "./FinishReasons.ts"
import { addCounts, type Counts, usageOf } from "./Usage.ts"

/** Decoder state of one stream. */
export interface State {
  readonly blocks: ContentBlocks
  counts: Counts
  finished: boolean
}

const start = (call: ProviderCall): State => ({
  blocks: new ContentBlocks(call),
  counts: {},
  finished: false
})

export const streamDecoder: StreamDecoder<SseEvent, State> = {
  start,
  step: (state, frame) => {
    if (isBlank(frame) || frame.event === "ping") return incomplete()
    // OpenAI's last event, which servers in front of Claude add
    if (frame.data === "[DONE]") return onEnd(state)
    const json = parseObject(frame.data)
    if (json === undefined) return failed({ _tag: "BadResponse", detail: "an event that is not a JSON object" })
    switch (json["type"]) {
      case "message_start":
        return messageStart(state, objectOf(json, "message") ?? {})
      case "content_block_start":
        return state.blocks.start(
          json["index"],
          objectOf(json, "content_block") ?? malformed("a block without content")
        )
      case "content_block_delta":
        return state.blocks.delta(
          json["index"],
          objectOf(json, "delta") ?? malformed("a block's delta without content")
        )
      case "content_block_stop":
        return state.blocks.stop(json["index"])
      case "message_delta":
        return messageDelta(state, objectOf(json, "delta") ?? {}, objectAt(json, "usage"))
      case "message_stop":
        return messageStop(state)
      case "error":
        return failed(classifyInBand(json))
      default:
        // `ping` and unknown events: the API's versioning rules require clients to ignore unknown event types
        if (frame.event === "error" || isObject(json["error"])) return failed(classifyInBand(json))
        return textOf(json, "type") === undefined ? failed(badResponse("an event without a type")) : incomplete()
    }
  },
  /** Complete if a stop reason has been received. */
  onEnd: (state) => onEnd(state)
}

const onEnd = (state: State): Step => (state.finished ? complete() : failed({ _tag: "Disconnected" }))

/**
 * A non-streaming response is decoded by the same steps as a stream. One that is whole as JSON cannot have been cut off, with a stop
 * reason or without.
 */
export const nonStreaming = (call: ProviderCall, body: string): Step =>
  readable(() => {
    const json = parseObject(body)
    if (json === undefined) return failed(badResponse("an answer that is not a JSON object"))
    if (json["type"] === "error" || isObject(json["error"])) return failed(classifyInBand(json))
    if (!Array.isArray(json["content"])) return failed(badResponse("an answer without content"))
    const state = start(call)
    const events: Array<ChatEvent> = []
    const take = (step: Step): Step["progress"] => {
      for (const event of step.events) events.push(event)
      return step.progress
    }
    take(messageStart(state, json))
    for (const [index, block] of objectsOf(json, "content").entries()) {
      for (const step of [state.blocks.start(index, block), state.blocks.stop(index)]) {
        const progress = take(step)
        if (progress !== "incomplete") return { events, progress }
      }
    }
    const progress = take(messageDelta(state, json, objectAt(json, "usage")))
    if (progress !== "incomplete") return { events, progress }
    if (state.finished) return complete(events)
    if (!state.blocks.hasContent) return failed({ _tag: "EmptyCompletion" }, events)
    return complete([...events, ...state.blocks.stopAll(), unsaidFinish(state.blocks.toolCalls)])
  })

const withoutStopReason = badResponse("an answer without a stop reason")

/** The prompt's counts; the output count of the start event covers output that does not exist yet. */
const messageStart = (state: State, message: Json): Step => {
  const counts = objectAt(message, "usage")
  state.counts = addCounts(state.counts, counts)
  const events: Array<ChatEvent> = []
  const model = textAt(message, "model")
  const serviceTier = textAt(counts, "service_tier")
  if (model !== undefined || serviceTier !== undefined) events.push(responseInfoOf({ model, serviceTier }))
  const usage = usageOf({ ...state.counts, output_tokens: 0 })
  if (usage !== undefined) events.push({ _tag: "Usage", usage })
  return incomplete(events)
}

const messageDelta = (state: State, delta: Json, counts: Json | undefined): Step => {
  const events: Array<ChatEvent> = []
  const native = textOf(delta, "stop_reason")
  const failure = native === undefined ? undefined : finish(state, native, delta, events)
  if (failure !== undefined) return failed(failure, events)
  state.counts = addCounts(state.counts, counts)
  const usage = usageOf(state.counts)
  if (usage !== undefined && counts !== undefined) events.push({ _tag: "Usage", usage })
  return incomplete(events)
}

/** The first of several finish reasons applies, but a failure always does. */
const finish = (state: State, native: string, delta: Json, events: Array<ChatEvent>): ProviderFailure | undefined => {
  const known = finishReasonOf(native)
  if (typeof known !== "string") return known
  if (state.finished) return undefined
  state.finished = true
  for (const event of state.blocks.stopAll()) events.push(event)
  if (native === "refusal") refusal(state, delta, events)
  events.push({
    _tag: "Finish",
    reason: finishAfter(state.blocks.toolCalls, known),
    native,
    ...stopSequenceOf(delta)
  })
  return undefined
}

const stopSequenceOf = (delta: Json): { readonly stopSequence?: string } => {
  const stopSequence = textAt(delta, "stop_sequence")
  return stopSequence === undefined ? {} : { stopSequence }
}

/** A refusal without any text gets the provider's explanation as its text. */
const refusal = (state: State, delta: Json, events: Array<ChatEvent>): void => {
  const explanation = textAt(objectAt(delta, "stop_details"), "explanation")
  if (explanation !== undefined && !state.blocks.hasContent) events.push({ _tag: "Refusal", text: explanation })
}

const messageStop = (state: State): Step => {
  if (state.finished) return complete()
  return failed(state.blocks.hasContent ? withoutStopReason : { _tag: "EmptyCompletion" })
}
