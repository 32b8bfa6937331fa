import type { ChatEvent, Finish, ReasoningDelta, ToolCallDelta } from "../../domain/ChatEvent.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import { type Usage, usage as usageWith } from "../../domain/Usage.ts"
import { anthropicError, type WireError } from "../ErrorBody.ts"
import * as Sse from "../framing/Sse.ts"
import { type Block, type BlockOutput, CallWriter, ReasoningWriter, TextWriter } from "./MessagesBlocks.ts"
import type { MessagesEvent } from "./MessagesEventSchema.ts"
import { clientMetadata } from "./MessagesNames.ts"
import { CallIds, emptyMessage, stopOf, usageOf } from "./MessagesObject.ts"

export interface MessagesStreamOptions {
  readonly omitReasoning: boolean
  /** Of the request. */
  readonly ignored?: ReadonlyArray<string> | undefined
}

/** Keeps the connection alive. */
export const ping = Sse.write({ type: "ping" }, "ping")

/**
 * Writes a response as the events of Anthropic's Messages format, one frame per write. Blocks come one after another: official
 * clients add what comes to the last one, so of parallel calls that come mixed the later ones wait for the earlier.
 */
export class MessagesStream {
  private readonly head: ResponseStart
  private readonly options: MessagesStreamOptions
  private readonly write: (frame: string) => boolean
  /** The block that is open, and those that wait behind it. */
  private readonly blocks: Array<Block> = []
  private readonly calls = new Map<number, CallWriter>()
  private readonly ids: CallIds
  private readonly blockIds = new Map<number, string>()
  private last: Block | undefined
  private written = 0
  private refusal = ""
  private usage: Usage | null = null
  private serviceTier: string | null = null
  private state: "new" | "running" | "over" = "new"
  private isFlowing = true

  constructor(head: ResponseStart, options: MessagesStreamOptions, write: (frame: string) => boolean) {
    this.head = head
    this.options = options
    this.write = write
    this.ids = new CallIds(head)
  }

  /** False: the reader is slow. */
  event(event: ChatEvent): boolean {
    this.isFlowing = true
    if (this.state === "over") return true
    switch (event._tag) {
      case "Text":
        if (event.text !== "") this.text().add(event.text)
        break
      case "Refusal":
        if (event.text === "") break
        this.refusal += event.text
        this.text().add(event.text)
        break
      case "Reasoning":
        this.reason(event)
        break
      case "ToolCall":
        this.call(event).add(event.arguments)
        break
      case "Usage":
        this.usage = event.usage
        break
      case "ResponseInfo":
        this.serviceTier = event.serviceTier ?? this.serviceTier
        break
      // the format has citations of its own documents only, and audio cannot be requested; the finish comes with `complete`
      case "Annotation":
      case "Audio":
      case "Finish":
        break
    }
    this.advance()
    return this.isFlowing
  }

  complete(finish: Finish, usage: Usage | null, metadata: RouterMetadata): boolean {
    this.isFlowing = true
    if (this.state === "over") return true
    this.start()
    for (let open = this.blocks.shift(); open !== undefined; open = this.blocks.shift()) {
      open.close()
      this.blocks[0]?.open(this.output())
    }
    const { native, reason, stopSequence = null } = finish
    this.emit({
      type: "message_delta",
      delta: stopOf({ reason, native, stopSequence, refusal: this.refusal }),
      usage: usageOf(usage),
      router_metadata: clientMetadata(metadata, this.options)
    })
    this.emit({ type: "message_stop" })
    this.state = "over"
    return this.isFlowing
  }

  /** No `message_stop` follows, so that no client takes the message for a whole one. */
  fail(error: WireError): void {
    if (this.state === "over") return
    this.state = "over"
    this.emit(anthropicError(error, this.head.requestId))
  }

  private text(): TextWriter {
    return this.last instanceof TextWriter ? this.last : this.begin(new TextWriter())
  }

  private reason(delta: ReasoningDelta): void {
    // an id may come before the first text of its block
    if (delta.id !== undefined) this.blockIds.set(delta.index, delta.id)
    if (delta.text === "" && delta.signature === undefined) return
    const { last } = this
    const id = this.blockIds.get(delta.index)
    const writer =
      last instanceof ReasoningWriter && last.continues(delta)
        ? last
        : this.begin(new ReasoningWriter(delta, this.head.model, this.options.omitReasoning))
    writer.add(id === undefined ? delta : { ...delta, id })
  }

  private call({ extraContent, id = "", index, name = "" }: ToolCallDelta): CallWriter {
    const open = this.calls.get(index)
    if (open !== undefined) return open
    const writer = this.begin(new CallWriter({ id: this.ids.of(id, index), name, extraContent: extraContent ?? null }))
    this.calls.set(index, writer)
    return writer
  }

  private begin<A extends Block>(block: A): A {
    this.start()
    this.last = block
    this.blocks.push(block)
    if (this.blocks.length === 1) block.open(this.output())
    return block
  }

  /** Closes what is whole as long as something waits behind it. */
  private advance(): void {
    while (this.blocks.length > 1 && this.blocks[0]?.mayEnd() === true) {
      this.blocks.shift()?.close()
      this.blocks[0]?.open(this.output())
    }
  }

  /** The place of a block in the message; a block that writes nothing takes none. */
  private output(): BlockOutput {
    let index: number | undefined
    return {
      start: (block) => {
        index = this.written++
        this.emit({ type: "content_block_start", index, content_block: block })
      },
      delta: (delta) => {
        if (index !== undefined) this.emit({ type: "content_block_delta", index, delta })
      },
      stop: () => {
        if (index !== undefined) this.emit({ type: "content_block_stop", index })
      }
    }
  }

  private start(): void {
    if (this.state !== "new") return
    this.state = "running"
    // clients show its count at once, and some of them take no other; most providers tell theirs at the end
    const usage = this.usage ?? usageWith({ inputTokens: this.head.promptTokens ?? 0 })
    this.emit({ type: "message_start", message: emptyMessage(this.head, usage, this.serviceTier) })
  }

  private emit(event: MessagesEvent): void {
    if (!this.write(Sse.write(event, event.type))) this.isFlowing = false
  }
}
