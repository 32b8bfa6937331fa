import * as Schema from "effect/Schema"
import type { MicroUsd } from "./Money.ts"
import type { Usage } from "./Usage.ts"

export const CallStatus = Schema.Literal("success", "error", "timeout", "cancelled").annotations({
  description: "Status of the model call itself, not of the task it served."
})
export type CallStatus = typeof CallStatus.Type

export const CallError = Schema.Struct({
  code: Schema.String.annotations({ description: "Stable, machine-readable error code." }),
  message: Schema.NullOr(Schema.String).annotations({
    description: "Human-readable error message, without provider secrets."
  })
}).annotations({ identifier: "CallError" })
export type CallError = typeof CallError.Type

export const CostBasis = Schema.Literal("charged", "estimated").annotations({
  description:
    "charged: from the usage that the provider reported, at the prices of admission. estimated: counted by the gateway."
})
export type CostBasis = typeof CostBasis.Type

export const Cost = Schema.Struct({
  amount_microusd: Schema.Int.pipe(Schema.nonNegative()).annotations({ description: "Amount in micro-USD." }),
  currency: Schema.Literal("USD").annotations({ description: "Always USD." }),
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

export const CandidatePool = Schema.Struct({
  models: Schema.NonEmptyArray(Schema.String).annotations({ description: "Ids of the models in rank order." })
}).annotations({ identifier: "CandidatePool", description: "The models from which the router chose." })
export type CandidatePool = typeof CandidatePool.Type

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
  "first_affordable",
  "fallback_after_error"
] as const
export type RoutingReason = (typeof routingReasons)[number]

/** What an attempt that has failed has used at its provider: no customer pays for it. */
export interface FailedUsage {
  /** As reported, else estimated. */
  readonly usage: Usage
  /** At the prices of admission; 0 where these are unknown. */
  readonly cost: MicroUsd
}

/** The outcome of a call: written once by the call's finalizer; settlement, call log, health and metrics are derived from it. */
export interface CallRecord {
  readonly requestedModel: string
  /** The concrete model of the last attempt; `null` when nothing was dispatched. */
  readonly model: string | null
  readonly provider: string | null
  readonly endpoint: "chat" | "responses" | "embedded"
  readonly stream: boolean
  readonly tokenDoctor: boolean
  readonly status: CallStatus
  readonly error: CallError | null
  readonly cost: Cost
  readonly usage: Usage | null
  /** The prices that `usage` is charged at, as JSON (see `snapshotOf`); `null` without usage or prices. */
  readonly prices: string | null
  readonly latencyMillis: number
  readonly firstContentMillis: number | null
  readonly routingConfig: string | null
  readonly reason: RoutingReason
  readonly policyVersion: number
  readonly pool: CandidatePool
  readonly attempts: ReadonlyArray<Attempt>
  /** By position of `attempts`; `null` for one that has not failed, or of which no usage is known. */
  readonly failedUsage: ReadonlyArray<FailedUsage | null>
  /** The client's own request id, only for the log. */
  readonly clientRequestId: string | null
  readonly startedAtMillis: number
}
