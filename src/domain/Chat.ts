import type { StringLiterals } from "./StringLiterals.ts"

/**
 * The canonical request. Every endpoint (chat completions, Responses, an embedding program) translates to it, and every
 * provider protocol from it. Messages and tools have the shape of chat completions, so that those of a client can be passed
 * on without being rebuilt; all other fields are the gateway's own.
 */
export interface ChatRequest {
  /** `auto`, `auto:<slug>`, a concrete `<provider>/<model>`, or a bare upstream name. */
  readonly model: string
  /** The conversation, oldest message first. */
  readonly messages: ReadonlyArray<Message>
  /** What the model may call. */
  readonly tools: ReadonlyArray<Tool>
  /** Whether and which tool to call. */
  readonly toolChoice: ToolChoice | undefined
  /** The client asked for a stream. */
  readonly stream: boolean
  /** The client requested a usage chunk; it is always requested from the provider. */
  readonly includeUsage: boolean
  /** The client opted this call into its project's data collection. */
  readonly tokenDoctor: boolean
  /** The client's cap on completion tokens. */
  readonly maxOutputTokens: number | undefined
  /** Sampling temperature; ranges differ by provider. */
  readonly temperature: number | undefined
  /** Nucleus sampling. */
  readonly topP: number | undefined
  /** Sample from this many of the likeliest tokens only. */
  readonly topK?: number | undefined
  /** Texts at which the model stops. */
  readonly stop: ReadonlyArray<string>
  /** Makes repeated tokens less likely, -2 to 2. */
  readonly frequencyPenalty: number | undefined
  /** Makes tokens that have occurred less likely, -2 to 2. */
  readonly presencePenalty: number | undefined
  /** Asks for repeatable sampling; beyond 2^53 a `bigint`. */
  readonly seed: number | bigint | undefined
  /** Return log probabilities. */
  readonly logprobs: boolean | undefined
  /** How many alternatives per token, 0 to 20. */
  readonly topLogprobs: number | undefined
  /** Several tools may be called at once. */
  readonly parallelToolCalls: boolean | undefined
  /** JSON object or JSON schema output, as in chat completions. */
  readonly responseFormat: JsonObject | undefined
  /** A named effort, or a reasoning depth (an integer from 1 to 100). */
  readonly effort: Effort | number | undefined
  /** How reasoning is limited and returned. */
  readonly reasoning: ReasoningOptions
  /** How long the answer should be. */
  readonly verbosity: "low" | "medium" | "high" | undefined
  /** The provider's service tier. */
  readonly serviceTier: string | undefined
  /** Passed to providers that store it. */
  readonly metadata: Readonly<Record<string, string>> | undefined
  /** The provider may store the response. */
  readonly store: boolean | undefined
  /** Opaque id of the end user, for abuse detection. */
  readonly safetyIdentifier: string | undefined
  /** Groups requests that share a prompt prefix. */
  readonly promptCacheKey: string | undefined
  /** Options of the provider's prompt cache. */
  readonly promptCacheOptions: JsonObject | undefined
  /** How long the provider keeps the cached prompt. */
  readonly promptCacheRetention: string | undefined
  /** Predicted output. */
  readonly prediction: JsonObject | undefined
  /** Kinds of output to produce. */
  readonly modalities: ReadonlyArray<string> | undefined
  /** Options of audio output. */
  readonly audio: JsonObject | undefined
  /** Options of the provider's moderation. */
  readonly moderation: JsonObject | undefined
  /** Options of the provider's web search. */
  readonly webSearchOptions: JsonObject | undefined
  /** Opaque id of the end user. */
  readonly user: string | undefined
  /** What the request itself says about routing. */
  readonly routing: RoutingControls
  /** The whole prompt is cached, up to its last block. */
  readonly cacheControl?: CacheControl | undefined
  /** The longest time that a `cacheControl` or `cache_control` of the request asks for; unset where there is none. */
  readonly cacheMarks?: "5m" | "1h" | undefined
  /** The client reads the arguments of a call as a JSON object: a response whose arguments are none is a bad one. */
  readonly objectArguments?: boolean
  /** Names of the fields of the client's request that have no effect, whatever model is chosen. */
  readonly ignored?: ReadonlyArray<string> | undefined
  /** Long strings of the client's body as they were written there, for the provider's body. They change nothing but its cost. */
  readonly stringLiterals?: StringLiterals | undefined
}

/** A value of JSON that the gateway passes on. */
export type JsonObject = { readonly [key: string]: unknown }

