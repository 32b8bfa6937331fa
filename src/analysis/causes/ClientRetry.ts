import { type Cause, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"

/** A client gave a call up and sent the same request again: the first one was paid for nothing. */
export const clientRetry: Cause = {
  id: "client_retry",
  number: 9,
  tier: "exact",
  owner: "client",
  title: "Calls are given up and sent again",
  falsePositiveIf: "A user stopped the answer and asked again on purpose.",
  advice: "Let the client wait longer than the slowest first content.",
  find: ({ workload }) => {
    const cancelled = new Map<number, number>()
    const list = new EditList()
    workload.calls.forEach((call, index) => {
      const before = cancelled.get(call.request)
      const first = before === undefined ? undefined : workload.calls[before]
      if (before !== undefined && first !== undefined) {
        if (call.at - (first.at + first.latencyMillis) <= maxPauseMillis) list.add(before, { drop: true })
      }
      if (call.status === "cancelled" && call.chargedMicroUsd > 0) cancelled.set(call.request, index)
      else cancelled.delete(call.request)
    })
    const calls = new Set(list.edits.keys())
    return found(
      list.edits,
      calls,
      0.97,
      [...calls].map((call) => ({ call, block: null }))
    )
  }
}

const maxPauseMillis = 120_000
