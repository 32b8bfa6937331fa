import type { ChatEvent, FinishReason } from "../../../domain/ChatEvent.ts"
import type { SseEvent } from "../../../wire/Sse.ts"
import { isObject, type Json, objectAt, parseObject, textAt } from "../../Json.ts"
import { failed, type Machine, more, type Step, whole } from "../../Protocol.ts"
import type { ProviderCall } from "../../Provider.ts"
import { classifyInBand } from "./Classify.ts"
import { ContentBlocks } from "./ContentBlocks.ts"
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
        return messageStart(state, objectAt(json, "message") ?? {})
      case "content_block_start":
        return state.blocks.start(json["index"], objectAt(json, "content_block") ?? {})
      case "content_block_delta":
        return state.blocks.delta(json["index"], objectAt(json, "delta") ?? {})
      case "content_block_stop":
        return state.blocks.stop(json["index"])
      case "message_delta":
        return messageDelta(state, objectAt(json, "delta") ?? {}, objectAt(json, "usage"))
      case "message_stop":
        return messageStop(state)
      case "error":
        return failed(classifyInBand(json))
      default:
        // `ping`, and whatever will be invented: by its own rules, unknown events are to be ignored
        return frame.event === "error" || isObject(json["error"]) ? failed(classifyInBand(json)) : more()
    }
  },
  /** Whole if the reason to stop has come. */
  onEnd: (state) => (state.finished ? whole() : failed({ _tag: "Disconnected" }))
}

/** A plain answer is its own stream, all at once. */
export const plain = (call: ProviderCall, body: string): Step => {
  const json = parseObject(body)
  if (json === undefined) return failed({ _tag: "BadResponse", detail: "an answer that is not a JSON object" })
  if (json["type"] === "error" || isObject(json["error"])) return failed(classifyInBand(json))
  const content = json["content"]
  if (!Array.isArray(content)) return failed({ _tag: "BadResponse", detail: "an answer without content" })
  const state = start(call)
  const events: Array<ChatEvent> = [...messageStart(state, json).events]
  for (const [index, block] of content.entries()) {
    for (const step of [state.blocks.start(index, isObject(block) ? block : {}), state.blocks.stop(index)]) {
      events.push(...step.events)
      if (step.progress !== "more") return failed(bad("a block that cannot be read"), events)
    }
  }
  const last = messageDelta(state, json, objectAt(json, "usage"))
  events.push(...last.events)
  if (state.finished) return whole(...events)
  return state.blocks.hasContent
    ? failed(bad("an answer without a stop reason"), events)
    : failed({ _tag: "EmptyCompletion" })
}

const bad = (detail: string) => ({ _tag: "BadResponse", detail }) as const

/** The usage of the start is not told: it counts an answer that has not been given. */
const messageStart = (state: State, message: Json): Step => {
  const usage = objectAt(message, "usage")
  state.usage.read(usage)
  const model = textAt(message, "model")
  const serviceTier = textAt(usage, "service_tier")
  if (model === undefined && serviceTier === undefined) return more()
  return more({
    _tag: "Served",
    ...(model !== undefined && { model }),
    ...(serviceTier !== undefined && { serviceTier })
  })
}

const messageDelta = (state: State, delta: Json, counts: Json | undefined): Step => {
  const events: Array<ChatEvent> = []
  const native = textAt(delta, "stop_reason")
  if (native !== undefined && !state.finished) {
    if (native === "refusal") refusal(state, delta, events)
    state.finished = true
    const known = finishReasons.get(native) ?? "stop"
    const reason = known === "stop" && state.blocks.toolCalls > 0 ? "tool_calls" : known
    events.push({ _tag: "Finish", reason, native })
  }
  state.usage.read(counts)
  const { usage } = state.usage
  if (usage !== undefined && counts !== undefined) events.push({ _tag: "Usage", usage })
  return more(...events)
}

/** A refusal without a word of its own is explained by the provider. */
const refusal = (state: State, delta: Json, events: Array<ChatEvent>): void => {
  const explanation = textAt(objectAt(delta, "stop_details"), "explanation")
  if (explanation !== undefined && !state.blocks.hasContent) events.push({ _tag: "Refusal", text: explanation })
}

const messageStop = (state: State): Step => {
  if (state.finished) return whole()
  return failed(state.blocks.hasContent ? bad("an answer without a stop reason") : { _tag: "EmptyCompletion" })
}

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["pause_turn", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"]
])
