import { type Cause, found } from "../Cause.ts"
import { noEdits } from "../Rebill.ts"

/** Attempts that failed before the one that answered: they cost the customer time, never money. */
export const failedAttempts: Cause = {
  id: "failed_attempts",
  number: 25,
  tier: "info",
  owner: "gateway",
  title: "Attempts fail before the one that answers",
  falsePositiveIf: "A provider had an outage.",
  advice: "Put routes that fail often behind others in the routing configuration.",
  find: ({ workload }) => {
    const calls = new Set<number>()
    let millis = 0
    workload.calls.forEach((call, index) => {
      if (!call.isInRange || call.failedAttempts === 0) return
      calls.add(index)
      millis += call.failedMillis
    })
    return found(
      noEdits,
      calls,
      1,
      [...calls].map((call) => ({ call, block: null })),
      { attempts_wasted_ms: Math.round(millis) }
    )
  }
}
