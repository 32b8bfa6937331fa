import { type Cause, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"

/** The provider caches only what a request marks, and the requests mark nothing. */
export const cacheUnmarked: Cause = {
  id: "cache_unmarked",
  number: 3,
  tier: "rebilled",
  owner: "gateway",
  title: "The provider's cache is not used: nothing is marked",
  falsePositiveIf: "Prompts share no beginning, so that writes would cost more than reads save.",
  advice: "Mark the end of the instructions and the end of the prompt for the provider's cache.",
  find: ({ workload }) => {
    const routes = new Map<string, { calls: Array<number>; marked: number }>()
    workload.calls.forEach((call, index) => {
      if (call.cache?.mode !== "explicit" || call.usage === null) return
      const sums = routes.get(call.route) ?? { calls: [], marked: 0 }
      if (call.blocks.some(({ mark }) => mark !== null)) sums.marked++
      else sums.calls.push(index)
      routes.set(call.route, sums)
    })
    const list = new EditList()
    for (const { calls, marked } of routes.values()) {
      if (calls.length < minCalls || marked > maxMarkedShare * (calls.length + marked)) continue
      for (const call of calls) list.add(call, { marks: "auto" })
    }
    const calls = new Set(list.edits.keys())
    return found(
      list.edits,
      calls,
      0.95,
      [...calls].map((call) => ({ call, block: null }))
    )
  }
}

const minCalls = 5
const maxMarkedShare = 0.1
