import type { Effort } from "./Chat.ts"
import type { Prices } from "./Money.ts"
import type { ProtocolId, SupportTable } from "./Support.ts"

/** One route to one model: a model as one provider offers it. The unit of the catalog, of policy and of routing. */
export interface Model {
  /** `<provider>/<model>`: what clients name and what answers carry. */
  readonly id: string
  readonly providerId: string
  /** The name that the provider knows it by. */
  readonly upstreamModel: string
  /** The bare name under which several providers may offer the same model. */
  readonly alias: string
  readonly displayName: string
  /** Release, in seconds since the epoch; 0 when unknown. */
  readonly createdSeconds: number
  readonly protocol: ProtocolId
  /** `null`: not priced, hence not routable where the customer is charged. */
  readonly prices: Prices | null
  /** Prompt and completion together. `null`: not documented. */
  readonly contextTokens: number | null
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  /** What one image or file counts in a hold. */
  readonly imageTokens: number
  /** Prior estimate of answer quality, 0 to 1. */
  readonly quality: number
  /** `null`: the source does not say. */
  readonly capabilities: Readonly<Record<Capability, boolean | null>>
  /** `null`: the model does not reason, or gives no choice about it. */
  readonly reasoning: Reasoning | null
  /** Reasons whether asked to or not; deadlines allow for it. */
  readonly reasonsByDefault: boolean
  readonly toolsForbidEffort: boolean
  readonly profile: Profile
  /** The provider charges for the prompt of a call that was aborted before it answered. */
  readonly billsAbortedCalls: boolean
  /** Per request parameter: what this route does with it. */
  readonly support: SupportTable
  /** Shown by `GET /v1/models` and eligible for `auto`; a route that is not can still be called by its id. */
  readonly listed: boolean
  readonly knowledgeCutoff: string | null
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
export type Capability = (typeof capabilities)[number]

export interface Reasoning {
  /** What a client may ask for, lowest first; empty when the model reasons without a choice. */
  readonly efforts: ReadonlyArray<Effort>
  /** How the provider takes it: a name, a budget in tokens, on or off, or not at all. */
  readonly style: "effort" | "budget" | "toggle" | "fixed"
  readonly budget: { readonly min: number | null; readonly max: number | null } | null
  readonly defaultEffort: Effort | null
  /** Cannot be switched off. */
  readonly mandatory: boolean
  /** Takes an integer depth in this range. */
  readonly depth: { readonly min: number; readonly max: number } | null
}

/** How the service itself runs a model when the client leaves the choice open. */
export interface Profile {
  readonly effort: Effort | null
  readonly maxOutputTokens: number | null
  readonly apiVersion: string | null
}

export const providerOf = (modelId: string): string => modelId.slice(0, Math.max(0, modelId.indexOf("/")))
