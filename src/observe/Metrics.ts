import * as MetricBoundaries from "effect/MetricBoundaries"
import type { CallStatus } from "../domain/Call.ts"
import { counter, gauge, histogram } from "./Family.ts"

/** The metrics of calls and of the process that serves them, without tenant labels. */

const seconds = MetricBoundaries.fromIterable([
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600
])

const callsCounted = counter("gateway_calls_total", "Calls that were admitted, by endpoint and status.", [
  "endpoint",
  "status"
])
const callLatency = histogram("gateway_call_seconds", "From admission to the end of a call.", [], seconds)
const contentLatency = histogram("gateway_first_content_seconds", "From admission to the first content.", [], seconds)
const inFlight = gauge("gateway_calls_in_flight", "Calls that are running now.", [], "sum")
const tokensCounted = counter(
  "gateway_tokens_total",
  "Tokens of answered calls, by provider, model and kind: input, cache_read, cache_write, output, reasoning.",
  ["provider", "model", "kind"]
)
const costCounted = counter(
  "gateway_cost_micro_usd_total",
  "What answered calls cost, in micro-USD, by provider, model and basis: charged or estimated.",
  ["provider", "model", "basis"]
)
const refusalsCounted = counter(
  "gateway_refusals_total",
  "Requests that were refused before they became calls, by status, error code, and for 402 the reason and the scope.",
  ["status", "code", "reason", "scope"]
)

export const calls = (endpoint: string, status: CallStatus): void => callsCounted([endpoint, status])
export const callSeconds = (value: number): void => callLatency([], value)
export const firstContentSeconds = (value: number): void => contentLatency([], value)
export const callsInFlight = (value: number): void => inFlight([], value)
export const tokens = (provider: string, model: string, kind: string, amount: number): void => {
  if (amount > 0) tokensCounted([provider, model, kind], amount)
}
export const cost = (provider: string, model: string, basis: string, amountMicroUsd: number): void =>
  costCounted([provider, model, basis], amountMicroUsd)
export const refusal = (status: number, code: string, reason: string, scope: string): void =>
  refusalsCounted([String(status), code, reason, scope])

const attemptsCounted = counter(
  "gateway_attempts_total",
  "Attempts at providers, by provider and result (success, cancelled or the error code).",
  ["provider", "result"]
)
const attemptLatency = histogram(
  "gateway_attempt_seconds",
  "From the start of an attempt to its end, by provider.",
  ["provider"],
  seconds
)
const attemptContentLatency = histogram(
  "gateway_attempt_first_content_seconds",
  "From the start of a streamed attempt to its first content, by provider.",
  ["provider"],
  seconds
)
const failuresCounted = counter(
  "gateway_attempt_failures_total",
  "Failed attempts, by provider, reason, and what was at fault: credential, quota, capacity, network, timeout, provider, answer, model, request or gateway.",
  ["provider", "reason", "fault"]
)
const fallbacksCounted = counter(
  "gateway_fallbacks_total",
  "Failed attempts after which another candidate was tried, by provider and reason of the failure.",
  ["provider", "reason"]
)
const retriesCounted = counter(
  "gateway_retries_total",
  "Failed attempts after which the same candidate was retried, by provider and reason of the failure.",
  ["provider", "reason"]
)
const absorbedCounted = counter(
  "gateway_absorbed_micro_usd_total",
  "What failed attempts cost at their providers and no customer pays, by provider, as reported or estimated.",
  ["provider"]
)

export const attempt = (provider: string, result: string, latencySeconds: number): void => {
  attemptsCounted([provider, result])
  attemptLatency([provider], latencySeconds)
}
export const attemptFirstContentSeconds = (provider: string, value: number): void =>
  attemptContentLatency([provider], value)
export const attemptFailure = (
  provider: string,
  reason: string,
  fault: string,
  next: "Retry" | "FallBack" | "GiveUp"
): void => {
  failuresCounted([provider, reason, fault])
  if (next === "FallBack") fallbacksCounted([provider, reason])
  if (next === "Retry") retriesCounted([provider, reason])
}
export const absorbed = (provider: string, amountMicroUsd: number): void => absorbedCounted([provider], amountMicroUsd)

