import type { CallObserver } from "../domain/CallObserver.ts"
import * as Metrics from "./Metrics.ts"

/** Counts calls by status, attempts by result, and what failed attempts cost. */
export const observer: CallObserver = {
  attemptEnded: (_, { record }) => Metrics.attempts(record.provider, record.error?.code ?? record.status),
  settled: ({ caller }, record) => {
    Metrics.calls(record.endpoint, record.status)
    Metrics.callSeconds(record.latencyMillis / 1_000)
    if (record.firstContentMillis !== null) Metrics.firstContentSeconds(record.firstContentMillis / 1_000)
    if (caller.billingMode === "byok") return
    for (const [position, { provider }] of record.attempts.entries()) {
      const failed = record.failedUsage[position]
      if (failed !== null && failed !== undefined && failed.cost > 0) Metrics.absorbed(provider, failed.cost)
    }
  }
}
