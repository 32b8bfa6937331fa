import { type Baseline, type CallRecord, type CallStatus, noCost, type RoutingReason } from "../domain/Call.ts"
import { type Candidate, withoutEffect } from "../domain/Candidate.ts"
import { conversationOf } from "../domain/Conversation.ts"
import { microUsd, zero } from "../domain/Money.ts"
import { costOf, snapshotOf } from "../domain/Prices.ts"
import type { Prediction, RouterMetadata, SkippedCandidate } from "../domain/RouterMetadata.ts"
import type { Settlement } from "../ledger/Ledger.ts"
import { likeliest } from "../routing/quality/Classify.ts"
import { recorded } from "../routing/RequestFeatures.ts"
import type { Ranked } from "../routing/Router.ts"
import {
  type CallState,
  cancelled,
  isCappedByFunds,
  type RunningAttempt,
  termsOf,
  toTenths,
  usageOf
} from "./CallState.ts"

/** The metadata of a response; `state` is the one in which its attempt is complete. */
export const metadataOf = (state: CallState, attempt: RunningAttempt, now: number): RouterMetadata => {
  const { candidate, tally } = attempt
  const { admitted, attempts } = state
  const { model } = candidate
  const skipped = skippedOf(state)
  const notes = isCappedByFunds(attempt) ? [...candidate.notes, "output_capped_by_funds" as const] : candidate.notes
  return {
    request_id: admitted.requestId,
    requested_model: admitted.request.model,
    provider: model.providerId,
    model: model.id,
    upstream_model: tally.servedModel ?? model.upstreamModel,
    reason: reasonOf(state),
    routing_config: admitted.configuration?.slug ?? null,
    alpha: admitted.ranked.pinned ? null : admitted.allowed.alpha,
    latency_ms: toTenths(now - admitted.startedAtMillis),
    first_content_ms: firstContentMillis(state),
    fallback: {
      enabled: admitted.ranked.fallbackEnabled,
      used: admitted.ranked.candidates.first.model.id !== model.id
    },
    attempts,
    cost: attempts.at(-1)?.cost ?? noCost,
    candidate_pool: { models: admitted.ranked.models },
    excluded: admitted.ranked.excluded,
    dropped_parameters: withoutEffect(candidate, admitted.request),
    policy_version: admitted.allowed.policyVersion,
    ...(skipped.length === 0 ? {} : { skipped }),
    ...(admitted.ranked.pinned ? {} : { prediction: predictionOf(admitted.ranked, candidate) }),
    ...(notes.length === 0 ? {} : { notes })
  }
}

/** Of the model that answered; the runner-up is the best of the others. */
const predictionOf = ({ candidates, features }: Ranked, candidate: Candidate): Prediction => {
  const runnerUp = candidates.first.model.id === candidate.model.id ? candidates.at(1) : candidates.first
  return {
    class: likeliest(features.classes),
    quality: candidate.quality,
    expected_cost_microusd: candidate.expectedCost,
    runner_up:
      runnerUp === undefined
        ? null
        : { model: runnerUp.model.id, quality: runnerUp.quality, expected_cost_microusd: runnerUp.expectedCost }
  }
}

/** What the ledger settles and the call log records; a call that has not ended was cancelled. */
export const settlementOf = (last: CallState, now: number): Settlement => {
  const state = cancelled(last, now)
  const { admitted, attempts, phase } = state
  const status = statusOf(state)
  const { actual, cost } =
    phase._tag === "Complete" || phase._tag === "Cancelled" ? phase.charge : { actual: zero, cost: noCost }
  const isUsed = phase._tag === "Complete" || (phase._tag === "Cancelled" && cost.amount_microusd > 0)
  const used = isUsed ? phase.attempt : undefined
  const record: CallRecord = {
    requestedModel: admitted.request.model,
    model: attempts.at(-1)?.model ?? null,
    provider: attempts.at(-1)?.provider ?? null,
    endpoint: admitted.endpoint,
    stream: admitted.request.stream,
    tokenDoctor: admitted.request.tokenDoctor,
    status,
    error: phase._tag === "Failed" || phase._tag === "Cancelled" ? phase.error : null,
    cost,
    usage: used === undefined ? null : usageOf(state, used),
    prices: used === undefined ? null : pricesOf(used),
    latencyMillis: toTenths(now - admitted.startedAtMillis),
    firstContentMillis: firstContentMillis(state),
    routingConfig: admitted.configuration?.slug ?? null,
    reason: reasonOf(state),
    policyVersion: admitted.allowed.policyVersion,
    pool: { models: admitted.ranked.models },
    attempts,
    failedUsage: state.failedUsage,
    attemptUses: state.attemptUses,
    conversation: conversationOf(admitted.caller.projectId, admitted.request),
    origin: admitted.origin,
    alpha: admitted.ranked.pinned ? null : admitted.allowed.alpha,
    excluded: admitted.ranked.excluded,
    baseline: used === undefined ? null : baselineOf(state, used),
    features: admitted.ranked.pinned ? null : recorded(admitted.ranked.features, admitted.ranked),
    clientRequestId: admitted.clientRequestId,
    startedAtMillis: admitted.startedAtMillis
  }
  const settled = phase._tag === "Complete" ? "settled" : phase._tag === "Failed" ? "void" : "cancelled"
  // the ledger charges up to what it holds, and the client was told of less
  return state.mayHoldMore && actual > cost.amount_microusd
    ? { state: "cancelled", actual: microUsd(cost.amount_microusd), record }
    : { state: settled, actual, record }
}

/** At what the best model of the pool would have taken for the same tokens; a call that names its model had no choice. */
const baselineOf = (state: CallState, used: RunningAttempt): Baseline | null => {
  const { candidates, highestQuality, pinned } = state.admitted.ranked
  if (pinned) return null
  const { model, terms } = candidates.at(highestQuality) ?? candidates.first
  return model.prices === null ? null : { model: model.id, cost: costOf(model.prices, usageOf(state, used), terms) }
}

const pricesOf = (attempt: RunningAttempt): string | null => {
  const { prices } = attempt.candidate.model
  return prices === null ? null : snapshotOf(prices, termsOf(attempt))
}

const statusOf = ({ phase }: CallState): CallStatus =>
  phase._tag === "Complete"
    ? "success"
    : phase._tag === "Failed" || phase._tag === "Cancelled"
      ? phase.status
      : "cancelled"

const firstContentMillis = ({ admitted, firstContentAtMillis }: CallState): number | null =>
  firstContentAtMillis === null ? null : toTenths(firstContentAtMillis - admitted.startedAtMillis)

const reasonOf = ({ admitted, attempts, unaffordable }: CallState): RoutingReason => {
  const last = attempts.at(-1)?.model
  // a retry of the same model is no fallback
  if (attempts.some(({ model }) => model !== last)) return "fallback_after_error"
  return unaffordable.length > 0 ? "first_affordable" : admitted.ranked.reason
}

/** What was passed over without an attempt. */
export const skippedOf = ({ admitted, attempts, unaffordable }: CallState): ReadonlyArray<SkippedCandidate> => {
  const { resting } = admitted.ranked
  if (resting.length + unaffordable.length === 0) return []
  const tried = new Set(attempts.map(({ model }) => model))
  const spared = resting.filter((model) => !tried.has(model) && !unaffordable.includes(model))
  const unpaid = unaffordable.filter((model) => !tried.has(model))
  return [
    ...spared.map((model) => ({ model, reason: "resting" as const })),
    ...unpaid.map((model) => ({ model, reason: "unaffordable" as const }))
  ]
}
