import { type BlockKind, hasReasoningFirst } from "./Chat.ts"
import type { ChatEvent, Finish, FinishReason } from "./ChatEvent.ts"
import type { Usage } from "./Usage.ts"

/** A complete response: the sum of the events of one attempt. */
export interface Answer {
  /** Empty where there is none. */
  readonly text: string
  /** The model's refusal; empty where there is none. */
  readonly refusal: string
  /** Block by block, in order. */
  readonly reasoning: ReadonlyArray<ReasoningBlock>
  /** In order, each whole. */
  readonly toolCalls: ReadonlyArray<AnswerToolCall>
  /** The blocks as they came, where reasoning came after text or a call; unset where the reasoning came first. */
  readonly order?: ReadonlyArray<AnswerBlock> | undefined
  /** Such as citations, as the provider sent them. */
  readonly annotations: ReadonlyArray<{ readonly [key: string]: unknown }>
  /** Audio output with its transcript. */
  readonly audio: { readonly [key: string]: unknown } | null
  /** Log probabilities of the text's tokens. */
  readonly logprobs: ReadonlyArray<unknown> | null
  /** Why the model stopped. */
  readonly finish: FinishReason
  /** The same in the provider's own words. */
  readonly nativeFinish: string
  /** The stop sequence that was reached, where the provider has told it. */
  readonly stopSequence: string | null
  /** As reported; `null` where the provider reported none. */
  readonly usage: Usage | null
  /** The model's name as the provider reports it. */
  readonly servedModel: string | null
  /** The service tier as the provider reports it. */
  readonly serviceTier: string | null
  /** As the provider reports it. */
  readonly systemFingerprint: string | null
}

/** One block of an answer: the next of its kind. */
export interface AnswerBlock {
  /** What the block is. */
  readonly kind: BlockKind
  /** UTF-16 units of a text; 0 of all else. */
  readonly length: number
}

/** A whole block of reasoning. */
export interface ReasoningBlock {
  /** What the block is. */
  readonly kind: "text" | "summary" | "encrypted"
  /** For `encrypted` the opaque data. */
  readonly text: string
  /** Proves to the provider that the block is its own. */
  readonly signature: string | null
  /** The provider's id of the block. */
  readonly id: string | null
  /** The provider's name of how the block is encoded. */
  readonly providerFormat?: string
}

/** A whole call of a tool. */
export interface AnswerToolCall {
  /** Whether the arguments are JSON or free text. */
  readonly kind: "function" | "custom"
  /** The result is sent with it. */
  readonly id: string
  /** Of the tool. */
  readonly name: string
  /** JSON text, or the input of a custom tool. */
  readonly arguments: string
  /** Opaque, must be sent back with the call. */
  readonly extraContent: { readonly [key: string]: unknown } | null
}

/** Sums the events of one response. One instance per attempt; rarely used parts are allocated on first use. */
export class Accumulator {
  private text = ""
  private refusal = ""
  private reasoning: Map<number, ReasoningBlock> | undefined
  private toolCalls: Map<number, AnswerToolCall> | undefined
  private readonly blocks: Array<{ readonly kind: BlockKind; length: number }> = []
  private annotations: Array<{ readonly [key: string]: unknown }> | undefined
  private audio: { readonly [key: string]: unknown } | null = null
  private logprobs: Array<unknown> | null = null
  private finish: Finish | undefined
  private usage: Usage | null = null
  private servedModel: string | null = null
  private serviceTier: string | null = null
  private systemFingerprint: string | null = null