/** Marks a block that ends a cached prefix of the prompt, in Anthropic's form; it has an effect where the provider has such marks. */
export interface CacheControl {
  /** The only kind of cache. */
  readonly type: "ephemeral"
  /** How long the prefix is kept; the provider's default is five minutes. */
  readonly ttl?: "5m" | "1h"
}

/** The request's own restrictions and preferences; they narrow the project's policy and never widen it. */
export interface RoutingControls {
  /** Models that the request may use. */
  readonly models: Restriction
  /** Providers that the request may use. */
  readonly providers: Restriction
  /** Id or slug of a routing configuration of the project. */
  readonly routingConfig: string | undefined
  /** 0 is cheapest, 1 is best. */
  readonly alpha: number | undefined
  /** Excludes models with a higher input price. */
  readonly maxInputPriceMicroUsdPerMillion: number | undefined
  /** Excludes models with a higher output price. */
  readonly maxOutputPriceMicroUsdPerMillion: number | undefined
  /** False: only the first candidate is tried. */
  readonly enableFallback: boolean | undefined
  /** What the call may cost, in micro-USD. */
  readonly maxCostMicroUsd?: number | undefined
}

/** Entries are an id, `<prefix>/*` or `*`. `allow: null` allows everything, `allow: []` nothing; `deny` always wins. */
export interface Restriction {
  /** `null` allows everything. */
  readonly allow: ReadonlyArray<string> | null
  /** Wins over `allow`. */
  readonly deny: ReadonlyArray<string>
}

/** Where calls of a project, or of one routing configuration, may go. A price equal to a cap is allowed; `null` is no cap. */
export interface RoutingRestrictions {
  /** By model id. */
  readonly models: Restriction
  /** By provider id. */
  readonly providers: Restriction
  /** Cap of the input price. */
  readonly maxInputPriceMicroUsdPerMillion: number | null
  /** Cap of the output price. */
  readonly maxOutputPriceMicroUsdPerMillion: number | null
}

export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const
/** How much a model reasons, from nothing to most. */
export type Effort = (typeof efforts)[number]

/** Share of the output cap that each effort may use for reasoning. */
export const budgetShares: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95
}

/** How reasoning is limited and returned. */
export interface ReasoningOptions {
  /** Whether the model should reason at all, whatever its effort; each model follows as far as it can. */
  readonly mode?: "enabled" | "adaptive" | "disabled" | undefined
  /** A budget in tokens. */
  readonly maxTokens: number | undefined
  /** How to summarize it, where the provider can. */
  readonly summary: string | undefined
  /** The model may reason, but its reasoning is not returned. */
  readonly exclude: boolean
}

/** Reasoning is wanted, however much of it. */
export const asksToReason = ({ maxTokens, mode }: ReasoningOptions): boolean =>
  mode === undefined ? maxTokens !== undefined : mode !== "disabled"

/** One message of a conversation, in the shape of chat completions. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

/** Instructions of the application. */
export interface SystemMessage {
  /** The two names mean the same. */
  readonly role: "developer" | "system"
  /** The instructions. */
  readonly content: string | ReadonlyArray<TextPart>
  /** Tells participants of one role apart. */
  readonly name?: string
}

/** What the user says. */
export interface UserMessage {
  /** Always user. */
  readonly role: "user"
  /** Text, or text with images, audio and files. */
  readonly content: string | ReadonlyArray<UserPart>
  /** Tells participants of one role apart. */
  readonly name?: string
}

/** What a model has answered before. */
export interface AssistantMessage {
  /** Always assistant. */
  readonly role: "assistant"
  /** Not needed beside tool calls, a refusal or audio. */
  readonly content?: string | ReadonlyArray<TextPart | RefusalPart> | null
  /** What the model refused with. */
  readonly refusal?: string | null
  /** Tells participants of one role apart. */
  readonly name?: string
  /** What the model called. */
  readonly tool_calls?: ReadonlyArray<ToolCall>
  /** An earlier audio output, by its id. */
  readonly audio?: { readonly id: string } | null
  /** Reasoning of an earlier turn, sent back by the client; `reasoning_details` has the signatures and their origin. */
  readonly reasoning_content?: string | null
  /** As it was returned. */
  readonly reasoning?: string | null
  /** Block by block, as they were returned. */
  readonly reasoning_details?: ReadonlyArray<ReasoningDetail> | null
  /**
   * The kinds of its blocks as they came, one for each reasoning detail, part of the content and call; unset where the reasoning
   * comes first. Claude rejects its reasoning in any other place than where it was.
   */
  readonly order?: ReadonlyArray<BlockKind>
}

/** A kind of block of an answer. */
export type BlockKind = "reasoning" | "text" | "call"

