import { type Cause, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"
import { prefixVolatile } from "./PrefixVolatile.ts"
import { toolsShuffled } from "./ToolsShuffled.ts"

/** Prompts are written to the cache, at a higher rate than input has, and nothing reads them. */
export const writeNeverRead: Cause = {
  id: "write_never_read",
  number: 4,
  tier: "rebilled",
  owner: "client",
  title: "Prompts are written to the cache and never read",
  falsePositiveIf: "Another cause prevents the reads.",
  advice: "Leave out the marks for the provider's cache where prompts share no beginning.",
  find: (input) => {
    const routes = new Map<string, { writes: Array<number>; written: number; read: number }>()
    input.workload.calls.forEach((call, index) => {
      if (call.usage === null || call.prices?.cacheWrite === undefined) return
      if (call.prices.cacheWrite <= call.prices.input) return
      const sums = routes.get(call.route) ?? { writes: [], written: 0, read: 0 }
      if (call.usage.cacheWriteTokens > 0) sums.writes.push(index)
      sums.written += call.usage.cacheWriteTokens
      sums.read += call.usage.cacheReadTokens
      routes.set(call.route, sums)
    })
    const list = new EditList()
    for (const { read, writes, written } of routes.values()) {
      if (writes.length < minWrites || read >= maxReadShare * written) continue
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
const maxReadShare = 0.1
