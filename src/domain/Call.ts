import * as Schema from "effect/Schema"
import type { MicroUsd } from "./Money.ts"
import type { Usage } from "./Usage.ts"

/** Status of the model call itself, not of the task that it served. */
export const CallStatus = Schema.Literal("success", "error", "timeout", "cancelled").annotations({
  description: "Status of the model call itself, not of the task it served."
})
export type CallStatus = typeof CallStatus.Type

/** Why an attempt or a call has failed, as clients read it. */
export const CallError = Schema.Struct({
  code: Schema.String.annotations({ description: "Stable, machine-readable error code." }),
  message: Schema.NullOr(Schema.String).annotations({
    description: "Human-readable error message, without provider secrets."
  })
}).annotations({ identifier: "CallError" })
export type CallError = typeof CallError.Type

/** What a cost is counted from. */
export const CostBasis = Schema.Literal("charged", "estimated").annotations({
  description:
    "charged: from the usage that the provider reported, at the prices at admission. estimated: counted by the gateway."
})
export type CostBasis = typeof CostBasis.Type

/** What an attempt has cost, recorded once. */
export const Cost = Schema.Struct({
  amount_microusd: Schema.Int.pipe(Schema.nonNegative()).annotations({ description: "Amount in micro-USD." }),
  currency: Schema.Literal("USD").annotations({ description: "Always USD.", default: "USD" }),
  basis: CostBasis
}).annotations({
  identifier: "Cost",
  description: "Cost of one attempt, recorded once and never recomputed from token counts."
})
export type Cost = typeof Cost.Type

export const cost = (amountMicroUsd: number, basis: CostBasis): Cost => ({
  amount_microusd: amountMicroUsd,
  currency: "USD",
  basis
})

/** Cost of a failed attempt to the customer. */
export const noCost: Cost = cost(0, "charged")

/** The models that the router chose from, in rank order. */
export const CandidatePool = Schema.Struct({
  models: Schema.NonEmptyArray(Schema.String).annotations({ description: "Ids of the models in rank order." })
}).annotations({ identifier: "CandidatePool", description: "The models that the router chose from." })
export type CandidatePool = typeof CandidatePool.Type

/** One call to one provider, as it is in `router_metadata` and in the call log. */
export const Attempt = Schema.Struct({
  provider: Schema.String.annotations({ description: "Provider id." }),
  model: Schema.String.annotations({ description: "Concrete model id." }),
  status: CallStatus,
  error: Schema.NullOr(CallError).annotations({ description: "Null for an attempt that succeeded." }),
  cost: Cost,
  latency_ms: Schema.Number.annotations({ description: "From the attempt's start to its end, in milliseconds." })
}).annotations({ identifier: "Attempt", description: "One call to one provider." })
export type Attempt = typeof Attempt.Type

/** Why the first candidate was chosen. */
export const routingReasons = [
  "pinned_model",
  "only_candidate",
  "cheapest_eligible",
  "highest_quality",
  "quality_cost_tradeoff",
  "sticky_session",
  "cache_affinity",
  "health_demotion",
  "exploration",
  "first_affordable",
  "fallback_after_error"
] as const
/** Why the first candidate was chosen. */
export type RoutingReason = (typeof routingReasons)[number]

/** What an attempt that has failed has used at its provider: no customer pays for it. */
export interface FailedUsage {
  /** As reported, else estimated. */
  readonly usage: Usage
  /** At the prices of admission; 0 where these are unknown. */
  readonly cost: MicroUsd
}

/** When an attempt began and what it has used, beside what clients see of it. */
export interface AttemptUse {
  /** In milliseconds since the epoch. */
  readonly startedAtMillis: number
  /** As reported, else estimated; `null` where nothing is known of it. */
  readonly usage: Usage | null
  /** The provider has reported usage, with what it had cached; output that came later is estimated. */
  readonly isReported: boolean
  /** Wire names of the request parameters that its route ignores. */
  readonly dropped: ReadonlyArray<string>
}

/**
 * Who has asked for a call: a client, a conversation of the dashboard, or an analysis of the gateway that tries a recorded
 * request again.
 */
const callOrigins = ["user", "conversation", "analysis"] as const
/** One of them. */
export type CallOrigin = (typeof callOrigins)[number]

/** The model of the highest quality among those that the router chose from, and what a call would have cost there. */
export interface Baseline {
  /** Its id. */
  readonly model: string
  /** For the same tokens, at the prices of admission. */
  readonly cost: MicroUsd
}

/** Where calls come from: the formats over HTTP, and programs that embed the gateway. */
export const endpoints = ["chat", "responses", "messages", "embedded"] as const
/** One of them. */
export type Endpoint = (typeof endpoints)[number]

/** The outcome of a call: written once by the call's finalizer; settlement, call log, health and metrics are derived from it. */
export interface CallRecord {
  /** The `model` of the request. */
  readonly requestedModel: string
  /** The concrete model of the last attempt; `null` when nothing was dispatched. */
  readonly model: string | null
  /** The provider of the last attempt; `null` when nothing was dispatched. */
  readonly provider: string | null
  /** Where the call came in. */
  readonly endpoint: Endpoint
  /** A streamed response was asked for. */
  readonly stream: boolean
  /** The client opted into data collection. */
  readonly tokenDoctor: boolean
  /** How the call ended. */
  readonly status: CallStatus
  /** Why it failed; `null` where it did not. */
  readonly error: CallError | null
  /** What the customer pays. */
  readonly cost: Cost
  /** What it is charged for; `null` where nothing is. */
  readonly usage: Usage | null
  /** The prices that `usage` is charged at, as JSON (see `snapshotOf`); `null` without usage or prices. */
  readonly prices: string | null
  /** From admission to the end. */
  readonly latencyMillis: number
  /** From admission to the first content; `null` where none came or the response was not streamed. */
  readonly firstContentMillis: number | null
  /** Slug of the routing configuration that was used. */
  readonly routingConfig: string | null
  /** Why the first candidate was chosen. */
  readonly reason: RoutingReason
  /** Version of the project's policy that was applied. */
  readonly policyVersion: number
  /** The models that the router chose from. */
  readonly pool: CandidatePool
  /** Every attempt, in order. */
  readonly attempts: ReadonlyArray<Attempt>
  /** By position of `attempts`; `null` for one that has not failed, or of which no usage is known. */
  readonly failedUsage: ReadonlyArray<FailedUsage | null>
  /** By position of `attempts`. */
  readonly attemptUses: ReadonlyArray<AttemptUse>
  /** The balance of quality and cost that was applied, 0 to 1; `null` where the request names its model. */
  readonly alpha: number | null
  /** How many models were not eligible, by reason. */
  readonly excluded: Readonly<Record<string, number>>
  /** What its tokens would have cost at the best model that it could have gone to; `null` where nothing was chosen or used. */
  readonly baseline: Baseline | null
  /** What the router saw of the request, as JSON without any text of it; `null` where the request names its model. */
  readonly features: string | null
  /** Hash of the conversation, as hex (see `conversationOf`). */
  readonly conversation: string
  /** Who asked for the call. */
  readonly origin: CallOrigin
  /** The client's own request id, only for the log. */
  readonly clientRequestId: string | null
  /** When it was admitted, in milliseconds since the epoch. */
  readonly startedAtMillis: number
}
