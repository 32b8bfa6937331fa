import { completionTokens } from "../../domain/Usage.ts"
import { type Cause, found } from "../Cause.ts"
import { noEdits } from "../Rebill.ts"

/** Output caps far above what answers need: money is held meanwhile, and other calls may be refused for it. */
export const holds: Cause = {
  id: "holds",
  number: 24,
  tier: "info",
  owner: "client",
  title: "Output caps hold far more money than answers need",
  falsePositiveIf: "Long answers are rare but needed.",
  advice: "Set `max_tokens` to what nearly all answers of this kind need.",
  find: ({ workload }) => {
    const completions = workload.calls
      .flatMap(({ usage }) => (usage === null ? [] : [completionTokens(usage)]))
      .sort((a, b) => a - b)
    const longest = completions[Math.ceil(0.999 * completions.length) - 1] ?? 0
    const calls = new Set<number>()
    let idle = 0
    workload.calls.forEach((call, index) => {
      const { isInRange, maxOutputTokens: max, prices } = call
      if (!isInRange || max === null || prices === null || completions.length < minCalls || max < farAbove * longest)
        return
      calls.add(index)
      idle += ((max - longest) * prices.output * call.latencyMillis) / 1_000_000 / 3_600_000
    })
    return found(
      noEdits,
      calls,
      1,
      [...calls].map((call) => ({ call, block: null })),
      { held_idle_microusd_hours: Math.round(idle) }
    )
  }
}

const minCalls = 30
const farAbove = 4
