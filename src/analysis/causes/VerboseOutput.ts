import { type Cause, found } from "../Cause.ts"
import { noEdits } from "../Rebill.ts"
import type { Workload } from "../Workload.ts"

/** Answers that are more than twice as long as the median of their class. */
export const verboseOutput: Cause = {
  id: "verbose_output",
  number: 20,
  tier: "hypothesis",
  owner: "client",
  title: "Some answers are far longer than others of their kind",
  falsePositiveIf: "A long answer was asked for.",
  advice: "Ask for short answers, or for changes instead of whole texts, and compare the answers.",
  find: ({ workload }) => {
    const medians = mediansOf(workload)
    const calls = new Set<number>()
    let upTo = 0
    workload.calls.forEach((call, index) => {
      const { isInRange, prices, usage } = call
      const median = call.class === null ? undefined : medians.get(call.class)
      if (!isInRange || usage === null || prices === null || median === undefined || usage.outputTokens <= 2 * median)
        return
      calls.add(index)
      upTo += ((usage.outputTokens - 2 * median) * prices.output) / 1_000_000
    })
    return found(
      noEdits,
      calls,
      0.3,
      [...calls].map((call) => ({ call, block: null })),
      { up_to_microusd: Math.floor(upTo) }
    )
  }
}

const minCalls = 30

const mediansOf = ({ calls }: Workload): ReadonlyMap<string, number> => {
  const classes = new Map<string, Array<number>>()
  for (const { class: name, usage } of calls) {
    if (name === null || usage === null || usage.outputTokens === 0) continue
    classes.set(name, [...(classes.get(name) ?? []), usage.outputTokens])
  }
  return new Map(
    [...classes].flatMap(([name, lengths]) =>
      lengths.length < minCalls ? [] : [[name, lengths.sort((a, b) => a - b)[lengths.length >> 1] ?? 0] as const]
    )
  )
}
