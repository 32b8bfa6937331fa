import type { JsonObject } from "../../domain/Chat.ts"
import type {
  ChatEvent,
  Finish,
  ReasoningDelta,
  ResponseInfo,
  TextDelta,
  ToolCallDelta
} from "../../domain/ChatEvent.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import type { Usage } from "../../domain/Usage.ts"
import type { WireError } from "../ErrorBody.ts"
import * as Sse from "../framing/Sse.ts"
import { withMetadata } from "../ResponseMetadata.ts"
import { completionId, reasoningDetail } from "./ChatAnswer.ts"
import type { ChatCompletionChunk, ChatDelta, ToolCallDelta as WireToolCall } from "./ChatAnswerSchema.ts"
import { chatUsage } from "./ChatUsage.ts"

export interface ChatStreamOptions {
  readonly includeUsage: boolean
  readonly excludeReasoning: boolean
}

/** Writes a response as `chat.completion.chunk` events, one call of `write` for each event. */
export class ChatStream {
  private readonly id: string
  private readonly head: ResponseStart
  private readonly options: ChatStreamOptions
  private readonly write: (frame: string) => boolean
  private serviceTier: string | undefined
  private systemFingerprint: string | undefined
  /** The text before and after the delta of a chunk. */
  private before = ""
  private after = ""
  private readonly tools = new Map<number, { hasId: boolean; hasName: boolean }>()
  private readonly annotations: Array<JsonObject> = []
  /** The reasoning blocks that have had text. */
  private readonly readBlocks = new Set<number>()
  private hasBegun = false
  private isOver = false
  private isFlowing = true

  constructor(head: ResponseStart, options: ChatStreamOptions, write: (frame: string) => boolean) {
    this.id = completionId(head)
    this.head = head
    this.options = options
    this.write = write
    this.surround()
  }

  /** False: the reader is slow. Finish and usage events are ignored here; their values come with `complete`. */
  event(event: ChatEvent): boolean {
    this.isFlowing = true
    if (this.isOver) return true
    switch (event._tag) {
      case "Text":
        if (event.text !== "" || event.logprobs !== undefined) this.text(event)
        break
      case "Refusal":
        if (event.text !== "") this.delta({ refusal: event.text })
        break
      case "Reasoning":
        if (!this.options.excludeReasoning) this.reasoning(event)
        break
      case "ToolCall":
        this.toolCall(event)
        break
      case "Audio":
        this.delta({ audio: event.audio })
        break
      case "Annotation":
        // some clients keep only the last delta with annotations, others concatenate them: a single delta is correct for both
        this.annotations.push(event.annotation)
        break
      case "ResponseInfo":
        this.responseInfo(event)
        break
      case "Finish":
      case "Usage":
        break
    }
    return this.isFlowing
  }

  complete(finish: Finish, usage: Usage | null, metadata: RouterMetadata): boolean {
    this.isFlowing = true
    if (this.isOver) return true
    if (this.annotations.length > 0) this.delta({ annotations: this.annotations })
    this.begin("")
    const choice = { index: 0, delta: {}, logprobs: null, finish_reason: finish.reason } as const
    this.send(Sse.writeJson(withMetadata(this.chunk([choice]), metadata)))
    if (this.options.includeUsage) {
      const counts = usage === null ? null : chatUsage(usage)
      this.send(Sse.writeJson(withMetadata({ ...this.chunk([]), usage: counts }, metadata)))
    }
    this.send(Sse.done)
    this.isOver = true
    return this.isFlowing
  }

  /** No `[DONE]` follows, so that no client takes the response for a complete one. */
  fail(error: WireError): void {
    if (this.isOver) return
    this.isOver = true
    this.send(Sse.write({ error }))
  }

  private text({ logprobs, text }: TextDelta): void {
    this.begin("")
    if (logprobs === undefined) {
      this.send(`${this.before}{"content":${Sse.oneLine(text)}}${this.after}`)
      return
    }
    const choice = { index: 0, delta: { content: text }, logprobs: { content: logprobs, refusal: null } } as const
    this.send(Sse.write(this.chunk([{ ...choice, finish_reason: null }])))
  }

  private reasoning(delta: ReasoningDelta): void {
    if (delta.text === "" && delta.signature === undefined && delta.id === undefined) return
    const isReadable = delta.kind !== "encrypted" && delta.text !== ""
    const isTextBefore = this.readBlocks.has(delta.index)
    if (delta.text !== "") this.readBlocks.add(delta.index)
    this.delta({
      ...(isReadable ? { reasoning_content: delta.text, reasoning: delta.text } : {}),
      reasoning_details: [reasoningDetail({ ...delta, model: this.head.model, isTextBefore })]
    })
  }

  /** The first fragment of a call has its id and name; later fragments extend the arguments. */
  private toolCall({ arguments: text, extraContent, id = "", index, kind, name = "" }: ToolCallDelta): void {
    const known = this.tools.get(index)
    const extra = extraContent === undefined ? {} : { extra_content: extraContent }
    if (known === undefined) {
      this.tools.set(index, { hasId: id !== "", hasName: name !== "" })
      this.call({ index, id, type: kind, ...target(kind, "", { name }), ...extra })
      if (text !== "") this.call({ index, ...target(kind, text) })
      return
    }
    const lateId = known.hasId || id === "" ? {} : { id }
    const lateName = known.hasName || name === "" ? {} : { name }
    known.hasId ||= id !== ""
    known.hasName ||= name !== ""
    const fragment = { index, ...lateId, ...target(kind, text, lateName), ...extra }
    if (text !== "" || extraContent !== undefined || "id" in lateId || "name" in lateName) this.call(fragment)
  }

  private call(fragment: WireToolCall): void {
    this.delta({ tool_calls: [fragment] })
  }

  private responseInfo({ serviceTier, systemFingerprint }: ResponseInfo): void {
    this.serviceTier = serviceTier ?? this.serviceTier
    this.systemFingerprint = systemFingerprint ?? this.systemFingerprint
    this.surround()
  }

  private delta(delta: ChatDelta): void {
    this.begin("tool_calls" in delta || "refusal" in delta || "audio" in delta ? null : "")
    this.send(this.before + Sse.oneLine(delta) + this.after)
  }

  private begin(content: string | null): void {
    if (this.hasBegun) return
    this.hasBegun = true
    this.send(`${this.before}{"role":"assistant","content":${JSON.stringify(content)}}${this.after}`)
  }

  private surround(): void {
    const marker = '"delta":{}'
    const frame = Sse.write(this.chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: null }]))
    const at = frame.lastIndexOf(marker) + marker.length
    this.before = frame.slice(0, at - 2)
    this.after = frame.slice(at)
  }

  private chunk(choices: ChatCompletionChunk["choices"]): ChatCompletionChunk {
    return {
      id: this.id,
      object: "chat.completion.chunk",
      created: this.head.createdSeconds,
      model: this.head.model,
      ...(this.serviceTier === undefined ? {} : { service_tier: this.serviceTier }),
      ...(this.systemFingerprint === undefined ? {} : { system_fingerprint: this.systemFingerprint }),
      choices,
      ...(this.options.includeUsage ? { usage: null } : {})
    }
  }

  private send(frame: string): void {
    if (!this.write(frame)) this.isFlowing = false
  }
}

const target = (kind: "function" | "custom", text: string, name: { readonly name?: string } = {}) =>
  kind === "function" ? { function: { ...name, arguments: text } } : { custom: { ...name, input: text } }
