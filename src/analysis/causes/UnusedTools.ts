import { type Cause, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"

/** Tools are offered in every call and never called. */
export const unusedTools: Cause = {
  id: "unused_tools",
  number: 16,
  tier: "rebilled",
  owner: "client",
  title: "Tools are offered and never called",
  falsePositiveIf: "The tool is for a case that is rare, or for safety.",
  advice: "Offer only the tools that a task needs, or let the model search for them.",
  find: ({ workload }) => {
    const called = new Set(workload.calls.flatMap(({ toolsCalled }) => toolsCalled))
    const offered = new Map<string, number>()
    for (const { toolsOffered } of workload.calls) {
      for (const tool of new Set(toolsOffered)) offered.set(tool, (offered.get(tool) ?? 0) + 1)
    }
    const unused = new Set(
      [...offered].filter(([tool, calls]) => calls >= minCalls && !called.has(tool)).map(([tool]) => tool)
    )
    const list = new EditList()
    workload.calls.forEach((call, index) => {
      const unoffered = call.blocks.flatMap(({ kind, tool }, position) =>
        kind === "tool" && tool !== null && unused.has(tool) ? [[position, out] as const] : []
      )
      if (unoffered.length > 0) list.add(index, { resize: new Map(unoffered) })
    })
    const calls = new Set(list.edits.keys())
    const least = Math.min(...[...unused].map((tool) => offered.get(tool) ?? minCalls))
    return found(
      list.edits,
      calls,
      // 95 % bound on how often a tool is called that never was in n calls
      1 - 3 / (unused.size === 0 ? minCalls : least),
      [...calls].map((call) => ({ call, block: list.edits.get(call)?.resize?.keys().next().value ?? null }))
    )
  }
}

const minCalls = 30
const out = { tokens: 0, form: "out" }
