import type { JsonObject } from "../../domain/Chat.ts"
import type { ReasoningDelta, TextDelta, ToolCallDelta } from "../../domain/ChatEvent.ts"
import type { ReasoningBlock } from "../../domain/Completion.ts"
import type { EventName } from "../framing/Sse.ts"
import {
  type CallTarget,
  callItem,
  type ItemStatus,
  type MessageItem,
  messageItem,
  type OutputItem,
  type ReasoningItem,
  reasoningItem,
  textContent
} from "./ResponsesItems.ts"

/** `place` comes before the other fields. One object of both would have a hidden class of its own for every event. */
export type Emit = (event: EventName, fields: JsonObject, place?: JsonObject) => void

/** The position of an item in the response, part of every event of the item. */
export interface ItemPosition {
  readonly id: string
  readonly outputIndex: number
}

/** The writer of one output item. `item` returns its current state. */
export interface ItemWriter {
  readonly place: ItemPosition
  readonly item: (status: ItemStatus) => OutputItem
  readonly close: (status: ItemStatus) => OutputItem
}

type OpenPart =
  | {
      readonly type: "output_text"
      text: string
      readonly annotations: Array<JsonObject>
      readonly logprobs: Array<unknown>
    }
  | { readonly type: "refusal"; refusal: string }

/** A message: text and refusals in parts, one open at a time. */
export class MessageWriter implements ItemWriter {
  readonly place: ItemPosition
  private readonly emit: Emit
  private readonly done: Array<MessageItem["content"][number]> = []
  private part: OpenPart | undefined

  constructor(emit: Emit, place: ItemPosition) {
    this.emit = emit
    this.place = place
    itemAdded(emit, place, this.item("in_progress"))
  }

  text(delta: TextDelta): void {
    const part = this.textPart()
    const logprobs = delta.logprobs ?? []
    part.text += delta.text
    for (const logprob of logprobs) part.logprobs.push(logprob)
    this.emit("response.output_text.delta", { delta: delta.text, logprobs }, this.at())
  }

  annotate(annotation: JsonObject): void {
    const part = this.textPart()
    const fields = { annotation_index: part.annotations.length, annotation }
    part.annotations.push(annotation)
    this.emit("response.output_text.annotation.added", fields, this.at())
  }

  refuse(text: string): void {
    const part = this.part?.type === "refusal" ? this.part : this.openPart({ type: "refusal", refusal: "" })
    part.refusal += text
    this.emit("response.refusal.delta", { delta: text }, this.at())
  }

  item(status: ItemStatus): MessageItem {
    const open = this.part === undefined ? [] : [contentOf(this.part)]
    return messageItem(this.place.id, status, [...this.done, ...open])
  }

  close(status: ItemStatus): MessageItem {
    this.closePart()
    const item = this.item(status)
    itemDone(this.emit, this.place, item)
    return item
  }

  private textPart(): Extract<OpenPart, { type: "output_text" }> {
    return this.part?.type === "output_text"
      ? this.part
      : this.openPart({ type: "output_text", text: "", annotations: [], logprobs: [] })
  }

  private openPart<A extends OpenPart>(part: A): A {
    this.closePart()
    this.part = part
    this.emit("response.content_part.added", { part: contentOf(part) }, this.at())
    return part
  }

  private closePart(): void {
    if (this.part === undefined) return
    const content = contentOf(this.part)
    if (content.type === "refusal") this.emit("response.refusal.done", { refusal: content.refusal }, this.at())
    else {
      const { logprobs, text } = content
      this.emit("response.output_text.done", { text, logprobs }, this.at())
    }
    this.emit("response.content_part.done", { part: content }, this.at())
    this.done.push(content)
    this.part = undefined
  }

  private at(): JsonObject {
    return { item_id: this.place.id, output_index: this.place.outputIndex, content_index: this.done.length }
  }
}

const contentOf = (part: OpenPart): MessageItem["content"][number] =>
  part.type === "refusal"
    ? { type: "refusal", refusal: part.refusal }
    : textContent(part.text, [...part.annotations], [...part.logprobs])

