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

/** A block of the response that has begun; its fields are what has come of it. */
type Block =
  | { readonly type: "text"; readonly partId: string }
  | ({ readonly type: "reasoning"; readonly partId: string } & ReasoningDelta)
  | {
      readonly type: "call"
      readonly index: number
      readonly id: string
      readonly name: string
      readonly arguments: string
    }

/** Turns the events of one response into parts. One block is open at a time: the next one begins with the end of that before. */
export class StreamParts {
  private readonly start: ResponseStart
  private open: Block | undefined
  private begun = 0

  constructor(start: ResponseStart) {
    this.start = start
  }

  of(event: ChatEvent | Completed): Parts {
    switch (event._tag) {
      case "Text":
      case "Refusal":
        return this.text(event.text)
      case "Reasoning":
        return this.reasoning(event)
      case "ToolCall":
        return this.call(event)
      case "Annotation": {
        const part = sourcePart(event.annotation, this.nextId())
        return part === undefined ? nothing : Either.right([part])
      }
      case "Completed":
        return this.next(undefined, [finishPart(event.finish.reason, event.usage, event.metadata)])
      default:
        return nothing
    }
  }

  private text(delta: string): Parts {
    if (delta === "") return nothing
    if (this.open?.type === "text") return Either.right([{ type: "text-delta", id: this.open.partId, delta }])
    const id = this.nextId()
    return this.next({ type: "text", partId: id }, [
      { type: "text-start", id },
      { type: "text-delta", id, delta }
    ])
  }

  private reasoning(event: ReasoningDelta): Parts {
    const { open } = this
    if (open?.type === "reasoning" && open.index === event.index) {
      this.open = { ...open, ...event, text: open.text + event.text }
      return Either.right(reasoningDeltas(open.partId, event))
    }
    const id = this.nextId()
    return this.next({ ...event, type: "reasoning", partId: id }, [
      { type: "reasoning-start", id },
      ...reasoningDeltas(id, event)
    ])
  }

  private call({ arguments: delta, id = this.nextId(), index, name = "" }: ToolCallDelta): Parts {
    const { open } = this
    if (open?.type === "call" && open.index === index) {
      this.open = { ...open, arguments: open.arguments + delta }
      return Either.right(paramsDeltas(open.id, delta))
    }
    return this.next({ type: "call", index, id, name, arguments: delta }, [
      { type: "tool-params-start", id, name },
      ...paramsDeltas(id, delta)
    ])
  }

  /** Ends the open block before the parts of another one. */
  private next(block: Block | undefined, parts: ReadonlyArray<Part>): Parts {
    const ended = this.open === undefined ? nothing : endOf(this.open, this.start.model)
    this.open = block
    return Either.map(ended, (before) => [...before, ...parts])
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

const endOf = (block: Block, model: string): Parts => {
  switch (block.type) {
    case "text":
      return Either.right([{ type: "text-end", id: block.partId }])
    case "reasoning": {
      const metadata = { [metadataName]: { ...reasoningDetail({ ...block, model }) } }
      return Either.right([{ type: "reasoning-end", id: block.partId, metadata }])
    }
    case "call":
      return Either.map(toolCallPart(block), (call) => [{ type: "tool-params-end", id: block.id }, call])
  }
}
