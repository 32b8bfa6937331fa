import { type Cause, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"
import { prefixVolatile } from "./PrefixVolatile.ts"
import { toolsShuffled } from "./ToolsShuffled.ts"

/** Prompts are written to the cache, at a higher rate than input has, and are read too seldom to earn it. */
export const writeNeverRead: Cause = {
  id: "write_never_read",
  number: 4,
  tier: "rebilled",
  owner: "client",
  title: "Prompts are written to the cache and never read",
  falsePositiveIf: "Another cause prevents the reads.",
  advice: "Leave out the marks for the provider's cache where prompts share no beginning.",
  find: (input) => {
    const routes = new Map<string, { writes: Array<number>; cost: number; earned: number }>()
    input.workload.calls.forEach((call, index) => {
      if (call.usage === null || call.prices?.cacheWrite === undefined) return
      const { cacheRead, cacheWrite, input } = call.prices
      // another route has failed: its prompts were not marked for this one
      if (cacheWrite <= input || call.failedAttempts > 0) return
      const sums = routes.get(call.route) ?? { writes: [], cost: 0, earned: 0 }
      if (call.usage.cacheWriteTokens > 0) sums.writes.push(index)
      sums.cost += call.usage.cacheWriteTokens * (cacheWrite - input)
      sums.earned += call.usage.cacheReadTokens * (input - (cacheRead ?? input))
      routes.set(call.route, sums)
    })
    const list = new EditList()
    for (const { cost, earned, writes } of routes.values()) {
      if (writes.length < minWrites || earned >= cost) continue
      for (const call of writes) list.add(call, { marks: "none" })
    }
    if (list.edits.size === 0 || prefixVolatile.find(input) !== undefined || toolsShuffled.find(input) !== undefined) {
      return undefined
    }
    const calls = new Set(list.edits.keys())
    return found(
      list.edits,
      calls,
      0.9,
      [...calls].map((call) => ({ call, block: null }))
    )
  }
}

const minWrites = 5