/** A block of reasoning; the readable part is its summary. */
export class ReasoningWriter implements ItemWriter {
  readonly place: ItemPosition
  readonly index: number
  private readonly emit: Emit
  private readonly origin: string
  private block: ReasoningBlock
  private hasPart = false

  constructor(
    emit: Emit,
    place: ItemPosition,
    origin: string,
    first: Pick<ReasoningDelta, "index" | "kind">,
    id: string | null
  ) {
    this.emit = emit
    this.place = place
    this.origin = origin
    this.index = first.index
    this.block = { kind: first.kind, text: "", signature: null, id }
    itemAdded(emit, place, { id: place.id, type: "reasoning", summary: [] })
  }

  continues(delta: ReasoningDelta): boolean {
    return delta.index === this.index && delta.kind === this.block.kind
  }

  append(delta: ReasoningDelta): void {
    const providerFormat = delta.providerFormat ?? this.block.providerFormat
    this.block = {
      kind: this.block.kind,
      text: this.block.text + delta.text,
      signature: delta.signature ?? this.block.signature,
      id: delta.id ?? this.block.id,
      ...(providerFormat !== undefined && { providerFormat })
    }
    if (this.block.kind === "encrypted" || delta.text === "") return
    if (!this.hasPart) {
      this.hasPart = true
      this.emit("response.reasoning_summary_part.added", { part: { type: "summary_text", text: "" } }, this.at())
    }
    this.emit("response.reasoning_summary_text.delta", { delta: delta.text }, this.at())
  }

  item(): ReasoningItem {
    return reasoningItem(this.place.id, this.block, this.origin)
  }

  close(): ReasoningItem {
    if (this.hasPart) {
      const { text } = this.block
      this.emit("response.reasoning_summary_text.done", { text }, this.at())
      this.emit("response.reasoning_summary_part.done", { part: { type: "summary_text", text } }, this.at())
    }
    const item = this.item()
    itemDone(this.emit, this.place, item)
    return item
  }

  private at(): JsonObject {
    return { item_id: this.place.id, output_index: this.place.outputIndex, summary_index: 0 }
  }
}

/** A call of a tool. */
export class CallWriter implements ItemWriter {
  readonly place: ItemPosition
  private readonly emit: Emit
  private readonly callId: string
  private readonly target: CallTarget
  private written = ""
  private extraContent: JsonObject | null = null

  constructor(emit: Emit, place: ItemPosition, callId: string, target: CallTarget) {
    this.emit = emit
    this.place = place
    this.callId = callId
    this.target = target
    itemAdded(emit, place, this.item("in_progress"))
  }

  add(delta: ToolCallDelta): void {
    this.written += delta.arguments
    this.extraContent = delta.extraContent ?? this.extraContent
    this.emitDelta(delta.arguments)
  }

  item(status: ItemStatus): OutputItem {
    return callItem(this.place.id, status, this.callId, this.target, this.written, this.extraContent)
  }

  close(status: ItemStatus): OutputItem {
    const text = this.written
    if (this.target.type === "function_call")
      this.emit(
        "response.function_call_arguments.done",
        { name: this.target.name, arguments: text },
        itemAt(this.place)
      )
    else this.emit("response.custom_tool_call_input.done", { input: text }, itemAt(this.place))
    const item = this.item(status)
    itemDone(this.emit, this.place, item)
    return item
  }

  private emitDelta(delta: string): void {
    if (delta === "") return
    const event =
      this.target.type === "function_call"
        ? "response.function_call_arguments.delta"
        : "response.custom_tool_call_input.delta"
    this.emit(event, { delta }, itemAt(this.place))
  }
}

const itemAt = (place: ItemPosition): JsonObject => ({ item_id: place.id, output_index: place.outputIndex })

const itemAdded = (emit: Emit, place: ItemPosition, item: OutputItem): void =>
  emit("response.output_item.added", { output_index: place.outputIndex, item })

const itemDone = (emit: Emit, place: ItemPosition, item: OutputItem): void =>
  emit("response.output_item.done", { output_index: place.outputIndex, item })
