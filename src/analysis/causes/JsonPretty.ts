import { type Cause, found } from "../Cause.ts"
import { EditList, type Resized } from "../Edits.ts"
import type { Workload } from "../Workload.ts"

/** A tool returns JSON with white space that nobody reads. */
export const jsonPretty: Cause = {
  id: "json_pretty",
  number: 14,
  tier: "rebilled",
  owner: "client",
  title: "A tool returns indented JSON",
  falsePositiveIf: "The tool reads files, which an edit needs to the letter.",
  advice: "Let the tool return JSON without white space.",
  find: ({ workload }) => {
    const tools = prettyTools(workload)
    const list = new EditList()
    workload.calls.forEach((call, index) => {
      const smaller = new Map<number, Resized>()
      call.blocks.forEach(({ facts, kind, tokens, tool }, position) => {
        if (kind !== "tool_result" || tool === null || !tools.has(tool)) return
        const minified = facts?.minifiedTokens ?? null
        if (minified !== null && minified < tokens) smaller.set(position, { tokens: minified, form: "minified" })
      })
      if (smaller.size > 0) list.add(index, { resize: smaller })
    })
    const calls = new Set(list.edits.keys())
    return found(
      list.edits,
      calls,
      0.95,
      [...calls].map((call) => ({ call, block: list.edits.get(call)?.resize?.keys().next().value ?? null }))
    )
  }
}

const prettyTools = ({ calls }: Workload): ReadonlySet<string> => {
  const tools = new Map<string, { seen: Set<number>; json: number; tokens: number; minified: number }>()
  for (const call of calls) {
    for (const { facts, kind, text, tokens, tool } of call.blocks) {
      if (kind !== "tool_result" || tool === null || facts === null) continue
      const sums = tools.get(tool) ?? { seen: new Set<number>(), json: 0, tokens: 0, minified: 0 }
      tools.set(tool, sums)
      if (sums.seen.has(text)) continue
      sums.seen.add(text)
      if (!facts.json) continue
      sums.json++
      sums.tokens += tokens
      sums.minified += facts.minifiedTokens ?? tokens
    }
  }
  const pretty = [...tools].filter(
    ([, { json, minified, seen, tokens }]) =>
      seen.size >= minResults && json >= minJsonShare * seen.size && minified <= (1 - minSaving) * tokens
  )
  return new Set(pretty.map(([tool]) => tool))
}

const minResults = 3
const minJsonShare = 0.8
const minSaving = 0.15
