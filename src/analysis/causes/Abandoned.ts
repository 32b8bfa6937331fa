import { type Cause, found } from "../Cause.ts"
import { noEdits } from "../Rebill.ts"
import { clientRetry } from "./ClientRetry.ts"

/** Answers that were paid for and given up, and not asked for again. */
export const abandoned: Cause = {
  id: "abandoned",
  number: 21,
  tier: "info",
  owner: "client",
  title: "Answers are given up",
  falsePositiveIf: "The reader had read enough.",
  advice: "Ask for shorter answers where readers stop them.",
  find: (input) => {
    const repeated = clientRetry.find(input)?.calls
    const calls = new Set<number>()
    let spent = 0
    input.workload.calls.forEach((call, index) => {
      if (!call.isInRange || call.status !== "cancelled" || call.chargedMicroUsd === 0 || repeated?.has(index) === true)
        return
      calls.add(index)
      spent += call.chargedMicroUsd
    })
    return found(
      noEdits,
      calls,
      1,
      [...calls].map((call) => ({ call, block: null })),
      { cancelled_microusd: spent }
    )
  }
}
