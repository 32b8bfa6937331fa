import type { ChatRequest, Restriction, RoutingControls } from "../domain/Chat.ts"
import type { PriceTerms } from "../domain/Prices.ts"
import type { CostBound } from "./CostBound.ts"
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
  /** Estimated length of the prompt without its images and files. */
  readonly promptTokens: number
  /** How many it has: the length of each depends on the model. */
  readonly imagesAndFiles: number
  /** The client's cap on completion tokens. */
  readonly maxOutputTokens: number | undefined
  readonly requirements: ReadonlyArray<Requirement>
  readonly tools: ToolUse
  readonly terms: PriceTerms
  /** Set where the request says whether to reason. */
  readonly reasoning?: ReasoningWish
  /** What the request itself restricts and prefers; the routing configuration that it names is on the row of the call. */
  readonly controls: RequestControls
  /** Set where the request says what the call may cost. */
  readonly costBound?: CostBound
}

/** The bound of the cost is apart: it needs more of the prompt. */
export type RequestControls = Omit<RoutingControls, "routingConfig" | "maxCostMicroUsd">

export const featuresOf = (
  request: ChatRequest,
  pinned: boolean,
  promptTokens: number,
  classes: ReadonlyArray<number>,
  costBound?: CostBound | undefined,
  imagesAndFiles = 0
): RequestFeatures => {
  const tools = toolUseOf(request)
  return {
    classes,
    promptTokens,
    imagesAndFiles,
    maxOutputTokens: request.maxOutputTokens,
    requirements: requirementsOf(request, pinned, tools === "forced"),
    tools,
    terms: termsOf(request),
    controls: request.routing,
    ...(costBound !== undefined && { costBound }),
    ...(request.reasoning.mode !== undefined && { reasoning: wishOf(request.reasoning) })
  }
}

const wishOf = ({ maxTokens, mode }: ReasoningWish): ReasoningWish => ({ maxTokens, mode })

/** The shape of the recorded JSON. */
const version = 2

interface Recorded {
  readonly v: number
  /** The classifier that told the classes. */
  readonly m: string
  /** Classes. */
  readonly c: ReadonlyArray<number>
  /** Tokens of the prompt, and its images and files. */
  readonly t: number
  readonly i?: number
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
  /** Models and providers: those that may be used, and those that may not. */
  readonly ma?: ReadonlyArray<string>
  readonly md?: ReadonlyArray<string>
  readonly pa?: ReadonlyArray<string>
  readonly pd?: ReadonlyArray<string>
  /** Alpha, price caps, fallback. */
  readonly x?: number
  readonly ci?: number
  readonly co?: number
  readonly f?: boolean
  /** What the call may cost; the prompt's text in tokens, its images and files, its audio in tokens. */
  readonly k?: readonly [maxMicroUsd: number, textTokens: number, imagesAndFiles: number, audioTokens: number]
  /** How likely the first candidate was to come first, where that was left to chance. */
  readonly p?: number
  /** Version of the quality snapshot. */
  readonly q?: number
}

/** What a decision was made by, besides the features. */
export interface DecidedBy {
  /** How likely the first candidate was to come first. */
  readonly propensity: number
  /** `null`: by assumed qualities alone. */
  readonly qualityVersion: number | null
}

/** Names of service tiers come from requests. */
const maxTierLength = 64

/** The call log cuts longer texts. */
const maxRecordedLength = 2_048

/**
 * About 120 bytes of JSON; `null` for what cannot be tried again: a service tier that nobody has, or restrictions that name
 * more models than a row should carry.
 */
export const recorded = (features: RequestFeatures, { propensity, qualityVersion }: DecidedBy): string | null => {
  const { classes, controls, costBound, imagesAndFiles, maxOutputTokens, promptTokens, reasoning, requirements } =
    features
  const { terms, tools } = features
  if (terms.serviceTier !== null && terms.serviceTier.length > maxTierLength) return null
  // no spreads of what is mostly absent: a dozen of them took longer than writing the record
  const record: Writable<Recorded> = { v: version, m: classifierVersion, c: classes, t: promptTokens }
  if (imagesAndFiles > 0) record.i = imagesAndFiles
  if (maxOutputTokens !== undefined) record.o = maxOutputTokens
  if (requirements.length > 0) record.n = requirements.map(({ reason }) => reason)
  if (tools !== "none") record.u = tools
  if (terms.serviceTier !== null) record.s = terms.serviceTier
  if (reasoning !== undefined) record.r = reasoning.mode
  if (reasoning?.maxTokens !== undefined) record.b = reasoning.maxTokens
  if (terms.webSearch) record.w = 1
  if (terms.audioOutput) record.a = 1
  recordControls(record, controls)
  if (costBound !== undefined) {
    record.k = [costBound.maxMicroUsd, costBound.textTokens, costBound.imagesAndFiles, costBound.audioTokens]
  }
  if (propensity < 1) record.p = propensity
  if (qualityVersion !== null) record.q = qualityVersion
  const text = JSON.stringify(record)
  return text.length > maxRecordedLength ? null : text
}

type Writable<A> = { -readonly [Name in keyof A]: A[Name] }

const recordControls = (record: Writable<Recorded>, controls: RequestControls): void => {
  const { alpha, enableFallback, models, providers } = controls
  const { maxInputPriceMicroUsdPerMillion: input, maxOutputPriceMicroUsdPerMillion: output } = controls
  if (models.allow !== null) record.ma = models.allow
  if (models.deny.length > 0) record.md = models.deny
  if (providers.allow !== null) record.pa = providers.allow
  if (providers.deny.length > 0) record.pd = providers.deny
  if (alpha !== undefined) record.x = alpha
  if (input !== undefined) record.ci = input
  if (output !== undefined) record.co = output
  if (enableFallback !== undefined) record.f = enableFallback
}

/** Of a request that restricts nothing. */
const open: Restriction = { allow: null, deny: [] }

const restrictionOf = (
  allow: ReadonlyArray<string> | undefined,
  deny: ReadonlyArray<string> | undefined
): Restriction => (allow === undefined && deny === undefined ? open : { allow: allow ?? null, deny: deny ?? [] })

const costBoundOf = ([maxMicroUsd, textTokens, imagesAndFiles, audioTokens]: Exclude<
  Recorded["k"],
  undefined
>): CostBound => ({ maxMicroUsd, textTokens, imagesAndFiles, audioTokens })

const controlsOf = (record: Recorded): RequestControls => ({
  models: restrictionOf(record.ma, record.md),
  providers: restrictionOf(record.pa, record.pd),
  alpha: record.x,
  maxInputPriceMicroUsdPerMillion: record.ci,
  maxOutputPriceMicroUsdPerMillion: record.co,
  enableFallback: record.f
})

/** The features of a recorded call; `null` for those of another version. */
export const fromRecorded = (text: string): RequestFeatures | null => {
  const record = JSON.parse(text) as Recorded
  if (record.v !== version) return null
  const requirements = (record.n ?? []).map(requirementFor)
  return requirements.every((one) => one !== undefined)
    ? {
        classes: record.c,
        promptTokens: record.t,
        imagesAndFiles: record.i ?? 0,
        maxOutputTokens: record.o,
        requirements,
        tools: record.u ?? "none",
        terms: { serviceTier: record.s ?? null, webSearch: record.w === 1, audioOutput: record.a === 1 },
        controls: controlsOf(record),
        ...(record.k !== undefined && { costBound: costBoundOf(record.k) }),
        ...(record.r !== undefined && { reasoning: { mode: record.r, maxTokens: record.b } })
      }
    : null
}
