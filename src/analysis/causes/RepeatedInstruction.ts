import { type Cause, found } from "../Cause.ts"
import { EditList, type Resized } from "../Edits.ts"
import type { WorkCall } from "../Workload.ts"

/** A long paragraph is in message after message. */
export const repeatedInstruction: Cause = {
  id: "repeated_instruction",
  number: 15,
  tier: "rebilled",
  owner: "client",
  title: "A long paragraph is repeated in message after message",
  falsePositiveIf: "The repetition keeps the model to a rule that it forgets otherwise.",
  advice: "Say it once, in the system message.",
  find: ({ turns, workload }) => {
    const list = new EditList()
    for (const conversation of turns) {
      const repeated = new Set<number>()
      for (const turn of conversation) for (const key of repeatedIn(workload.calls[turn])) repeated.add(key)
      if (repeated.size === 0) continue
      for (const turn of conversation) {
        const resize = laterCopies(workload.calls[turn], repeated)
        if (resize.size > 0) list.add(turn, { resize })
      }
    }
    const calls = new Set(list.edits.keys())
    return found(
      list.edits,
      calls,
      0.9,
      [...calls].map((call) => ({ call, block: list.edits.get(call)?.resize?.keys().next().value ?? null }))
    )
  }
}

const minMessages = 3
const written: ReadonlySet<string> = new Set(["system", "user"])

const repeatedIn = (call: WorkCall | undefined): ReadonlyArray<number> => {
  const messages = new Map<number, number>()
  for (const { facts, kind } of call?.blocks ?? []) {
    if (!written.has(kind) || facts === null) continue
    for (const key of new Set(facts.paragraphs.map((paragraph) => paragraph.key))) {
      messages.set(key, (messages.get(key) ?? 0) + 1)
    }
  }
  return [...messages].flatMap(([key, count]) => (count >= minMessages ? [key] : []))
}

const laterCopies = (call: WorkCall | undefined, repeated: ReadonlySet<number>): ReadonlyMap<number, Resized> => {
  const seen = new Set<number>()
  const resize = new Map<number, Resized>()
  call?.blocks.forEach(({ facts, kind, tokens }, position) => {
    if (!written.has(kind) || facts === null) return
    let removed = 0
    const without: Array<number> = []
    for (const paragraph of facts.paragraphs) {
      if (!repeated.has(paragraph.key)) continue
      if (seen.has(paragraph.key)) {
        removed += paragraph.tokens
        without.push(paragraph.key)
      }
      seen.add(paragraph.key)
    }
    if (removed > 0)
      resize.set(position, { tokens: Math.max(1, tokens - removed), form: `without ${without.join(" ")}` })
  })
  return resize
}
