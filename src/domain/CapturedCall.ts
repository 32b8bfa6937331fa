import type { Attempt, CallError, CallStatus, CandidatePool, Cost, Endpoint, RoutingReason } from "./Call.ts"
import type { AssistantMessage, Message, Tool } from "./Chat.ts"
import type { FinishReason } from "./ChatEvent.ts"
import type { KeyId, ProjectId, RequestId } from "./Ids.ts"
import type { PromptClass } from "./PromptClass.ts"
import type { Usage } from "./Usage.ts"

/**
 * A call as a project's data collection has kept it, read again and expanded: the sample of the account API, in the gateway's own
 * terms. Text is as it was sent, without what is never kept: see `CapturedMedia` and `omitted`.
 */
export interface CapturedCall {
  /** Of the call; the sample has the same id. */
  readonly requestId: RequestId
  readonly projectId: ProjectId
  /** When the call was admitted, in milliseconds since the epoch. */
  readonly capturedAt: number
  readonly window: CaptureWindow
  readonly keyId: KeyId
  /** Hex HMAC of the request's `user`, the same for one end user within a project; `null` where the request names none. */
  readonly endUser: string | null
  /** Hex hash of the conversation, as in the call log. */
  readonly conversation: string
  /** What the prompt most likely asked for; `null` where the request named its model, so that nothing was asked about it. */
  readonly class: PromptClass | null
  readonly endpoint: Endpoint
  readonly status: CallStatus
  /** Why the call failed; `null` where it did not. */
  readonly error: CallError | null
  readonly request: CapturedRequest
  readonly candidatePool: CandidatePool
  readonly decision: CapturedDecision
  /** In order. */
  readonly attempts: ReadonlyArray<CapturedAttempt>
  /** `null` where nothing of a response has come. */
  readonly response: CapturedResponse | null
  /** What the call was charged for; `null` where it was charged for nothing. */
  readonly usage: Usage | null
  /** The provider has reported usage, with what it had cached. Not there in samples of earlier versions and in the log of calls. */
  readonly isUsageReported?: boolean
  /** What the customer paid. */
  readonly cost: Cost
  /** The prices of that; `null` without usage or prices. */
  readonly prices: CapturedPrices | null
  /** From admission to the end, in milliseconds. */
  readonly latencyMillis: number
  /** From admission to the first content, in milliseconds; `null` where none came or the response was not streamed. */
  readonly firstContentMillis: number | null
  /** The new blocks were larger than what is kept: there is no text, and blocks have no ids. */
  readonly truncated: boolean
  /** Its content may be sent to other models than the one that has answered. */
  readonly flowAuthorized: boolean
  /** In milliseconds since the epoch. */
  readonly expiresAt: number
}

/** A call as analyses read it, captured or of the log of calls. None of them asks what else could have taken it. */
export type AnalysedCall = Omit<CapturedCall, "candidatePool">

/** The collection that took the call. */
export interface CaptureWindow {
  readonly configVersion: number
  /** The share of conversations that were to be taken, 0 to 1. */
  readonly samplingRate: number
  /** The probability with which the call's conversation was taken and is still kept, 0 to 1. */
  readonly inclusion: number
}

/** What was sent, in the canonical shape that every endpoint translates to. */
export interface CapturedRequest {
  /** `null` where only fingerprints were kept, or the sample is truncated. An image, file or audio has the address `media:<id>`. */
  readonly messages: ReadonlyArray<Message> | null
  /** As `messages`. */
  readonly tools: ReadonlyArray<Tool> | null
  /** The prompt block by block: one for each tool, then one for each message, in the order of the request. */
  readonly blocks: ReadonlyArray<CapturedBlock>
  readonly params: CapturedParams
  /** Names of the tools that the request offers, in its order. */
  readonly toolsOffered: ReadonlyArray<string>
  /** Names of the tools that the response called. */
  readonly toolsCalled: ReadonlyArray<string>
  readonly media: ReadonlyArray<CapturedMedia>
}

export type BlockKind = "tool" | "system" | "user" | "assistant" | "tool_result"

