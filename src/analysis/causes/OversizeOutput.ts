import { type Cause, found } from "../Cause.ts"
import { EditList, type Resized } from "../Edits.ts"

/** Results of tools carry encoded bytes, markup or lines that repeat, of which nothing is used. */
export const oversizeOutput: Cause = {
  id: "oversize_output",
  number: 13,
  tier: "rebilled",
  owner: "client",
  title: "Results of tools are mostly bytes, markup or repeated lines",
  falsePositiveIf: "The raw text was asked for, or an edit needs it to the letter.",
  advice: "Let the tool cut encoded bytes, markup and repeated lines from its result.",
  find: ({ workload }) => {
    const list = new EditList()
    workload.calls.forEach((call, index) => {
      const washed = new Map<number, Resized>()
      call.blocks.forEach(({ facts, kind }, position) => {
        if (kind === "tool_result" && facts !== null && facts.washedTokens !== null)
          washed.set(position, { tokens: facts.washedTokens, form: "washed" })
      })
      if (washed.size > 0) list.add(index, { resize: washed })
    })
    const calls = new Set(list.edits.keys())
    return found(
      list.edits,
      calls,
      0.92,
      [...calls].map((call) => ({ call, block: list.edits.get(call)?.resize?.keys().next().value ?? null }))
    )
  }
}
