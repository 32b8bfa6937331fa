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

/** A piece of the answer's text. */
export interface TextDelta {
  readonly _tag: "Text"
  /** The piece. */
  readonly text: string
  /** Log probabilities of this text's tokens, in the shape of chat completions (`{token, logprob, bytes, top_logprobs}`). */
  readonly logprobs?: ReadonlyArray<unknown>
}

/** A piece of the model's refusal. */
export interface RefusalDelta {
  readonly _tag: "Refusal"
  /** The piece. */
  readonly text: string
}

/** A fragment of one block of reasoning. Fragments of one block share `index`; text and signature may come in separate ones. */
export interface ReasoningDelta {
  readonly _tag: "Reasoning"
  /** Counts the blocks of the response from 0. */
  readonly index: number
  /** What the block is. */
  readonly kind: "text" | "summary" | "encrypted"
  /** For `encrypted` the opaque data. */
  readonly text: string
  /** Proves to the provider that the block is its own. */
  readonly signature?: string
  /** The provider's id of the block. */
  readonly id?: string
  /** The provider's name of how the block is encoded, once for each block. */
  readonly providerFormat?: string
}

/** A fragment of one tool call. The first of an index carries `id` and `name`; later ones only more `arguments`. */
export interface ToolCallDelta {
  readonly _tag: "ToolCall"
  /** Counts the tool calls of the response from 0, without gaps. */
  readonly index: number
  /** Whether the arguments are JSON or free text. */
  readonly kind: "function" | "custom"
  /** With the first fragment. */
  readonly id?: string
  /** With the first fragment. */
  readonly name?: string
  /** A piece of the JSON text of a function call, or of a custom call's input. */
  readonly arguments: string
  /** Opaque, must be sent back with the call (reasoning signatures); passed through as `extra_content`. */
  readonly extraContent?: { readonly [key: string]: unknown }
}

/** Such as a citation. */
export interface Annotation {
  readonly _tag: "Annotation"
  /** As the provider sent it. */
  readonly annotation: { readonly [key: string]: unknown }
}

/** A piece of audio. */
export interface AudioDelta {
  readonly _tag: "Audio"
  /** As in chat completions: id, data, transcript, expires_at. */
  readonly audio: { readonly [key: string]: unknown }
}

/** Facts about the response itself; each may come more than once, the last one counts. */
export interface ResponseInfo {
  readonly _tag: "ResponseInfo"
  /** The model name that the provider reports. */
  readonly model?: string
  /** The service tier that the provider reports. */
  readonly serviceTier?: string
  /** As the provider reports it. */
  readonly systemFingerprint?: string
}

export const finishReasons = ["stop", "length", "tool_calls", "content_filter"] as const
/** Why a model stopped. */
export type FinishReason = (typeof finishReasons)[number]

/** The model has stopped; every whole response has one. */
export interface Finish {
  readonly _tag: "Finish"
  /** In the words of chat completions. */
  readonly reason: FinishReason
  /** The provider's own finish reason. */
  readonly native: string
  /** The stop sequence that was reached, where the provider tells it. */
  readonly stopSequence?: string
}

/** Usage so far; the last one counts, they are never added up. */
export interface UsageReport {
  readonly _tag: "Usage"
  /** All tokens so far. */
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

/** What the answer has used; counts that are left out are 0. With one that is no whole number it is no report: the usage is estimated. */
export const usageEvent = (counts: Parameters<typeof usage>[0]): ChatEvent => ({ _tag: "Usage", usage: usage(counts) })
