/**
 * The canonical request. Every endpoint (chat completions, Responses, an embedding program) translates to it, and every
 * provider protocol from it. Messages and tools have the shape of chat completions, so that those of a client can be passed
 * on without being rebuilt; all other fields are the gateway's own.
 */
export interface ChatRequest {
  /** `auto`, `auto:<slug>`, a concrete `<provider>/<model>`, or a bare upstream name. */
  readonly model: string
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<Tool>
  readonly toolChoice: ToolChoice | undefined
  readonly stream: boolean
  /** The client requested a usage chunk; it is always requested from the provider. */
  readonly includeUsage: boolean
  /** The client opted this call into its project's data collection. */
  readonly tokenDoctor: boolean
  /** The client's cap on completion tokens. */
  readonly maxOutputTokens: number | undefined
  readonly temperature: number | undefined
  readonly topP: number | undefined
  readonly stop: ReadonlyArray<string>
  readonly frequencyPenalty: number | undefined
  readonly presencePenalty: number | undefined
  readonly seed: number | undefined
  readonly logprobs: boolean | undefined
  readonly topLogprobs: number | undefined
  readonly parallelToolCalls: boolean | undefined
  readonly responseFormat: JsonObject | undefined
  /** A named effort, or a reasoning depth (an integer from 1 to 100). */
  readonly effort: Effort | number | undefined
  readonly reasoning: ReasoningOptions
  readonly verbosity: "low" | "medium" | "high" | undefined
  readonly serviceTier: string | undefined
  readonly metadata: Readonly<Record<string, string>> | undefined
  readonly store: boolean | undefined
  readonly safetyIdentifier: string | undefined
  readonly promptCacheKey: string | undefined
  readonly promptCacheOptions: JsonObject | undefined
  readonly promptCacheRetention: string | undefined
  readonly prediction: JsonObject | undefined
  readonly modalities: ReadonlyArray<string> | undefined
  readonly audio: JsonObject | undefined
  readonly moderation: JsonObject | undefined
  readonly webSearchOptions: JsonObject | undefined
  readonly user: string | undefined
  readonly routing: RoutingControls
  /** Names of the fields of the client's request that have no effect, whatever model is chosen. */
  readonly ignored?: ReadonlyArray<string> | undefined
}

export type JsonObject = { readonly [key: string]: unknown }

/** The request's own restrictions and preferences; they narrow the project's policy and never widen it. */
export interface RoutingControls {
  readonly models: Restriction
  readonly providers: Restriction
  readonly routingConfig: string | undefined
  /** 0 is cheapest, 1 is best. */
  readonly alpha: number | undefined
  readonly maxInputPriceMicroUsdPerMillion: number | undefined
  readonly maxOutputPriceMicroUsdPerMillion: number | undefined
  readonly enableFallback: boolean | undefined
}

/** Entries are an id, `<prefix>/*` or `*`. `allow: null` allows everything, `allow: []` nothing; `deny` always wins. */
export interface Restriction {
  readonly allow: ReadonlyArray<string> | null
  readonly deny: ReadonlyArray<string>
}

/** Where calls of a project, or of one routing configuration, may go. A price equal to a cap is allowed; `null` is no cap. */
export interface RoutingRestrictions {
  readonly models: Restriction
  readonly providers: Restriction
  readonly maxInputPriceMicroUsdPerMillion: number | null
  readonly maxOutputPriceMicroUsdPerMillion: number | null
}

export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const
export type Effort = (typeof efforts)[number]

export interface ReasoningOptions {
  /** A budget in tokens. */
  readonly maxTokens: number | undefined
  readonly summary: string | undefined
  /** The model may reason, but its reasoning is not returned. */
  readonly exclude: boolean
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

export interface SystemMessage {
  readonly role: "developer" | "system"
  readonly content: string | ReadonlyArray<TextPart>
  readonly name?: string
}

export interface UserMessage {
  readonly role: "user"
  readonly content: string | ReadonlyArray<UserPart>
  readonly name?: string
}

export interface AssistantMessage {
  readonly role: "assistant"
  readonly content?: string | ReadonlyArray<TextPart | RefusalPart> | null
  readonly refusal?: string | null
  readonly name?: string
  readonly tool_calls?: ReadonlyArray<ToolCall>
  readonly audio?: { readonly id: string } | null
  /** Reasoning of an earlier turn, sent back by the client; `reasoning_details` has the signatures and their origin. */
  readonly reasoning_content?: string | null
  readonly reasoning?: string | null
  readonly reasoning_details?: ReadonlyArray<ReasoningDetail> | null
}

export interface ToolMessage {
  readonly role: "tool"
  readonly content: string | ReadonlyArray<TextPart>
  readonly tool_call_id: string
}

export type UserPart = TextPart | ImagePart | AudioPart | FilePart

export interface TextPart {
  readonly type: "text"
  readonly text: string
  readonly prompt_cache_breakpoint?: JsonObject | null
}
export interface ImagePart {
  readonly type: "image_url"
  readonly image_url: { readonly url: string; readonly detail?: string }
}
export interface AudioPart {
  readonly type: "input_audio"
  readonly input_audio: { readonly data: string; readonly format: string }
}
export interface FilePart {
  readonly type: "file"
  readonly file: { readonly filename?: string; readonly file_data?: string; readonly file_id?: string }
}
export interface RefusalPart {
  readonly type: "refusal"
  readonly refusal: string
}

export type ToolCall =
  | {
      readonly id: string
      readonly type: "function"
      /** `arguments` is JSON text. */
      readonly function: { readonly name: string; readonly arguments: string }
      readonly extra_content?: JsonObject | null
    }
  | {
      readonly id: string
      readonly type: "custom"
      readonly custom: { readonly name: string; readonly input: string }
      readonly extra_content?: JsonObject | null
    }

/**
 * One block of a model's reasoning. `format` is its origin (`<provider>/<model>`): its signature is valid only there.
 */
export interface ReasoningDetail {
  readonly type: "reasoning.text" | "reasoning.summary" | "reasoning.encrypted"
  readonly text?: string | null
  readonly summary?: string | null
  readonly data?: string | null
  readonly signature?: string | null
  readonly format?: string | null
  readonly id?: string | null
  readonly index?: number | null
}

export type Tool =
  | {
      readonly type: "function"
      readonly function: {
        readonly name: string
        readonly description?: string
        readonly parameters?: JsonObject
        readonly strict?: boolean | null
      }
    }
  | {
      readonly type: "custom"
      readonly custom: { readonly name: string; readonly description?: string; readonly format?: JsonObject }
    }

export type ToolChoice = "none" | "auto" | "required" | JsonObject
