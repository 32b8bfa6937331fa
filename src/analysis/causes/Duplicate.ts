import { type Cause, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"
import type { WorkCall } from "../Workload.ts"

/** The same request again within a day, with the same answer or none that chance decides. */
export const duplicate: Cause = {
  id: "duplicate",
  number: 8,
  tier: "exact",
  owner: "client",
  title: "The same request is sent again",
  falsePositiveIf: "Several answers to one prompt are wanted.",
  advice: "Keep answers of repeated requests, or send an `Idempotency-Key`.",
  find: ({ workload }) => {
    const earlier = new Map<number, WorkCall>()
    const list = new EditList()
    workload.calls.forEach((call, index) => {
      if (call.status !== "success" || call.finish === "length") return
      const first = earlier.get(call.request)
      if (first === undefined || call.at - first.at > maxAgeMillis) {
        earlier.set(call.request, call)
        return
      }
      const sameAnswer = first.response !== null && first.response.text === call.response?.text
      if (call.temperature === 0 || sameAnswer) list.add(index, { drop: true })
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

const maxAgeMillis = 24 * 3_600_000