const circuitOpen = gauge(
  "gateway_circuit_open",
  "1 while calls are kept away from a route, else 0, by what is kept away: route, origin, credential or model.",
  ["provider", "model", "scope"],
  "worker"
)
const openingsCounted = counter(
  "gateway_circuit_openings_total",
  "Times that a circuit has opened, by provider, scope and reason of the last failure.",
  ["provider", "scope", "reason"]
)
const credentialStatus = gauge(
  "gateway_provider_credential_status",
  "1 for what the provider last said to the service's credential, else 0: accepted, refused, quota_exhausted, unreachable or unknown.",
  ["provider", "status"],
  "max"
)

export const circuit = (provider: string, model: string, scope: string, isOpen: boolean): void =>
  circuitOpen([provider, model, scope], isOpen ? 1 : 0)
export const circuitOpening = (provider: string, scope: string, reason: string): void =>
  openingsCounted([provider, scope, reason])
/** `null`: the provider has no credential any more. */
export const credential = (provider: string, status: string | null, statuses: ReadonlyArray<string>): void => {
  for (const one of statuses) credentialStatus([provider, one], one === status ? 1 : 0)
}

const answersCounted = counter(
  "gateway_http_responses_total",
  "HTTP responses, by declared path (:id for an id, unknown for all that are not declared) and status code.",
  ["path", "status"]
)
const admissionQueued = gauge(
  "gateway_admission_queued",
  "Calls that wait for a preparation slot; refreshed while calls wait.",
  [],
  "sum"
)
const admissionSlots = gauge(
  "gateway_admission_slots",
  "Preparation slots; adapted to the latency of that stage.",
  [],
  "sum"
)
const admissionWait = histogram(
  "gateway_admission_wait_seconds",
  "Wait for a preparation slot, of calls that had to wait.",
  [],
  seconds
)
const rejectionsCounted = counter(
  "gateway_overload_refusals_total",
  "Calls rejected because they would have waited too long.",
  []
)
const refusalsLost = counter(
  "gateway_refusals_lost_total",
  "Refused requests that are not in the list of refusals: too many at once, or the database was away.",
  []
)
const defectsCounted = counter(
  "gateway_defects_total",
  "Unexpected failures of the gateway itself; expected to stay 0.",
  []
)

export const httpAnswer = (path: string, status: number): void => answersCounted([path, String(status)])
export const admission = (queued: number, slots: number): void => {
  admissionQueued([], queued)
  admissionSlots([], slots)
}
export const admissionWaitSeconds = (value: number): void => admissionWait([], value)
export const overloadRejection = (): void => rejectionsCounted([])
export const refusalsNotListed = (amount: number): void => refusalsLost([], amount)
export const defect = (): void => defectsCounted([])

const stallsCounted = counter(
  "gateway_loop_stalls_total",
  "Times that the event loop was blocked for more than 0.1 s, by the step that blocked it.",
  ["step"]
)
const stallLength = histogram(
  "gateway_loop_stall_seconds",
  "How long the event loop was blocked, each time for more than 0.1 s.",
  [],
  MetricBoundaries.fromIterable([0.1, 0.2, 0.5, 1, 2, 5, 10, 30])
)
const buildInfo = gauge(
  "gateway_build_info",
  "Always 1; the labels say which version runs on which Node.js and database.",
  ["version", "node", "database"],
  "max"
)

export const loopStall = (step: string, seconds: number): void => {
  stallsCounted([step])
  stallLength([], seconds)
}
export const build = (version: string, node: string, database: string): void => buildInfo([version, node, database], 1)

/** An alert on a counter that has not been counted yet would see no increase at its first one. */
export const start = (): void => {
  for (const countedFromStart of [defectsCounted, rejectionsCounted, refusalsLost]) countedFromStart([], 0)
}
