import { type Cause, found, groupPairsOf, positionsOf, withinTtl } from "../Cause.ts"
import { EditList } from "../Edits.ts"
import type { WorkCall } from "../Workload.ts"

/** A time or an id in the instructions changes from call to call, so that nothing after it is read from the cache. */
export const prefixVolatile: Cause = {
  id: "prefix_volatile",
  number: 1,
  tier: "rebilled",
  owner: "client",
  title: "The instructions change from call to call",
  falsePositiveIf:
    "The text changes once for each conversation of several calls, or with a new version of the application.",
  advice: "Leave the time or id out of the instructions, give the date only, or put it into the last message.",
  find: (input) => {
    const groups = new Map<string, { pairs: number; changed: Array<number> }>()
    for (const pair of groupPairsOf(input, groupOf)) {
      const { after, first, second } = pair
      if (!withinTtl(pair) || first.route !== second.route) continue
      const group = groupOf(second)
      if (group !== groupOf(first)) continue
      const sums = groups.get(group) ?? { pairs: 0, changed: [] }
      sums.pairs++
      if (system(first).some(({ key }, position) => key !== system(second)[position]?.key)) sums.changed.push(after)
      groups.set(group, sums)
    }
    const volatile = new Set([...groups].filter(([, sums]) => isVolatile(sums)).map(([group]) => group))
    const list = new EditList()
    input.workload.calls.forEach((call, index) => {
      if (volatile.has(groupOf(call))) list.add(index, { canonical: new Set(positionsOf(call, systemKind)) })
    })
    const calls = [...groups].flatMap(([group, { changed }]) => (volatile.has(group) ? changed : []))
    const evidence = calls.map((call) => ({ call, block: firstChanged(input.workload.calls[call]) }))
    return found(list.edits, new Set(calls), 0.97, evidence)
  }
}

const minChanges = 3
const minShare = 0.3
const isVolatile = ({ changed, pairs }: { pairs: number; changed: ReadonlyArray<number> }): boolean =>
  changed.length >= minChanges && changed.length > minShare * pairs

const systemKind: ReadonlySet<string> = new Set(["system"])
const system = (call: WorkCall) => call.blocks.filter(({ kind }) => kind === "system")
/** Calls of one application have the same instructions but for what changes. */
const groupOf = (call: WorkCall): string =>
  system(call)
    .map(({ canonical }) => canonical)
    .join(" ")
const firstChanged = (call: WorkCall | undefined): number | null => {
  const position = call?.blocks.findIndex(({ kind }) => kind === "system") ?? -1
  return position < 0 ? null : position
}
