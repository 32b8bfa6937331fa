import { type Cause, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"

/** An answer ended at its output cap, and the same request was sent again until it did not. */
export const truncatedRetry: Cause = {
  id: "truncated_retry",
  number: 10,
  tier: "exact",
  owner: "client",
  title: "Answers are cut at their cap and asked for again",
  falsePositiveIf: "A cut answer was of use as it was.",
  advice: "Raise `max_tokens` above what nearly all answers of this kind need.",
  find: ({ workload }) => {
    const cut = new Map<number, Array<number>>()
    const list = new EditList()
    workload.calls.forEach((call, index) => {
      const waiting = cut.get(call.request) ?? []
      if (call.status === "success" && call.finish === "length") {
        cut.set(call.request, [...waiting, index])
        return
      }
      if (call.status !== "success") return
      for (const before of waiting) {
        if (call.at - (workload.calls[before]?.at ?? 0) <= maxAgeMillis) list.add(before, { drop: true })
      }
      cut.delete(call.request)
    })
    const calls = new Set(list.edits.keys())
    return found(
      list.edits,
      calls,
      0.96,
      [...calls].map((call) => ({ call, block: null }))
    )
  }
}

const maxAgeMillis = 600_000
