import type { ReasoningDelta } from "../../domain/ChatEvent.ts"
import type { ReasoningBlock } from "../../domain/Completion.ts"
import { JsonEnd } from "./JsonEnd.ts"
import type { MessagesEvent } from "./MessagesEventSchema.ts"
import { reasoningBlock, textBlock, toolUseBlock } from "./MessagesObject.ts"
import type { AnswerBlock } from "./MessagesObjectSchema.ts"
import { signatureOf } from "./MessagesReasoning.ts"

type Delta = Extract<MessagesEvent, { readonly type: "content_block_delta" }>["delta"]

/** Writes the events of one block. */
export interface BlockOutput {
  readonly start: (block: AnswerBlock) => void
  readonly delta: (delta: Delta) => void
  readonly stop: () => void
}

/**
 * A block of a streamed message. Only one block may be open at a time: until `open` is called it keeps what is added, and
 * another may follow it once it `mayEnd`.
 */
export interface Block {
  readonly mayEnd: () => boolean
  readonly open: (output: BlockOutput) => void
  readonly close: () => void
}

export class TextWriter implements Block {
  private output: BlockOutput | undefined
  private kept = ""

  add(text: string): void {
    if (this.output === undefined) this.kept += text
    else this.output.delta({ type: "text_delta", text })
  }

  mayEnd(): boolean {
    return true
  }

  open(output: BlockOutput): void {
    this.output = output
    output.start(textBlock(""))
    if (this.kept !== "") output.delta({ type: "text_delta", text: this.kept })
    this.kept = ""
  }

  close(): void {
    this.output?.stop()
  }
}

/** Reasoning that only its model can read is one event; a block without text and signature is none. */
export class ReasoningWriter implements Block {
  private readonly index: number
  private readonly kind: ReasoningBlock["kind"]
  private readonly model: string
  private readonly omitReasoning: boolean
  private output: BlockOutput | undefined
  private hasStarted = false
  /** What cannot be written yet. */
  private kept = ""
  private signature: string | null = null
  private id: string | null = null
  private providerFormat: string | undefined

  constructor({ index, kind }: Pick<ReasoningDelta, "index" | "kind">, model: string, omitReasoning: boolean) {
    this.index = index
    this.kind = kind
    this.model = model
    this.omitReasoning = omitReasoning
  }

  continues({ index, kind }: ReasoningDelta): boolean {
    return index === this.index && kind === this.kind
  }

  add({ id, providerFormat, signature, text }: ReasoningDelta): void {
    this.signature = signature ?? this.signature
    this.providerFormat = providerFormat ?? this.providerFormat
    this.id = id ?? this.id
    this.kept += text
    this.write()
  }

  mayEnd(): boolean {
    return true
  }

  open(output: BlockOutput): void {
    this.output = output
    this.write()
  }

  close(): void {
    const { id, kept: text, kind, model, providerFormat, signature } = this
    const whole = { kind, text, signature, id, ...(providerFormat !== undefined && { providerFormat }) }
    const block = reasoningBlock(whole, model, this.omitReasoning || this.hasStarted)
    if (block?.type === "redacted_thinking") this.output?.start(block)
    else if (this.hasStarted || block !== undefined) {
      this.begin()
      this.output?.delta({ type: "signature_delta", signature: signatureOf(whole, model, this.omitReasoning) })
    }
    this.output?.stop()
  }

  private write(): void {
    if (this.output === undefined || this.omitReasoning || this.kind === "encrypted" || this.kept === "") return
    this.begin()
    this.output.delta({ type: "thinking_delta", thinking: this.kept })
    this.kept = ""
  }

  private begin(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    this.output?.start({ type: "thinking", thinking: "", signature: "" })
  }
}

export interface CallStart {
  readonly id: string
  readonly name: string
  readonly extraContent: { readonly [key: string]: unknown } | null
}

/** A call. Pieces of parallel calls may come in any order: one may end when its arguments are a whole JSON value. */
export class CallWriter implements Block {
  private output: BlockOutput | undefined
  private kept = ""
  private isClosed = false
  private readonly end = new JsonEnd()
  private readonly call: CallStart

  constructor(call: CallStart) {
    this.call = call
  }

  /** What follows a whole value is blank, or else the response is refused as a bad one at its finish. */
  add(text: string): void {
    if (text === "" || this.isClosed) return
    this.end.add(text)
    if (this.output === undefined) this.kept += text
    else this.output.delta({ type: "input_json_delta", partial_json: text })
  }

  mayEnd(): boolean {
    return this.end.isReached
  }

  open(output: BlockOutput): void {
    this.output = output
    output.start(toolUseBlock(this.call.id, this.call.name, this.call.extraContent))
    if (this.kept !== "") output.delta({ type: "input_json_delta", partial_json: this.kept })
    this.kept = ""
  }

  close(): void {
    this.isClosed = true
    this.output?.stop()
  }
}
