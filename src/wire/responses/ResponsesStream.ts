import type { ChatEvent, Finish, ReasoningDelta, ToolCallDelta } from "../../domain/ChatEvent.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { WireError } from "../ErrorBody.ts"
import * as Sse from "../framing/Sse.ts"
import {
  annotation,
  callId,
  callItemId,
  callTarget,
  messageId,
  type OutputItem,
  reasoningId
} from "./ResponsesItems.ts"
import { failedResponse, finishedResponse, incompleteReason, startedResponse } from "./ResponsesObject.ts"
import { clientMetadata, type DecodedResponses } from "./ResponsesRequest.ts"
import {
  CallWriter,
  type Emit,
  type ItemPosition,
  type ItemWriter,
  MessageWriter,
  ReasoningWriter
} from "./ResponsesWriters.ts"

/**
 * Writes the events of one response as the typed events of Responses, one frame per write. Reasoning and message items end when
 * another item begins, and later content starts a new item; calls stay open to the end, because fragments of parallel calls may
 * come in any order.
 */
export class ResponsesStream {
  private readonly head: ResponseStart
  private readonly decoded: DecodedResponses
  private readonly write: (frame: string) => boolean
  /** The writers of all items, in order. */
  private readonly writers: Array<ItemWriter> = []
  private readonly closed = new Map<ItemWriter, OutputItem>()
  private readonly calls = new Map<number, CallWriter>()
  private readonly callIds = new Set<string>()
  /** The provider's ids of reasoning blocks; an id may come before the block's first text. */
  private readonly blockIds = new Map<number, string>()
  /** The message or reasoning item that is open. */
  private current: MessageWriter | ReasoningWriter | undefined
  private messages = 0
  private reasoningItems = 0
  private sequence = 0
  private serviceTier: string | null = null
  private state: "new" | "running" | "over" = "new"
  private isFlowing = true

  constructor(head: ResponseStart, decoded: DecodedResponses, write: (frame: string) => boolean) {
    this.head = head
    this.decoded = decoded
    this.write = write
  }

  /** False: the reader is slow. */
  event(event: ChatEvent): boolean {
    this.isFlowing = true
    if (this.state === "over") return true
    this.start()
    switch (event._tag) {
      case "Text":
        if (event.text !== "" || (event.logprobs ?? []).length > 0) this.message().text(event)
        break
      case "Refusal":
        if (event.text !== "") this.message().refuse(event.text)
        break
      case "Reasoning":
        this.reason(event)
        break
      case "ToolCall":
        this.call(event).add(event)
        break
      case "Annotation": {
        const citation = annotation(event.annotation)
        if (citation !== undefined) this.message().annotate(citation)
        break
      }
      case "ResponseInfo":
        this.serviceTier = event.serviceTier ?? this.serviceTier
        break
      // Audio cannot be requested on this endpoint; finish and usage come with `complete`.
      case "Audio":
      case "Finish":
      case "Usage":
        break
    }
    return this.isFlowing
  }

  complete(finish: Finish, usage: Usage | null, metadata: RouterMetadata): boolean {
    this.isFlowing = true
    if (this.state === "over") return true
    this.start()
    const isIncomplete = incompleteReason(finish.reason) !== undefined
    const last = this.writers.at(-1)
    for (const writer of this.writers) {
      if (!this.closed.has(writer)) this.close(writer, isIncomplete && writer === last ? "incomplete" : "completed")
    }
    this.emit(isIncomplete ? "response.incomplete" : "response.completed", {
      response: finishedResponse(this.head, this.decoded.echo, {
        output: this.output(),
        finish: finish.reason,
        usage,
        serviceTier: this.serviceTier,
        metadata: clientMetadata(metadata, this.decoded)
      })
    })
    this.state = "over"
    this.send(Sse.done)
    return this.isFlowing
  }

  /** Some clients read the flat form of the error, some the nested form, some only the failed response. */
  fail(error: WireError): void {
    if (this.state === "over") return
    this.start()
    const { code, message, param } = error
    this.emit("error", { code, message, param, error })
    this.emit("response.failed", {
      response: failedResponse(this.head, this.decoded.echo, this.output(), { code: failureCode(error), message })
    })
    this.state = "over"
  }

  private start(): void {
    if (this.state !== "new") return
    this.state = "running"
    const response = startedResponse(this.head, this.decoded.echo)
    this.emit("response.created", { response })
    this.emit("response.in_progress", { response })
  }

  private message(): MessageWriter {
    if (this.current instanceof MessageWriter) return this.current
    return this.begin(new MessageWriter(this.emit, this.place(messageId(this.head.requestId, this.messages++))))
  }

  private reason(delta: ReasoningDelta): void {
    if (this.decoded.request.reasoning.exclude) return
    if (delta.id !== undefined) this.blockIds.set(delta.index, delta.id)
    if (delta.text === "" && delta.signature === undefined) return
    const { current } = this
    const writer =
      current instanceof ReasoningWriter && current.continues(delta)
        ? current
        : this.begin(
            new ReasoningWriter(
              this.emit,
              this.place(reasoningId(this.head.requestId, this.reasoningItems++)),
              this.head.model,
              delta,
              this.blockIds.get(delta.index) ?? null
            )
          )
    writer.append(delta)
  }

  private call(delta: ToolCallDelta): CallWriter {
    const open = this.calls.get(delta.index)
    if (open !== undefined) return open
    const given = delta.id ?? ""
    const id = given === "" || this.callIds.has(given) ? callId(this.head.requestId, delta.index) : given
    this.callIds.add(id)
    const target = callTarget(delta.kind, delta.name ?? "", this.decoded.toolMap)
    const place = this.place(callItemId(this.head.requestId, target.type, delta.index))
    const writer = new CallWriter(this.emit, place, id, target)
    this.calls.set(delta.index, writer)
    this.writers.push(writer)
    return writer
  }

  private begin<A extends MessageWriter | ReasoningWriter>(writer: A): A {
    this.current = writer
    this.writers.push(writer)
    return writer
  }

  /** The position of the next item; closes the open item. */
  private place(id: string): ItemPosition {
    this.closeCurrent()
    return { id, outputIndex: this.writers.length }
  }

  private closeCurrent(): void {
    if (this.current !== undefined) this.close(this.current, "completed")
    this.current = undefined
  }

  private close(writer: ItemWriter, status: "completed" | "incomplete"): void {
    this.closed.set(writer, writer.close(status))
  }

  /** Items that are not closed are incomplete. */
  private output(): ReadonlyArray<OutputItem> {
    return this.writers.map((writer) => this.closed.get(writer) ?? writer.item("incomplete"))
  }

  private readonly emit: Emit = (event, fields, place) =>
    this.send(Sse.write({ type: event, sequence_number: this.sequence++, ...place, ...fields }, event))

  private send(frame: string): void {
    if (!this.write(frame)) this.isFlowing = false
  }
}

/** The error codes of a failed response are a closed set. */
const failureCode = (error: WireError): string =>
  error.type === "rate_limit_error" || error.code === "provider_rate_limited" ? "rate_limit_exceeded" : "server_error"
