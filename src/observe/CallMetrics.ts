import type { CallObserver } from "../domain/CallObserver.ts"
import * as Metrics from "./Metrics.ts"

/** Counts calls by status and attempts by result. */
export const observer: CallObserver = {
  attemptEnded: (_, { record }) => Metrics.attempts(record.provider, record.error?.code ?? record.status),
  settled: (_, record) => {
    Metrics.calls(record.endpoint, record.status)
    Metrics.callSeconds(record.latencyMillis / 1_000)
    if (record.firstContentMillis !== null) Metrics.firstContentSeconds(record.firstContentMillis / 1_000)
  }
}
