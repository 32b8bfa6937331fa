import { type Cause, found } from "../Cause.ts"
import { EditList } from "../Edits.ts"
import type { WorkBlock, WorkCall } from "../Workload.ts"

/** A prompt has the same long result of a tool more than once. */
export const repeatRead: Cause = {
  id: "repeat_read",
  number: 12,
  tier: "rebilled",
  owner: "client",
  title: "The same result of a tool is in a prompt more than once",
  falsePositiveIf: "That nothing has changed is what the tool was asked for, as in polling.",
  advice: "Let the harness answer a repeated read with a reference to the first one.",
  find: ({ workload }) => {
    const list = new EditList()
    workload.calls.forEach((call, index) => {
      const copies = copiesOf(call)
      if (copies.length > 0) list.add(index, { resize: new Map(copies.map((copy) => [copy, reference])) })
    })
    const calls = new Set(list.edits.keys())
    return found(
      list.edits,
      calls,
      0.93,
      [...calls].map((call) => ({ call, block: list.edits.get(call)?.resize?.keys().next().value ?? null }))
    )
  }
}

const copiesOf = (call: WorkCall): ReadonlyArray<number> => {
  const results = call.blocks.flatMap((block, position) => (block.kind === "tool_result" ? [{ block, position }] : []))
  const seen = new Set<number>()
  const copies: Array<number> = []
  results.forEach(({ block, position }, index) => {
    const isCopy = block.tokens > minTokens && seen.has(block.text)
    if (isCopy && !isPolled(results, index)) copies.push(position)
    seen.add(block.text)
  })
  return copies
}

/** One of several equal results of a tool in a row, which was called to learn whether anything has changed. */
const isPolled = (results: ReadonlyArray<{ readonly block: WorkBlock }>, index: number): boolean => {
  const text = results[index]?.block.text
  const isSame = (at: number) => results[at]?.block.text === text
  if (!isSame(index - 1) && !isSame(index + 1)) return false
  let from = index
  let to = index
  while (isSame(from - 1)) from--
  while (isSame(to + 1)) to++
  return to - from + 1 >= minPolls || pollingName.test(results[index]?.block.tool ?? "")
}

/** Fewer are repeated reads as well: harnesses read a file again after each step. */
const minPolls = 6
const pollingName = /poll|status|wait|watch|progress|health/iu

const minTokens = 300
/** One line that names the earlier result. */
const reference = { tokens: 12, form: "reference" }
