import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { SseEvent } from "../../../wire/Sse.ts"
import { malformed, objectOf, objectsOf, textOf } from "../../Fields.ts"
import { brokenAnswer } from "../../FinishTable.ts"
import { isObject, type Json, objectAt, parseObject, textAt } from "../../Json.ts"
import { failed, type Machine, more, readable, type Step, whole } from "../../Protocol.ts"
import type { ProviderCall } from "../../Provider.ts"
import { servedOf } from "../../Served.ts"
import { classifyInBand } from "./Classify.ts"
import { ContentBlocks } from "./ContentBlocks.ts"
import { finishReasonOf } from "./FinishReasons.ts"
import { UsageSoFar } from "./Usage.ts"

/** What a stream has said so far. */
export interface State {
  readonly blocks: ContentBlocks
  readonly usage: UsageSoFar
  finished: boolean
}

const start = (call: ProviderCall): State => ({
  blocks: new ContentBlocks(call.request),
  usage: new UsageSoFar(),
  finished: false
})

export const machine: Machine<SseEvent, State> = {
  start,
  step: (state, frame) => {
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
        // `ping`, and whatever will be invented: by its own rules, unknown events are to be ignored
        if (frame.event === "error" || isObject(json["error"])) return failed(classifyInBand(json))
        return textOf(json, "type") === undefined ? failed(brokenAnswer("an event without a type")) : more()
    }
  },
  /** Whole if the reason to stop has come. */
  onEnd: (state) => (state.finished ? whole() : failed({ _tag: "Disconnected" }))
}

/** A plain answer is its own stream, all at once. */
export const plain = (call: ProviderCall, body: string): Step =>
  readable(() => {
    const json = parseObject(body)
    if (json === undefined) return failed(brokenAnswer("an answer that is not a JSON object"))
    if (json["type"] === "error" || isObject(json["error"])) return failed(classifyInBand(json))
    if (!Array.isArray(json["content"])) return failed(brokenAnswer("an answer without content"))
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
        if (progress !== "more") return { events, progress }
      }
    }
    const progress = take(messageDelta(state, json, objectAt(json, "usage")))
    if (progress !== "more") return { events, progress }
    if (state.finished) return whole(events)
    return failed(state.blocks.hasContent ? withoutStopReason : { _tag: "EmptyCompletion" }, events)
  })

const withoutStopReason = brokenAnswer("an answer without a stop reason")

/** The usage of the start is not told: it counts an answer that has not been given. */
const messageStart = (state: State, message: Json): Step => {
  const usage = objectAt(message, "usage")
  state.usage.read(usage)
  const model = textAt(message, "model")
  const serviceTier = textAt(usage, "service_tier")
  return model === undefined && serviceTier === undefined ? more() : more([servedOf({ model, serviceTier })])
}

const messageDelta = (state: State, delta: Json, counts: Json | undefined): Step => {
  const events: Array<ChatEvent> = []
  const native = textOf(delta, "stop_reason")
  const failure = native === undefined ? undefined : stopped(state, native, delta, events)
  if (failure !== undefined) return failed(failure, events)
  state.usage.read(counts)
  const { usage } = state.usage
  if (usage !== undefined && counts !== undefined) events.push({ _tag: "Usage", usage })
  return more(events)
}

/** Of several reasons the first counts, but a failure always does. */
const stopped = (state: State, native: string, delta: Json, events: Array<ChatEvent>): ProviderFailure | undefined => {
  const known = finishReasonOf(native)
  if (typeof known !== "string") return known
  if (state.finished) return undefined
  state.finished = true
  for (const event of state.blocks.stopAll()) events.push(event)
  if (native === "refusal") refusal(state, delta, events)
  events.push({
    _tag: "Finish",
    reason: known === "stop" && state.blocks.toolCalls > 0 ? "tool_calls" : known,
    native
  })
  return undefined
}

/** A refusal without a word of its own is explained by the provider. */
const refusal = (state: State, delta: Json, events: Array<ChatEvent>): void => {
  const explanation = textAt(objectAt(delta, "stop_details"), "explanation")
  if (explanation !== undefined && !state.blocks.hasContent) events.push({ _tag: "Refusal", text: explanation })
}

const messageStop = (state: State): Step => {
  if (state.finished) return whole()
  return failed(state.blocks.hasContent ? withoutStopReason : { _tag: "EmptyCompletion" })
}
