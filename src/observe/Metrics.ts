import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import * as MetricKey from "effect/MetricKey"
import * as MetricLabel from "effect/MetricLabel"
import type { CallStatus } from "../domain/Call.ts"

/**
 * The gateway's own metrics, without tenant labels. They are updated synchronously: a labelled metric is built once, with
 * its labels in its key, so that an update on the hot path is one map lookup. (`Metric.tagged` would build the key, and
 * hash it, at every update.)
 */
const labelled = <Labels extends ReadonlyArray<string>>(
  name: string,
  description: string,
  labels: Labels
): ((values: { readonly [Index in keyof Labels]: string }, amount?: number) => void) => {
  const family = MetricKey.counter(name, { description, incremental: true })
  const known = new Map<string, Metric.Metric.Counter<number>>()
  return (values, amount = 1) => {
    const key = values.join("\u0000")
    let metric = known.get(key)
    if (metric === undefined) {
      const tags = labels.map((label, index) => MetricLabel.make(label, values[index] ?? ""))
      metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(family, tags))
      known.set(key, metric)
    }
    metric.unsafeUpdate(amount, [])
  }
}

const seconds = MetricBoundaries.fromIterable([
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600
])

const callsCounted = labelled("gateway_calls_total", "Calls that were admitted, by endpoint and status.", [
  "endpoint",
  "status"
])
const attemptsCounted = labelled(
  "gateway_attempts_total",
  "Attempts at providers, by provider and result (success or the error code).",
  ["provider", "result"]
)
const absorbedCounted = labelled(
  "gateway_absorbed_micro_usd_total",
  "What failed attempts cost at their providers and no customer pays, by provider, as reported or estimated.",
  ["provider"]
)
const answersCounted = labelled("gateway_http_responses_total", "HTTP responses, by path and status code.", [
  "path",
  "status"
])
const callLatency = Metric.histogram("gateway_call_seconds", seconds, "From admission to the end of a call.")
const contentLatency = Metric.histogram(
  "gateway_first_content_seconds",
  seconds,
  "From admission to the first content."
)
const inFlight = Metric.gauge("gateway_calls_in_flight", { description: "Calls that are running now." })
const stallsCounted = labelled(
  "gateway_loop_stalls_total",
  "Times that the event loop was blocked for more than 0.1 s, by the step that blocked it.",
  ["step"]
)
const stallLength = Metric.histogram(
  "gateway_loop_stall_seconds",
  MetricBoundaries.fromIterable([0.1, 0.2, 0.5, 1, 2, 5, 10, 30]),
  "How long the event loop was blocked, each time for more than 0.1 s."
)
const defectsCounted = Metric.counter("gateway_defects_total", {
  description: "Unexpected failures of the gateway itself; expected to stay 0.",
  incremental: true
})

const admissionQueued = Metric.gauge("gateway_admission_queued", {
  description: "Calls that wait for a preparation slot; refreshed while calls wait."
})
const admissionSlots = Metric.gauge("gateway_admission_slots", {
  description: "Preparation slots; adapted to the latency of that stage."
})
const admissionWait = Metric.histogram(
  "gateway_admission_wait_seconds",
  seconds,
  "Wait for a preparation slot, of calls that had to wait."
)
const rejectionsCounted = Metric.counter("gateway_overload_refusals_total", {
  description: "Calls rejected because they would have waited too long.",
  incremental: true
})

export const calls = (endpoint: string, status: CallStatus): void => callsCounted([endpoint, status])
export const attempts = (provider: string, result: string): void => attemptsCounted([provider, result])
export const absorbed = (provider: string, amountMicroUsd: number): void => absorbedCounted([provider], amountMicroUsd)
export const httpAnswer = (path: string, status: number): void => answersCounted([path, String(status)])
export const callSeconds = (value: number): void => callLatency.unsafeUpdate(value, [])
export const firstContentSeconds = (value: number): void => contentLatency.unsafeUpdate(value, [])
export const callsInFlight = (value: number): void => inFlight.unsafeUpdate(value, [])
export const admission = (queued: number, slots: number): void => {
  admissionQueued.unsafeUpdate(queued, [])
  admissionSlots.unsafeUpdate(slots, [])
}
export const admissionWaitSeconds = (value: number): void => admissionWait.unsafeUpdate(value, [])
export const overloadRejection = (): void => rejectionsCounted.unsafeUpdate(1, [])
export const defect = (): void => defectsCounted.unsafeUpdate(1, [])
export const loopStall = (step: string, seconds: number): void => {
  stallsCounted([step])
  stallLength.unsafeUpdate(seconds, [])
}
