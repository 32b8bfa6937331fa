import type { CallRecord } from "../domain/Call.ts"
import * as Metrics from "../observe/Metrics.ts"

/** Counts an ended call: by status, and each failed attempt by its fault. */
export const record = (call: CallRecord): void => {
  Metrics.calls(call.endpoint, call.status)
  Metrics.callSeconds(call.latencyMillis / 1_000)
  if (call.firstContentMillis !== null) Metrics.firstContentSeconds(call.firstContentMillis / 1_000)
  for (const attempt of call.attempts) Metrics.attempts(attempt.provider, attempt.error?.code ?? attempt.status)
}
