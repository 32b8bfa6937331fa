import { type CallPair, type Cause, type CauseInput, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"
import type { WorkCall } from "../Workload.ts"

/** Conversations go on after the cache has forgotten them, but within the longer time that the provider offers. */
export const ttlGap: Cause = {
  id: "ttl_gap",
  number: 5,
  tier: "rebilled",
  owner: "gateway",
  title: "Conversations go on just after the cache has expired",
  falsePositiveIf: "The pauses are those of a batch that repeats itself.",
  advice: "Ask for the longer time to live of the provider's cache.",
  find: (input) => {
    const routes = new Map<string, Array<number>>()
    for (const { after, first, second } of pairsOfRoutes(input)) {
      const { cache, route } = second
      if (cache === null || cache.longTtl === null || first.request === second.request) continue
      const gap = (second.at - first.at) / 1000
      if (gap <= cache.ttlSeconds || gap > cache.longTtl.seconds) continue
      if (first.blocks.every(({ mark }) => mark !== "5m")) continue
      routes.set(route, [...(routes.get(route) ?? []), after])
    }
    const list = new EditList()
    const calls = new Set<number>()
    for (const [route, gaps] of routes) {
      if (gaps.length < minGaps) continue
      for (const gap of gaps) calls.add(gap)
      input.workload.calls.forEach((call, index) => {
        if (call.route === route) list.add(index, { longTtl: true })
      })
    }
    return found(
      list.edits,
      calls,
      0.85,
      [...calls].map((call) => ({ call, block: null }))
    )
  }
}

/** Each call with the one before it in its conversation at the same route, whose cache it could have read. */
const pairsOfRoutes = function* ({
  turns,
  workload
}: CauseInput): Generator<Pick<CallPair, "after" | "first" | "second">> {
  for (const conversation of turns) {
    const last = new Map<string, WorkCall>()
    for (const after of conversation) {
      const second = workload.calls[after]
      if (second === undefined) continue
      const first = last.get(second.route)
      if (first !== undefined) yield { after, first, second }
      last.set(second.route, second)
    }
  }
}

/** Of fewer pauses nothing can be said of the next ones: a longer time costs more for every write. */
const minGaps = 30
