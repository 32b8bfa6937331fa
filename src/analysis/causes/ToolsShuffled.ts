import { type Cause, found, groupPairsOf, positionsOf, withinTtl } from "../Cause.ts"
import { EditList } from "../Edits.ts"
import type { WorkCall } from "../Workload.ts"

/** The same tools come in another order, or with their keys in another order: the prompt begins differently each time. */
export const toolsShuffled: Cause = {
  id: "tools_shuffled",
  number: 2,
  tier: "rebilled",
  owner: "client",
  title: "The same tools are sent in another order",
  falsePositiveIf: "The tools differ in what they are, not only in their order.",
  advice: "Send tools sorted by name, with their keys in a fixed order.",
  find: (input) => {
    let pairs = 0
    const calls = new Set<number>()
    for (const pair of groupPairsOf(input, (call) => sortedOf(tools(call)))) {
      const [first, second] = [tools(pair.first), tools(pair.second)]
      if (!withinTtl(pair) || pair.first.route !== pair.second.route || first.length === 0) continue
      if (sortedOf(first) !== sortedOf(second)) continue
      pairs++
      if (first.some(({ key }, position) => key !== second[position]?.key)) calls.add(pair.after)
    }
    if (calls.size < minChanges || calls.size < minShare * pairs) return undefined
    const shuffled = new Set([...calls].map((call) => sortedOf(tools(input.workload.calls[call]))))
    const list = new EditList()
    input.workload.calls.forEach((call, index) => {
      if (!shuffled.has(sortedOf(tools(call)))) return
      list.add(index, { sortTools: true, canonical: new Set(positionsOf(call, toolKind)) })
    })
    return found(
      list.edits,
      calls,
      0.98,
      [...calls].map((call) => ({ call, block: 0 }))
    )
  }
}

const minChanges = 3
const minShare = 0.1
const toolKind: ReadonlySet<string> = new Set(["tool"])
const tools = (call: WorkCall | undefined) => call?.blocks.filter(({ kind }) => kind === "tool") ?? []
const sortedOf = (blocks: ReadonlyArray<{ readonly canonical: number }>): string =>
  blocks
    .map(({ canonical }) => canonical)
    .sort((a, b) => a - b)
    .join(" ")
