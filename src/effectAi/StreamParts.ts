import type * as AiError from "@effect/ai/AiError"
import type * as Response from "@effect/ai/Response"
import * as Either from "effect/Either"
import type { ChatEvent, ReasoningDelta, ToolCallDelta } from "../domain/ChatEvent.ts"
import type { ResponseStart } from "../domain/ResponseStart.ts"
import type { Completed } from "../gateway/StreamView.ts"
import { reasoningDetail } from "../wire/chat/ChatAnswer.ts"
import { metadataName } from "./MetadataName.ts"
import { finishPart, sourcePart, toolCallPart } from "./ResponseParts.ts"

type Part = Response.StreamPartEncoded
type Parts = Either.Either<ReadonlyArray<Part>, AiError.MalformedOutput>

/** Text or reasoning that has begun; its fields are what has come of it. */
type Block =
  | { readonly type: "text"; readonly partId: string }
  | ({ readonly type: "reasoning"; readonly partId: string } & ReasoningDelta)

/** A tool call that has begun. */
interface Call {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/**
 * Turns the events of one response into parts. Of texts and reasoning one is open at a time: the next one, or a call, begins with the
 * end of that before. Fragments of several calls may alternate, and text may stand between them: calls end with the response.
 */
export class StreamParts {
  private readonly start: ResponseStart
  private open: Block | undefined
  private readonly calls = new Map<number, Call>()
  private begun = 0

  constructor(start: ResponseStart) {
    this.start = start
  }

  of(event: ChatEvent | Completed): Parts {
    switch (event._tag) {
      case "Text":
      case "Refusal":
        return Either.right(this.text(event.text))
      case "Reasoning":
        return Either.right(this.reasoning(event))
      case "ToolCall":
        return Either.right(this.call(event))
      case "Annotation": {
        const part = sourcePart(event.annotation, this.nextId())
        return part === undefined ? nothing : Either.right([part])
      }
      case "Completed":
        return Either.map(this.callsEnded(), (calls) =>
          this.next(undefined, [...calls, finishPart(event.finish.reason, event.usage, event.metadata)])
        )
      default:
        return nothing
    }
  }

  private text(delta: string): ReadonlyArray<Part> {
    if (delta === "") return []
    if (this.open?.type === "text") return [{ type: "text-delta", id: this.open.partId, delta }]
    const id = this.nextId()
    return this.next({ type: "text", partId: id }, [
      { type: "text-start", id },
      { type: "text-delta", id, delta }
    ])
  }

  private reasoning(event: ReasoningDelta): ReadonlyArray<Part> {
    const { open } = this
    if (open?.type === "reasoning" && open.index === event.index) {
      this.open = { ...open, ...event, text: open.text + event.text }
      return reasoningDeltas(open.partId, event)
    }
    const id = this.nextId()
    return this.next({ ...event, type: "reasoning", partId: id }, [
      { type: "reasoning-start", id },
      ...reasoningDeltas(id, event)
    ])
  }

  private call({ arguments: delta, id = this.nextId(), index, name = "" }: ToolCallDelta): ReadonlyArray<Part> {
    const begun = this.calls.get(index)
    if (begun !== undefined) {
      this.calls.set(index, { ...begun, arguments: begun.arguments + delta })
      return paramsDeltas(begun.id, delta)
    }
    this.calls.set(index, { id, name, arguments: delta })
    return this.next(undefined, [{ type: "tool-params-start", id, name }, ...paramsDeltas(id, delta)])
  }

  /** In the order in which they have begun. */
  private callsEnded(): Parts {
    return Either.map(Either.all(Array.from(this.calls.values(), endOfCall)), (ended) => ended.flat())
  }

  /** Ends the open text or reasoning before the parts of what comes next. */
  private next(block: Block | undefined, parts: ReadonlyArray<Part>): ReadonlyArray<Part> {
    const ended = this.open === undefined ? parts : [endOf(this.open, this.start.model), ...parts]
    this.open = block
    return ended
  }

  private nextId(): string {
    this.begun += 1
    return `${this.start.requestId}-${this.begun}`
  }
}

const nothing: Parts = Either.right([])

/** The data of an encrypted block is no text. */
const reasoningDeltas = (id: string, { kind, text }: ReasoningDelta): ReadonlyArray<Part> =>
  kind === "encrypted" || text === "" ? [] : [{ type: "reasoning-delta", id, delta: text }]

const paramsDeltas = (id: string, delta: string): ReadonlyArray<Part> =>
  delta === "" ? [] : [{ type: "tool-params-delta", id, delta }]

const endOf = (block: Block, model: string): Part => {
  if (block.type === "text") return { type: "text-end", id: block.partId }
  const metadata = { [metadataName]: { ...reasoningDetail({ ...block, model }) } }
  return { type: "reasoning-end", id: block.partId, metadata }
}

const endOfCall = (call: Call): Parts =>
  Either.map(toolCallPart(call), (part) => [{ type: "tool-params-end", id: call.id }, part])
