import type { JsonObject } from "../domain/Chat.ts"
import type { ChatEvent, Finished, ReasoningDelta, Served, TextDelta, ToolCallDelta } from "../domain/ChatEvent.ts"
import type { RouterMetadata } from "../domain/RouterMetadata.ts"
import type { Usage } from "../domain/Usage.ts"
import type { AnswerHead } from "./AnswerHead.ts"
import { completionId, reasoningDetail } from "./ChatAnswer.ts"
import type { ChatCompletionChunk, ChatDelta, ToolCallDelta as WireToolCall } from "./ChatAnswerSchema.ts"
import { chatUsage } from "./ChatUsage.ts"
import type { WireError } from "./ErrorBody.ts"
import * as Sse from "./Sse.ts"

export interface ChatStreamOptions {
  readonly includeUsage: boolean
  readonly excludeReasoning: boolean
}

/** Writes an answer as `chat.completion.chunk` events, one call of `write` for each. */
export class ChatStream {
  private readonly id: string
  private readonly head: AnswerHead
  private readonly options: ChatStreamOptions
  private readonly write: (frame: string) => boolean
  private serviceTier: string | undefined
  private systemFingerprint: string | undefined
  /** What surrounds the delta of an ordinary chunk. */
  private before = ""
  private after = ""
  private readonly tools = new Map<number, { hasId: boolean; hasName: boolean }>()
  private readonly annotations: Array<JsonObject> = []
  private hasBegun = false
  private isOver = false
  private isFlowing = true

  constructor(head: AnswerHead, options: ChatStreamOptions, write: (frame: string) => boolean) {
    this.id = completionId(head)
    this.head = head
    this.options = options
    this.write = write
    this.surround()
  }

  /** False: the reader is slow. Finish and usage say nothing here, they come with `complete`. */
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
        // some clients keep only the last delta that has any, others add them up: one delta is right for both
        this.annotations.push(event.annotation)
        break
      case "Served":
        this.served(event)
        break
      case "Finish":
      case "Usage":
        break
    }
    return this.isFlowing
  }

  complete(finish: Finished, usage: Usage | null, metadata: RouterMetadata): boolean {
    this.isFlowing = true
    if (this.isOver) return true
    if (this.annotations.length > 0) this.delta({ annotations: this.annotations })
    this.begin("")
    const choice = { index: 0, delta: {}, logprobs: null, finish_reason: finish.reason } as const
    this.send(Sse.write({ ...this.chunk([choice]), router_metadata: metadata }))
    if (this.options.includeUsage) {
      const counts = usage === null ? null : chatUsage(usage)
      this.send(Sse.write({ ...this.chunk([]), usage: counts, router_metadata: metadata }))
    }
    this.send(Sse.done)
    this.isOver = true
    return this.isFlowing
  }

  /** No `[DONE]` follows: nobody shall take the answer for a whole one. */
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

  private reasoning(thought: ReasoningDelta): void {
    if (thought.text === "" && thought.signature === undefined && thought.id === undefined) return
    const isReadable = thought.kind !== "encrypted" && thought.text !== ""
    this.delta({
      ...(isReadable ? { reasoning_content: thought.text, reasoning: thought.text } : {}),
      reasoning_details: [reasoningDetail({ ...thought, model: this.head.model })]
    })
  }

  /** A call is announced once with its id and name; everything after that is more of its arguments. */
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

  private served({ serviceTier, systemFingerprint }: Served): void {
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