  add(event: ChatEvent): void {
    switch (event._tag) {
      case "Text":
        this.text += event.text
        if (event.text !== "") this.block("text").length += event.text.length
        if (event.logprobs !== undefined) {
          this.logprobs ??= []
          for (const logprob of event.logprobs) this.logprobs.push(logprob)
        }
        return
      case "Refusal":
        this.refusal += event.text
        return
      case "Reasoning": {
        this.reasoning ??= new Map()
        const before = this.reasoning.get(event.index)
        if (before === undefined) this.block("reasoning")
        const providerFormat = event.providerFormat ?? before?.providerFormat
        this.reasoning.set(event.index, {
          kind: event.kind,
          text: (before?.text ?? "") + event.text,
          signature: event.signature ?? before?.signature ?? null,
          id: event.id ?? before?.id ?? null,
          ...(providerFormat !== undefined && { providerFormat })
        })
        return
      }
      case "ToolCall": {
        this.toolCalls ??= new Map()
        const before = this.toolCalls.get(event.index)
        if (before === undefined) this.block("call")
        this.toolCalls.set(event.index, {
          kind: event.kind,
          id: before?.id || (event.id ?? ""),
          name: before?.name || (event.name ?? ""),
          arguments: (before?.arguments ?? "") + event.arguments,
          extraContent: event.extraContent ?? before?.extraContent ?? null
        })
        return
      }
      case "Annotation":
        this.annotations ??= []
        this.annotations.push(event.annotation)
        return
      case "Audio":
        this.audio = this.audio === null ? event.audio : joined(this.audio, event.audio)
        return
      case "ResponseInfo":
        if (event.model !== undefined) this.servedModel = event.model
        if (event.serviceTier !== undefined) this.serviceTier = event.serviceTier
        if (event.systemFingerprint !== undefined) this.systemFingerprint = event.systemFingerprint
        return
      case "Finish":
        this.finish ??= event
        return
      case "Usage":
        this.usage = event.usage
        return
    }
  }

  /** The text that is open, or a new block. */
  private block(kind: BlockKind): { length: number } {
    const last = this.blocks.at(-1)
    if (kind === "text" && last?.kind === kind) return last
    const block = { kind, length: 0 }
    this.blocks.push(block)
    return block
  }

  get isEmpty(): boolean {
    return (
      this.text === "" &&
      this.refusal === "" &&
      this.toolCalls === undefined &&
      this.reasoning === undefined &&
      this.audio === null
    )
  }

  /** `undefined` until a finish event: without one the response is not complete. */
  get answer(): Answer | undefined {
    if (this.finish === undefined) return undefined
    return {
      text: this.text,
      refusal: this.refusal,
      reasoning: inOrder(this.reasoning),
      toolCalls: inOrder(this.toolCalls),
      order: hasReasoningFirst(this.blocks.map(({ kind }) => kind)) ? undefined : this.blocks,
      annotations: this.annotations ?? [],
      audio: this.audio,
      logprobs: this.logprobs,
      finish: this.finish.reason,
      nativeFinish: this.finish.native,
      stopSequence: this.finish.stopSequence ?? null,
      usage: this.usage,
      servedModel: this.servedModel,
      serviceTier: this.serviceTier,
      systemFingerprint: this.systemFingerprint
    }
  }
}

const inOrder = <A>(blocks: ReadonlyMap<number, A> | undefined): ReadonlyArray<A> =>
  blocks === undefined ? [] : [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block)

/** Data and transcript of audio fragments are concatenated; of every other field the last value counts. */
const joined = (
  before: { readonly [key: string]: unknown },
  fragment: { readonly [key: string]: unknown }
): { readonly [key: string]: unknown } => ({
  ...before,
  ...fragment,
  ...continued(before, fragment, "data"),
  ...continued(before, fragment, "transcript")
})

const continued = (
  before: { readonly [key: string]: unknown },
  fragment: { readonly [key: string]: unknown },
  key: "data" | "transcript"
): { readonly [key: string]: unknown } => {
  const [start, more] = [before[key], fragment[key]]
  if (typeof start !== "string" || (more !== undefined && more !== null && typeof more !== "string")) return {}
  return { [key]: start + (more ?? "") }
}

/** A block of an answer with what is in it. */
export type WholeBlock =
  | { readonly kind: "reasoning"; readonly block: ReasoningBlock }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly call: AnswerToolCall; readonly index: number }

/**
 * The blocks of an answer as they came; of one that tells no order reasoning, all its text and calls. A text that has citations, log
 * probabilities or a refusal stays whole: they have no place in a part of it.
 */
export const blocksOf = (answer: Answer): ReadonlyArray<WholeBlock> => {
  const { annotations, logprobs, order, refusal } = answer
  const reasoning = answer.reasoning.map((block): WholeBlock => ({ kind: "reasoning", block }))
  const calls = answer.toolCalls.map((call, index): WholeBlock => ({ kind: "call", call, index }))
  if (order === undefined || annotations.length > 0 || logprobs !== null || refusal !== "")
    return [...reasoning, { kind: "text", text: answer.text }, ...calls]
  const next = { reasoning: reasoning.values(), call: calls.values() }
  let said = 0
  return order.flatMap(({ kind, length }): ReadonlyArray<WholeBlock> => {
    said += length
    const block = kind === "text" ? { kind, text: answer.text.slice(said - length, said) } : next[kind].next().value
    return block === undefined ? [] : [block]
  })
}
