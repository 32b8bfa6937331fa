import { type Usage, usage } from "./Usage.ts"

/**
 * One event of a provider's response, the same for all protocols: a streamed response is a sequence of these, and a
 * non-streaming response is the same sequence at once. They cover chat completions and Responses.
 */
export type ChatEvent =
  | TextDelta
  | RefusalDelta
  | ReasoningDelta
  | ToolCallDelta
  | Annotation
  | AudioDelta
  | ResponseInfo
  | Finish
  | UsageReport

export interface TextDelta {
  readonly _tag: "Text"
  readonly text: string
  /** Log probabilities of this text's tokens, in the shape of chat completions (`{token, logprob, bytes, top_logprobs}`). */
  readonly logprobs?: ReadonlyArray<unknown>
}

export interface RefusalDelta {
  readonly _tag: "Refusal"
  readonly text: string
}

/** A fragment of one block of reasoning. Fragments of one block share `index`; text and signature may come in separate ones. */
export interface ReasoningDelta {
  readonly _tag: "Reasoning"
  /** Counts the blocks of the response from 0. */
  readonly index: number
  readonly kind: "text" | "summary" | "encrypted"
  /** For `encrypted` the opaque data. */
  readonly text: string
  readonly signature?: string
  readonly id?: string
}

/** A fragment of one tool call. The first of an index carries `id` and `name`; later ones only more `arguments`. */
export interface ToolCallDelta {
  readonly _tag: "ToolCall"
  /** Counts the tool calls of the response from 0, without gaps. */
  readonly index: number
  readonly kind: "function" | "custom"
  readonly id?: string
  readonly name?: string
  /** A piece of the JSON text of a function call, or of a custom call's input. */
  readonly arguments: string
  /** Opaque, must be sent back with the call (reasoning signatures); passed through as `extra_content`. */
  readonly extraContent?: { readonly [key: string]: unknown }
}

export interface Annotation {
  readonly _tag: "Annotation"
  readonly annotation: { readonly [key: string]: unknown }
}

export interface AudioDelta {
  readonly _tag: "Audio"
  readonly audio: { readonly [key: string]: unknown }
}

/** Facts about the response itself; each may come more than once, the last one counts. */
export interface ResponseInfo {
  readonly _tag: "ResponseInfo"
  /** The model name that the provider reports. */
  readonly model?: string
  readonly serviceTier?: string
  readonly systemFingerprint?: string
}

export const finishReasons = ["stop", "length", "tool_calls", "content_filter"] as const
export type FinishReason = (typeof finishReasons)[number]

export interface Finish {
  readonly _tag: "Finish"
  readonly reason: FinishReason
  /** The provider's own finish reason. */
  readonly native: string
}

/** Usage so far; the last one counts, they are never added up. */
export interface UsageReport {
  readonly _tag: "Usage"
  readonly usage: Usage
}

/** Content commits a call to its candidate: after the first content was sent there is no fallback. */
export const isContent = (event: ChatEvent): boolean => {
  switch (event._tag) {
    case "Text":
    case "Refusal":
      return event.text.length > 0
    case "Reasoning":
      return event.text.length > 0 || event.signature !== undefined
    case "ToolCall":
    case "Audio":
    case "Finish":
      return true
    case "Annotation":
    case "ResponseInfo":
    case "Usage":
      return false
  }
}

/** A piece of the answer's text. */
export const textEvent = (text: string): ChatEvent => ({ _tag: "Text", text })

/** The end of the answer: every whole response has one. */
export const finishEvent = (reason: FinishReason = "stop"): ChatEvent => ({ _tag: "Finish", reason, native: reason })

/** What the answer has used; counts that are left out are 0. */
export const usageEvent = (counts: Parameters<typeof usage>[0]): ChatEvent => ({ _tag: "Usage", usage: usage(counts) })
