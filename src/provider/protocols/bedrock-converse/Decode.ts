import type { ChatEvent, FinishReason } from "../../../domain/ChatEvent.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import type { EventStreamMessage } from "../../../wire/EventStream.ts"
import { isObject, type Json, listAt, objectAt, parseObject, textAt } from "../../Json.ts"
import { failed, type Machine, more, type Step, whole } from "../../Protocol.ts"
import type { ProviderCall } from "../../Provider.ts"
import { classifyException } from "./Classify.ts"
import { ContentBlocks } from "./ContentBlocks.ts"
import { usageOf } from "./Usage.ts"

/** What a stream has said so far. */
export interface State {
  readonly blocks: ContentBlocks
  finished: boolean
}

const start = (call: ProviderCall): State => ({ blocks: new ContentBlocks(call.request), finished: false })

export const machine: Machine<EventStreamMessage, State> = {
  start,
  step: (state, message) => {
    const json = parseObject(new TextDecoder().decode(message.payload))
    switch (textIn(message, ":message-type")) {
      case "event":
        return json === undefined
          ? failed({ _tag: "BadResponse", detail: "an event that is not a JSON object" })
          : event(state, textIn(message, ":event-type"), json)
      case "exception":
        return failed(classifyException(textIn(message, ":exception-type"), json))
      case "error":
        return failed(classifyException(textIn(message, ":error-code"), { message: textIn(message, ":error-message") }))
      default:
        return failed({ _tag: "BadResponse", detail: "a message of an unknown type" })
    }
  },
  /** Whole if the reason to stop has come; usage may be missing. */
  onEnd: (state) => (state.finished ? whole() : failed({ _tag: "Disconnected" }))
}

/** A plain answer is its own stream, all at once. */
export const plain = (call: ProviderCall, body: string): Step => {
  const json = parseObject(body)
  if (json === undefined) return failed({ _tag: "BadResponse", detail: "an answer that is not a JSON object" })
  const message = objectAt(objectAt(json, "output"), "message")
  if (message === undefined) {
    return textAt(json, "message") === undefined && textAt(json, "__type") === undefined
      ? failed({ _tag: "BadResponse", detail: "an answer without a message" })
      : failed(classifyException(textAt(json, "__type") ?? "", json))
  }
  const state = start(call)
  const events: Array<ChatEvent> = []
  for (const [at, block] of listAt(message, "content").entries()) {
    for (const step of wholeBlock(state.blocks, at, isObject(block) ? block : {})) {
      events.push(...step.events)
      if (step.progress !== "more") return failed(broken("a block that cannot be read"), events)
    }
  }
  const usage = usageOf(objectAt(json, "usage"))
  const last = messageStop(state, json)
  events.push(...last.events)
  if (typeof last.progress === "object") return failed(last.progress, events)
  if (usage !== undefined) events.push({ _tag: "Usage", usage })
  return whole(...events)
}

const wholeBlock = (blocks: ContentBlocks, at: number, block: Json): ReadonlyArray<Step> => {
  const toolUse = objectAt(block, "toolUse")
  if (toolUse !== undefined) {
    const input = toolUse["input"]
    return [
      blocks.start(at, block),
      isObject(input) ? blocks.delta(at, { toolUse: { input: JSON.stringify(input) } }) : more(),
      blocks.stop(at)
    ]
  }
  const reasoning = objectAt(block, "reasoningContent")
  const delta =
    reasoning === undefined ? block : { reasoningContent: objectAt(reasoning, "reasoningText") ?? reasoning }
  return [blocks.delta(at, delta), blocks.stop(at)]
}

/** Kinds of events that will be invented are none of ours. */
const event = (state: State, type: string, json: Json): Step => {
  switch (type) {
    case "contentBlockStart":
      return state.blocks.start(json["contentBlockIndex"], objectAt(json, "start") ?? {})
    case "contentBlockDelta":
      return state.blocks.delta(json["contentBlockIndex"], objectAt(json, "delta") ?? {})
    case "contentBlockStop":
      return state.blocks.stop(json["contentBlockIndex"])
    case "messageStop":
      return messageStop(state, json)
    case "metadata":
      return metadata(state, json)
    default:
      return more()
  }
}

const messageStop = (state: State, json: Json): Step => {
  if (state.finished) return more()
  const { events } = state.blocks.stopAll()
  const native = textAt(json, "stopReason")
  if (native === undefined) {
    return failed(
      state.blocks.hasContent ? broken("an answer without a stop reason") : { _tag: "EmptyCompletion" },
      events
    )
  }
  if (malformed.has(native)) return failed(broken(`the model's answer was malformed (${native})`), events)
  state.finished = true
  const known = finishReasons.get(native) ?? "stop"
  const reason = known === "stop" && state.blocks.toolCalls > 0 ? "tool_calls" : known
  return more(...events, { _tag: "Finish", reason, native })
}

/** The last event of a stream. */
const metadata = (state: State, json: Json): Step => {
  const usage = usageOf(objectAt(json, "usage"))
  const events: ReadonlyArray<ChatEvent> = usage === undefined ? [] : [{ _tag: "Usage", usage }]
  return state.finished ? whole(...events) : more(...events)
}

const broken = (detail: string): ProviderFailure => ({ _tag: "BadResponse", detail })

const textIn = ({ headers }: EventStreamMessage, name: string): string => {
  const header = headers[name]
  return header?.type === "string" ? header.value : ""
}

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool_use", "tool_calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["guardrail_intervened", "content_filter"],
  ["content_filtered", "content_filter"]
])

/** The model's own failure, for which another may do better. */
const malformed: ReadonlySet<string> = new Set(["malformed_model_output", "malformed_tool_use"])