/** The reasoning comes before everything else. */
export const hasReasoningFirst = (order: ReadonlyArray<BlockKind>): boolean =>
  order.every((kind, at) => kind !== "reasoning" || at === 0 || order[at - 1] === "reasoning")

/** What a tool has returned. */
export interface ToolMessage {
  /** Always tool. */
  readonly role: "tool"
  /** The result. */
  readonly content: string | ReadonlyArray<ToolResultPart>
  /** Of the call that it answers. */
  readonly tool_call_id: string
  /** The tool has failed. */
  readonly is_error?: boolean
  /** Ends a cached prefix of the prompt. */
  readonly cache_control?: CacheControl
}

/** A part of what a tool has returned. */
export type ToolResultPart = TextPart | ImagePart | FilePart

/** A part of what the user says. */
export type UserPart = TextPart | ImagePart | AudioPart | FilePart

/** Text. */
export interface TextPart {
  /** Always text. */
  readonly type: "text"
  /** The text. */
  readonly text: string
  /** Marks the end of a prefix for the provider's cache. */
  readonly prompt_cache_breakpoint?: JsonObject | null
  /** Ends a cached prefix of the prompt. */
  readonly cache_control?: CacheControl
}
/** An image. */
export interface ImagePart {
  /** Always image_url. */
  readonly type: "image_url"
  /** An address with https, or a data URL. */
  readonly image_url: { readonly url: string; readonly detail?: string }
  /** Marks the end of a prefix for the provider's cache. */
  readonly prompt_cache_breakpoint?: JsonObject | null
  /** Ends a cached prefix of the prompt. */
  readonly cache_control?: CacheControl
}
/** Audio. */
export interface AudioPart {
  /** Always input_audio. */
  readonly type: "input_audio"
  /** Base64, with its format. */
  readonly input_audio: { readonly data: string; readonly format: string }
  /** Marks the end of a prefix for the provider's cache. */
  readonly prompt_cache_breakpoint?: JsonObject | null
}
/** A file. */
export interface FilePart {
  /** Always file. */
  readonly type: "file"
  /** Its content as a data URL, or its id. */
  readonly file: { readonly filename?: string; readonly file_data?: string; readonly file_id?: string }
  /** Marks the end of a prefix for the provider's cache. */
  readonly prompt_cache_breakpoint?: JsonObject | null
  /** Ends a cached prefix of the prompt. */
  readonly cache_control?: CacheControl
}
/** A refusal. */
export interface RefusalPart {
  /** Always refusal. */
  readonly type: "refusal"
  /** Its text. */
  readonly refusal: string
}

/** A call of a tool by the model. */
export type ToolCall =
  | {
      readonly id: string
      readonly type: "function"
      /** `arguments` is JSON text. */
      readonly function: { readonly name: string; readonly arguments: string }
      readonly extra_content?: JsonObject | null
      /** Ends a cached prefix of the prompt. */
      readonly cache_control?: CacheControl
    }
  | {
      readonly id: string
      readonly type: "custom"
      readonly custom: { readonly name: string; readonly input: string }
      readonly extra_content?: JsonObject | null
    }

/**
 * One block of a model's reasoning. `format` is its origin (`<provider>/<model>`): its signature is valid only there. An origin
 * `<provider>/*` is a block that the provider itself has returned, of whatever model.
 */
export interface ReasoningDetail {
  /** What the block is. */
  readonly type: "reasoning.text" | "reasoning.summary" | "reasoning.encrypted"
  /** Of a block of text. */
  readonly text?: string | null
  /** Of a block of summary. */
  readonly summary?: string | null
  /** Of an encrypted block. */
  readonly data?: string | null
  /** Proves to the provider that the block is its own. */
  readonly signature?: string | null
  /** The origin of the block, as `<provider>/<model>`. */
  readonly format?: string | null
  /** The provider's name of how the block is encoded, which a provider in front of others tells them apart by. */
  readonly provider_format?: string | null
  /** The provider's id of the block. */
  readonly id?: string | null
  /** Position of the block, from 0. */
  readonly index?: number | null
}

/** Something that the model may call: a function with a JSON schema, or a custom tool that takes text. */
export type Tool =
  | {
      readonly type: "function"
      readonly function: {
        readonly name: string
        readonly description?: string
        readonly parameters?: JsonObject
        readonly strict?: boolean | null
      }
      /** Ends a cached prefix of the prompt. */
      readonly cache_control?: CacheControl
    }
  | {
      readonly type: "custom"
      readonly custom: { readonly name: string; readonly description?: string; readonly format?: JsonObject }
    }

/** Whether and which tool to call; an object names one tool or a set. */
export type ToolChoice = "none" | "auto" | "required" | JsonObject
