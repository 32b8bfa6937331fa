import type { CallStatus } from "../domain/Call.ts"
import type { BlockKind, CapturedRates } from "../domain/CapturedCall.ts"
import type { PromptCache } from "../domain/Model.ts"
import type { Usage } from "../domain/Usage.ts"

/** What the engine reads: calls with their prompts as blocks. Keys stand for equal contents and are unique in the workload; no text is kept. */
export interface Workload {
  /** Ascending by `at`; the position of a call is its id in edits. */
  readonly calls: ReadonlyArray<WorkCall>
  readonly conversations: ReadonlyArray<WorkConversation>
}

export interface WorkConversation {
  readonly id: string
  /** The probability with which it is in the workload, above 0 and at most 1. */
  readonly inclusion: number
}

export interface WorkCall {
  readonly id: string
  /** Position in `conversations`. */
  readonly conversation: number
  /** In milliseconds since the epoch. */
  readonly at: number
  /** Of the range of the analysis: another one is in no figure, and only tells what came before. */
  readonly isInRange: boolean
  /** Id of the model that has answered. */
  readonly route: string
  /** The client has named that model. */
  readonly pinned: boolean
  /** Failed attempts before the answer, and the time they took. */
  readonly failedAttempts: number
  readonly failedMillis: number
  readonly status: CallStatus
  readonly finish: string | null
  readonly blocks: ReadonlyArray<WorkBlock>
  /** Same for calls that ask for the same thing, whatever their output cap and the times in their text. */
  readonly request: number
  readonly response: WorkResponse | null
  readonly usage: Usage | null
  readonly chargedMicroUsd: number
  /** The gateway has counted the usage, since the provider reported none: what was cached is not known. */
  readonly isEstimated: boolean
  readonly prices: WorkPrices | null
  /** `null`: the provider's rules are not known, hence no saving by its cache is claimed. */
  readonly cache: PromptCache | null
  readonly temperature: number | null
  readonly maxOutputTokens: number | null
  readonly latencyMillis: number
  readonly class: string | null
  /** The request asks for JSON. */
  readonly wantsJson: boolean
  /** Names of the tools that are offered, and that the prompt's messages or the response have called. */
  readonly toolsOffered: ReadonlyArray<string>
  readonly toolsCalled: ReadonlyArray<string>
  readonly images: ReadonlyArray<WorkImage>
}

export interface WorkBlock {
  readonly key: number
  /** Of the block with sorted keys and without times, dates, epochs and UUIDs. */
  readonly canonical: number
  /** Of the text alone: equal for two results of different calls of a tool. */
  readonly text: number
  readonly kind: BlockKind
  readonly tool: string | null
  /** As the call's route bills them. */
  readonly tokens: number
  readonly mark: "5m" | "1h" | null
  /** `null` where there is no text. */
  readonly facts: BlockFacts | null
}

/** What the text of a block says about tokens that it could do without. */
export interface BlockFacts {
  readonly json: boolean
  /** Without the white space of JSON; `null` where it is none. */
  readonly minifiedTokens: number | null
  /** Without encoded bytes, markup and lines that repeat; `null` where that is little, or a later turn uses what is removed. */
  readonly washedTokens: number | null
  /** Long paragraphs, with the tokens of each. */
  readonly paragraphs: ReadonlyArray<{ readonly key: number; readonly tokens: number }>
  /** A user message that says that an answer was no valid JSON. */
  readonly rejectsJson: boolean
}

export interface WorkResponse {
  readonly text: number
  readonly json: boolean
}

export interface WorkPrices extends CapturedRates {
  readonly tiers?: ReadonlyArray<CapturedRates & { readonly abovePromptTokens: number }>
  readonly webSearchMicroUsd?: number
}

export interface WorkImage {
  readonly width: number
  readonly height: number
}

/** Gives equal texts equal numbers. */
export class Interner {
  private readonly keys = new Map<string, number>()
  keyOf(text: string): number {
    const known = this.keys.get(text)
    if (known !== undefined) return known
    const key = this.keys.size + 1
    this.keys.set(text, key)
    return key
  }
}
