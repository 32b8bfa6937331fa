import type { ChatRequest } from "../domain/Chat.ts"
import type { PriceTerms } from "../domain/Prices.ts"
import { type ToolUse, toolUseOf } from "./LeftOut.ts"
import { classifierVersion } from "./quality/Artefact.ts"
import type { ReasoningWish } from "./ReasoningMode.ts"
import { type Requirement, requirementFor, requirementsOf } from "./Requirements.ts"
import { termsOf } from "./Terms.ts"

/**
 * Everything of a request that the ranking sees: no text. Recorded with the call, so that another policy or another alpha can be
 * tried on it later.
 */
export interface RequestFeatures {
  /** Probability of each class of prompt, per mille, in the order of `promptClasses`. */
  readonly classes: ReadonlyArray<number>
  /** Estimated length of the prompt. */
  readonly promptTokens: number
  /** The client's cap on completion tokens. */
  readonly maxOutputTokens: number | undefined
  readonly requirements: ReadonlyArray<Requirement>
  readonly tools: ToolUse
  readonly terms: PriceTerms
  /** Set where the request says whether to reason. */
  readonly reasoning?: ReasoningWish
}

export const featuresOf = (
  request: ChatRequest,
  pinned: boolean,
  promptTokens: number,
  classes: ReadonlyArray<number>
): RequestFeatures => ({
  classes,
  promptTokens,
  maxOutputTokens: request.maxOutputTokens,
  requirements: requirementsOf(request, pinned),
  tools: toolUseOf(request),
  terms: termsOf(request),
  ...(request.reasoning.mode !== undefined && { reasoning: wishOf(request.reasoning) })
})

const wishOf = ({ maxTokens, mode }: ReasoningWish): ReasoningWish => ({ maxTokens, mode })

/** The shape of the recorded JSON. */
const version = 1

interface Recorded {
  readonly v: number
  /** The classifier that told the classes. */
  readonly m: string
  /** Classes. */
  readonly c: ReadonlyArray<number>
  /** Tokens of the prompt. */
  readonly t: number
  /** Cap on completion tokens. */
  readonly o?: number
  /** Requirements, by reason. */
  readonly n?: ReadonlyArray<string>
  /** Use of tools. */
  readonly u?: "offered" | "forced"
  /** Service tier. */
  readonly s?: string
  /** Whether to reason, and its budget in tokens. */
  readonly r?: ReasoningWish["mode"]
  readonly b?: number
  /** Web search, audio output. */
  readonly w?: 1
  readonly a?: 1
}

/** Names of service tiers come from requests. */
const maxTierLength = 64

/** About 120 bytes of JSON; `null` for what cannot be tried again: a named model, or a service tier that nobody has. */
export const recorded = ({
  classes,
  maxOutputTokens,
  promptTokens,
  reasoning,
  requirements,
  terms,
  tools
}: RequestFeatures): string | null => {
  if (terms.serviceTier !== null && terms.serviceTier.length > maxTierLength) return null
  const record: Recorded = {
    v: version,
    m: classifierVersion,
    c: classes,
    t: promptTokens,
    ...(maxOutputTokens !== undefined && { o: maxOutputTokens }),
    ...(requirements.length > 0 && { n: requirements.map(({ reason }) => reason) }),
    ...(tools !== "none" && { u: tools }),
    ...(terms.serviceTier !== null && { s: terms.serviceTier }),
    ...(reasoning !== undefined && { r: reasoning.mode }),
    ...(reasoning?.maxTokens !== undefined && { b: reasoning.maxTokens }),
    ...(terms.webSearch && { w: 1 }),
    ...(terms.audioOutput && { a: 1 })
  }
  return JSON.stringify(record)
}

/** The features of a recorded call; `null` for those of another version. */
export const fromRecorded = (text: string): RequestFeatures | null => {
  const record = JSON.parse(text) as Recorded
  if (record.v !== version) return null
  const requirements = (record.n ?? []).map(requirementFor)
  return requirements.every((one) => one !== undefined)
    ? {
        classes: record.c,
        promptTokens: record.t,
        maxOutputTokens: record.o,
        requirements,
        tools: record.u ?? "none",
        terms: { serviceTier: record.s ?? null, webSearch: record.w === 1, audioOutput: record.a === 1 },
        ...(record.r !== undefined && { reasoning: { mode: record.r, maxTokens: record.b } })
      }
    : null
}