/** One block of a prompt, or the response. Ids are keyed by project and day: equal blocks of one conversation have equal ids. */
export interface CapturedBlock {
  /** Hex; of the block as it was sent, but for its marks for the provider's cache. Empty where the sample is truncated. */
  readonly id: string
  /** Hex; of that with sorted keys and without times, dates, epochs and UUIDs. Empty where the sample is truncated. */
  readonly canonicalId: string
  readonly kind: BlockKind
  /** Of its JSON in UTF-8, without media. */
  readonly bytes: number
  /** The tool of a `tool` or `tool_result` block. */
  readonly tool: string | null
  /** What its text looks like: JSON, JSON with indentation, a run of base64, mostly markup. */
  readonly looks: ReadonlyArray<BlockLook>
  /** It ends a cached prefix: the request marks it for the provider's cache, and the last attempt was sent the mark, for this long. */
  readonly cacheMark: "5m" | "1h" | null
}

export type BlockLook = "json" | "json_pretty" | "base64" | "markup"

/** An image, audio or file of the prompt, of which no byte and no address is kept. */
export interface CapturedMedia {
  /** Hex HMAC of the bytes or the address; its place in `messages` names it as `media:<id>`. */
  readonly id: string
  readonly type: "image" | "audio" | "file"
  /** Such as `image/png`; `null` where the request does not tell. */
  readonly mediaType: string | null
  /** `null` for an address. */
  readonly bytes: number | null
  /** `null` where the header of the image does not tell. */
  readonly pixels: { readonly width: number; readonly height: number } | null
}

/** What the request asks for besides its messages and tools. Names are those of `ChatRequest`; what was not sent is not there. */
export interface CapturedParams {
  readonly stream: boolean
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly stop?: ReadonlyArray<string>
  readonly frequencyPenalty?: number
  readonly presencePenalty?: number
  readonly seed?: string
  readonly toolChoice?: unknown
  readonly parallelToolCalls?: boolean
  readonly responseFormat?: { readonly [key: string]: unknown }
  readonly effort?: string | number
  readonly reasoning?: { readonly [key: string]: unknown }
  readonly verbosity?: string
  readonly serviceTier?: string
  readonly modalities?: ReadonlyArray<string>
  /** The whole prompt is marked for the provider's cache, and the last attempt was sent the mark, for this long. */
  readonly cacheMark?: "5m" | "1h"
  readonly webSearch?: true
  /** Length of the predicted output's JSON, in characters. */
  readonly predictionLength?: number
  /** How many there are in `stop`, where their text is left out. */
  readonly stopCount?: number
  /** Hex, keyed as ids of blocks: of the `stop`, `responseFormat` and `toolChoice` that were sent, where their text is left out. */
  readonly textId?: string
}

/** What the router decided. */
export interface CapturedDecision {
  /** The `model` of the request. */
  readonly requestedModel: string
  readonly reason: RoutingReason
  /** 0 to 1; `null` where the request named its model. */
  readonly alpha: number | null
  /** Slug of the routing configuration that was used. */
  readonly routingConfig: string | null
  readonly policyVersion: number
}

/** One call to one provider. */
export interface CapturedAttempt {
  readonly provider: string
  readonly model: string
  readonly status: Attempt["status"]
  readonly error: CallError | null
  readonly cost: Cost
  /** `null` where nothing is known of what it has used. */
  readonly usage: Usage | null
  /** In milliseconds since the epoch. */
  readonly startedAt: number
  readonly latencyMillis: number
}

/** What was answered, or the part of it that came. */
export interface CapturedResponse {
  /** As the client would send it back; `null` where only fingerprints were kept, or the sample is truncated. */
  readonly message: AssistantMessage | null
  readonly block: CapturedBlock
  /** `null` where the response did not reach its end. */
  readonly finish: FinishReason | null
}

/** The snapshot of `snapshotOf`, in micro-USD per million tokens; a rate that is not there is unknown. */
export interface CapturedPrices extends CapturedRates {
  readonly tiers?: ReadonlyArray<CapturedRates & { readonly abovePromptTokens: number }>
  readonly serviceTier?: string
  /** For the call, in micro-USD. */
  readonly webSearchMicroUsd?: number
}

export interface CapturedRates {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly audioInput?: number
  readonly audioOutput?: number
}

/** A conversation whose calls an analysis reads. */
export interface CapturedConversation {
  readonly conversation: string
  readonly configVersion: number
  /** The probability with which it was taken and is still kept, 0 to 1. */
  readonly inclusion: number
  /** Where it stands in hash order, 0 to 1. */
  readonly position: number
  /** Captured calls, of all times. */
  readonly calls: number
}
