import { isUtf8 } from "node:buffer"
import type { ChatEvent } from "../../../domain/ChatEvent.ts"
import { writeExactly } from "../../../domain/ExactJson.ts"
import type { EventStreamMessage } from "../../../wire/framing/EventStream.ts"
import type { ProviderCall } from "../../Provider.ts"
import { malformed, objectOf, objectsOf, textOf } from "../shared/Fields.ts"
import { badResponse } from "../shared/FinishReasonTable.ts"
import { type Json, objectAt, parseObject, textAt } from "../shared/Json.ts"
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
import { ContentBlocks } from "./ContentBlocks.ts"
import { classifyInBand } from "./Errors.ts"
import { finishReasonOf } from "./FinishReasons.ts"
import { usageOf } from "./Usage.ts"

/** Decoder state of one stream. */
export interface State {
  readonly blocks: ContentBlocks
  finished: boolean
}

const start = (call: ProviderCall): State => ({ blocks: new ContentBlocks(call), finished: false })

export const streamDecoder: StreamDecoder<EventStreamMessage, State> = {
  start,
  step: (state, message) => {
    const json = isUtf8(message.payload) ? parseObject(new TextDecoder().decode(message.payload)) : undefined
    switch (textIn(message, ":message-type")) {
      case "event":
        return json === undefined
          ? failed({ _tag: "BadResponse", detail: "an event that is not a JSON object" })
          : event(state, textIn(message, ":event-type"), json)
      case "exception":
        return failed(classifyInBand(textIn(message, ":exception-type"), json))
      case "error":
        return failed(classifyInBand(textIn(message, ":error-code"), { message: textIn(message, ":error-message") }))
      default:
        return failed({ _tag: "BadResponse", detail: "a message of an unknown type" })
    }
  },
  /** Complete if a stop reason has been received; usage may be missing. */
  onEnd: (state) => (state.finished ? complete() : failed({ _tag: "Disconnected" }))
}

/**
 * A non-streaming response is decoded by the same steps as a stream. One that is whole as JSON cannot have been cut off, with a stop
 * reason or without.
 */
export const nonStreaming = (call: ProviderCall, body: string): Step =>
  readable(() => {
    const json = parseObject(body)
    if (json === undefined) return failed(badResponse("an answer that is not a JSON object"))
    const message = objectOf(objectOf(json, "output"), "message")
    if (message === undefined) {
      return textAt(json, "message") === undefined && textAt(json, "__type") === undefined
        ? failed(badResponse("an answer without a message"))
        : failed(classifyInBand(textAt(json, "__type") ?? "", json))
    }
    const state = start(call)
    const events: Array<ChatEvent> = []
    const take = (step: Step): Step["progress"] => {
      for (const event of step.events) events.push(event)
      return step.progress
    }
    for (const [at, block] of objectsOf(message, "content").entries()) {
      for (const step of stepsOfBlock(state.blocks, at, block)) {
        const progress = take(step)
        if (progress !== "incomplete") return { events, progress }
      }
    }
    if (textOf(json, "stopReason") === undefined && state.blocks.hasContent) {
      take(incomplete([...state.blocks.stopAll(), unsaidFinish(state.blocks.toolCalls)]))
    } else {
      const progress = take(messageStop(state, json))
      if (typeof progress === "object") return failed(progress, events)
    }
    const usage = usageOf(objectAt(json, "usage"))
    if (usage !== undefined) events.push({ _tag: "Usage", usage })
    return complete(events)
  })

const stepsOfBlock = (blocks: ContentBlocks, at: number, block: Json): ReadonlyArray<Step> => {
  const toolUse = objectOf(block, "toolUse")
  if (toolUse !== undefined) {
    const input = objectOf(toolUse, "input")
    return [
      blocks.start(at, block),
      input === undefined ? incomplete() : blocks.delta(at, { toolUse: { input: writeExactly(input) } }),
      blocks.stop(at)
    ]
  }
  const reasoning = objectOf(block, "reasoningContent")
  const delta =
    reasoning === undefined ? block : { reasoningContent: objectOf(reasoning, "reasoningText") ?? reasoning }
  return [blocks.delta(at, delta), blocks.stop(at)]
}

/** Unknown event types are ignored. */
const event = (state: State, type: string, json: Json): Step => {
  const at = json["contentBlockIndex"]
  switch (type) {
    case "contentBlockStart":
      return state.blocks.start(at, objectOf(json, "start") ?? {})
    case "contentBlockDelta":
      return state.blocks.delta(at, objectOf(json, "delta") ?? malformed("a block's delta without content"))
    case "contentBlockStop":
      return state.blocks.stop(at)
    case "messageStop":
      return messageStop(state, json)
    case "metadata":
      return metadata(state, json)
    default:
      return incomplete()
  }
}

const messageStop = (state: State, json: Json): Step => {
  const events: Array<ChatEvent> = [...state.blocks.stopAll()]
  const native = textOf(json, "stopReason")
  if (native === undefined) {
    const failure = state.blocks.hasContent ? badResponse("an answer without a stop reason") : emptyCompletion
    return failed(failure, events)
  }
  const known = finishReasonOf(native)
  if (typeof known !== "string") return failed(known, events)
  if (state.finished) return incomplete(events)
  state.finished = true
  const reason = finishAfter(state.blocks.toolCalls, known)
  return incomplete([...events, { _tag: "Finish", reason, native }])
}

const emptyCompletion = { _tag: "EmptyCompletion" } as const

/** The metadata event is the last event of a stream. */
const metadata = (state: State, json: Json): Step => {
  const usage = usageOf(objectAt(json, "usage"))
  const events: ReadonlyArray<ChatEvent> = usage === undefined ? [] : [{ _tag: "Usage", usage }]
  return state.finished ? complete(events) : incomplete(events)
}

const textIn = ({ headers }: EventStreamMessage, name: string): string => {
  const header = headers[name]
  return header?.type === "string" ? header.value : ""
}
