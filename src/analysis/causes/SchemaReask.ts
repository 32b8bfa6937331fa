import { type CallPair, type Cause, found, pairsOf } from "../Cause.ts"
import { EditList } from "../Edits.ts"

/** JSON was wanted, the answer was none, and the client asked again, with the answer in the prompt, until it was. */
export const schemaReask: Cause = {
  id: "schema_reask",
  number: 11,
  tier: "exact",
  owner: "client",
  title: "Answers that are no JSON are asked for again",
  falsePositiveIf: "The second message asks for something else.",
  advice: "Send a strict JSON schema, and let only models answer that follow one.",
  find: (input) => {
    const list = new EditList()
    let asked: Array<number> = []
    for (const pair of pairsOf(input)) {
      const before = asked.at(-1) === pair.before ? asked : []
      asked = isReask(pair) ? [...before, pair.after] : []
      // people talk about JSON as well: only what got it in the end was asked for it
      if (pair.second.response?.json !== true) continue
      for (const call of asked) list.add(call, { drop: true })
    }
    const calls = new Set(list.edits.keys())
    return found(
      list.edits,
      calls,
      0.95,
      [...calls].map((call) => ({ call, block: (input.workload.calls[call]?.blocks.length ?? 1) - 1 }))
    )
  }
}

const isReask = ({ first, second }: CallPair): boolean => {
  if (!first.wantsJson || first.response === null || first.response.json || first.finish === "length") return false
  if (first.status !== "success" || second.blocks.length !== first.blocks.length + 2) return false
  if (first.blocks.some(({ canonical }, position) => canonical !== second.blocks[position]?.canonical)) return false
  const [answer, message] = second.blocks.slice(-2)
  if (answer?.kind !== "assistant" || message?.kind !== "user") return false
  return message.facts === null || message.facts.rejectsJson
}
