import { type Cause, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"

/** An unchanged prefix was not read, although the time that the provider keeps it for was not over. */
export const cacheLost: Cause = {
  id: "cache_lost",
  number: 6,
  tier: "rebilled",
  owner: "provider",
  title: "Unchanged prompts were not read from the cache",
  falsePositiveIf: "The provider has dropped prefixes earlier than it documents, which nobody can prevent.",
  advice: "Send a `prompt_cache_key` for each conversation, and stay on one route.",
  find: ({ rebill, workload }) => {
    const routes = new Map<string, { predicted: number; lost: Array<number> }>()
    workload.calls.forEach((call, index) => {
      if ((rebill.predicted.readTokens[index] ?? 0) <= 0) return
      const sums = routes.get(call.route) ?? { predicted: 0, lost: [] }
      sums.predicted++
      if (rebill.lost.has(index)) sums.lost.push(index)
      routes.set(call.route, sums)
    })
    const list = new EditList()
    for (const { lost, predicted } of routes.values()) {
      const isGuaranteed = lost.some((call) => workload.calls[call]?.cache?.guaranteed === true)
      const minShare = isGuaranteed ? minGuaranteedShare : minUnguaranteedShare
      if (lost.length < minLost || lost.length < minShare * predicted) continue
      for (const call of lost) list.add(call, { restore: isGuaranteed ? 1 : unguaranteed })
    }
    const calls = new Set(list.edits.keys())
    return found(
      list.edits,
      calls,
      0.8,
      [...calls].map((call) => ({ call, block: null }))
    )
  }
}

const minLost = 5
const minGuaranteedShare = 0.02
/** Where the provider promises nothing, losing some is how its cache works. */
const minUnguaranteedShare = 0.2
/** Where the provider promises nothing, half of what is lost. */
const unguaranteed = 0.5
