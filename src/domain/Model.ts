import type { Effort } from "./Chat.ts"
import type { ParameterRules } from "./ParameterRules.ts"
import type { Prices } from "./Prices.ts"
import type { ProtocolId, SupportTable } from "./Support.ts"

/** One route to one model: a model at one provider. The unit of the catalog, of policy and of routing. */
export interface Model {
  /** `<provider>/<model>`, in requests and in responses. */
  readonly id: string
  /** What comes before the slash of the id. */
  readonly providerId: string
  /** The provider's name for the model. */
  readonly upstreamModel: string
  /** The bare name that the same model has at several providers. */
  readonly alias: string
  /** For people. */
  readonly displayName: string
  /** Release, in seconds since the epoch; 0 when unknown. */
  readonly createdSeconds: number
  /** The format that its provider speaks; decides how prompts are checked. */
  readonly protocol: ProtocolId
  /** `null`: unknown, hence not routable when the customer is charged. */
  readonly prices: Prices | null
  /** Prompt and completion together. `null`: not documented. */
  readonly contextTokens: number | null
  /** Of the prompt alone. `null`: not documented. */
  readonly inputTokens: number | null
  /** Of one completion, reasoning included. `null`: not documented. */
  readonly outputTokens: number | null
  /** Tokens of one image, file or page of a PDF in a hold. */
  readonly imageTokens: number
  /** Rules of the provider's prompt cache; `null` and absent: not known, or its rates are not. */
  readonly cache?: PromptCache | null | undefined
  /** Prior estimate of answer quality, 0 to 1. */
  readonly quality: number
  /** What `quality` is made of, where it is not the operator's own number. */
  readonly qualityEvidence?: QualityEvidence | undefined
  /** `null`: unknown. */
  readonly capabilities: Readonly<Record<Capability, boolean | null>>
  /** `null`: the model does not reason, or its reasoning cannot be controlled. */
  readonly reasoning: Reasoning | null
  /** Reasons without being requested to; deadlines are longer for it. */
  readonly reasonsByDefault: boolean
  /** An effort is left out when tools are sent. */
  readonly toolsForbidEffort: boolean
  /** Parameters that are sent when the client sets none. */
  readonly profile: Profile
  /** False: documented not to charge for the prompt of a call that was aborted before its response. */
  readonly billsAbortedCalls: boolean
  /** How this route handles each request parameter. */
  readonly support: SupportTable
  /** Absent: none are known. */
  readonly rules?: ParameterRules | undefined
  /** Listed by `GET /v1/models` and eligible for `auto`; an unlisted route can still be called by its id. */
  readonly listed: boolean
  /** As the vendor documents it; `null`: not documented. */
  readonly knowledgeCutoff: string | null
}

/** How a provider caches the beginnings of prompts for one model, as it documents it. */
export interface PromptCache {
  /** `auto`: every prompt. `explicit`: up to the marks in a request. */
  readonly mode: "auto" | "explicit" | "none"
  /** Shorter prefixes are not cached. */
  readonly minTokens: number
  /** Cached tokens are counted in steps of this many. */
  readonly stepTokens: number
  /** How long a prefix is kept after its last use. */
  readonly ttlSeconds: number
  /** A longer time that requests can ask for; a write then costs this multiple of the input rate. `null`: there is none. */
  readonly longTtl: { readonly seconds: number; readonly writeFactor: number } | null
  /** The provider documents that a prefix is kept as long. */
  readonly guaranteed: boolean
}

/** What the estimate of a model's quality is made of. */
export interface QualityEvidence {
  /** The estimate from name, release and price alone. */
  readonly prior: number
  /** Published benchmarks, all of them about code, that have moved it. */
  readonly benchmarks: number
}

export const capabilities = [
  "tools",
  "vision",
  "structured-output",
  "sampling",
  "logprobs",
  "audio-input",
  "file-input",
  "image-url"
] as const
/** What a model may be able to do. */
export type Capability = (typeof capabilities)[number]

/** How the reasoning of a model can be controlled. */
export interface Reasoning {
  /** Efforts that a client may request, lowest first; empty when the effort cannot be chosen. */
  readonly efforts: ReadonlyArray<Effort>
  /** How the provider accepts it: a name, a budget in tokens, on or off, or not at all. */
  readonly style: "effort" | "budget" | "toggle" | "fixed"
  /** Bounds of a budget in tokens; `null`: not documented. */
  readonly budget: { readonly min: number | null; readonly max: number | null } | null
  /** What the model does when nothing is sent. */
  readonly defaultEffort: Effort | null
  /** Cannot be switched off. */
  readonly mandatory: boolean
  /** The range of integer depths that it supports. */
  readonly depth: { readonly min: number; readonly max: number } | null
}

/** Whatever a request says. */
export const alwaysReasons = ({
  reasoning,
  reasonsByDefault
}: Pick<Model, "reasoning" | "reasonsByDefault">): boolean => reasoning?.mandatory === true && reasonsByDefault

/** The model follows a JSON schema, and its provider takes one. */
export const followsSchemas = ({ capabilities, support }: Pick<Model, "capabilities" | "support">): boolean =>
  capabilities["structured-output"] === true &&
  (["response_format", "response_format.json_schema"] as const).every(
    (name) => support[name] === "native" || support[name] === "translated"
  )

/** Parameters of the model when the client sets none. */
export interface Profile {
  /** The effort to send; `null`: none. */
  readonly effort: Effort | null
  /** The cap without one of the client's; `null`: that of the model. */
  readonly maxOutputTokens: number | null
  /** A version of the provider's API, where it has several. */
  readonly apiVersion: string | null
}

export const providerOf = (modelId: string): string => modelId.slice(0, Math.max(0, modelId.indexOf("/")))

/**
 * The name that a model of Claude has everywhere; `undefined` for other models. Providers write it with the maker before it, a
 * date or version after it, and dots or hyphens in the version number; agents send any of these.
 */
export const claudeName = (name: string): string | undefined => {
  if (name.length > maxClaudeNameCharacters) return undefined
  const lower = name.toLowerCase()
  const start = lower.lastIndexOf("claude-")
  if (start < 0 || (start > 0 && lower[start - 1] !== "/" && lower[start - 1] !== ".")) return undefined
  const words = lower.slice(start).replaceAll("@", "-").replaceAll(".", "-").split("-")
  while (words.length > 2 && isVersion(words.at(-1) ?? "")) words.pop()
  return words.join("-")
}
const maxClaudeNameCharacters = 128

/** A date, Bedrock's version, or the word for the newest one. */
const isVersion = (word: string): boolean => /^(?:\d{8}|v\d{1,2}:\d{1,2}|latest)$/.test(word)
