import type { Usage } from "./Usage.ts"

/**
 * What a provider says, whatever its protocol: a streamed answer is a sequence of these, and a plain answer is the same
 * sequence at once. They are rich enough for chat completions and for Responses.
 */
export type ChatEvent =
  | TextDelta
  | RefusalDelta
  | ReasoningDelta
  | ToolCallDelta
  | Annotated
  | AudioDelta
  | Served
  | Finished
  | Used

export interface TextDelta {
  readonly _tag: "Text"
  readonly text: string
  /** Log probabilities of this text's tokens, as chat completions spells them (`{token, logprob, bytes, top_logprobs}`). */
  readonly logprobs?: ReadonlyArray<unknown>
}

export interface RefusalDelta {
  readonly _tag: "Refusal"
  readonly text: string
}

/** A fragment of one block of thoughts. Fragments of one block share `index`; text and signature may come apart. */
export interface ReasoningDelta {
  readonly _tag: "Reasoning"
  /** Counts the blocks of the answer from 0. */
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
  /** Counts the calls of the answer from 0, without gaps. */
  readonly index: number
  readonly kind: "function" | "custom"
  readonly id?: string
  readonly name?: string
  /** A piece of the JSON text of a function call, or of a custom call's input. */
  readonly arguments: string
  /** Opaque, must come back with the call (thought signatures); passed through under `extra_content`. */
  readonly extraContent?: { readonly [key: string]: unknown }
}

export interface Annotated {
  readonly _tag: "Annotation"
  readonly annotation: { readonly [key: string]: unknown }
}

export interface AudioDelta {
  readonly _tag: "Audio"
  readonly audio: { readonly [key: string]: unknown }
}

/** Facts about the answer itself; any of them may come more than once, the last holds. */
export interface Served {
  readonly _tag: "Served"
  /** The model name that the provider says has answered. */
  readonly model?: string
  readonly serviceTier?: string
  readonly systemFingerprint?: string
}

export const finishReasons = ["stop", "length", "tool_calls", "content_filter"] as const
export type FinishReason = (typeof finishReasons)[number]

export interface Finished {
  readonly _tag: "Finish"
  readonly reason: FinishReason
  /** The provider's own word for it. */
  readonly native: string
}

/** Usage so far; the last one holds, they are never added up. */
export interface Used {
  readonly _tag: "Usage"
  readonly usage: Usage
}

/** Content commits a call to its candidate: after the first of these has been sent there is no fallback. */
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
    case "Served":
    case "Usage":
      return false
  }
}
