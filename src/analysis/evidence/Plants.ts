import type { AssistantMessage, ToolCall } from "../../domain/Chat.ts"
import { textOf } from "./Agreement.ts"
import { draw } from "./Seeded.ts"

/** How an answer is made worse, to see whether a judge notices. */
export const degradations = [
  "number_changed",
  "step_removed",
  "field_dropped",
  "negation",
  "wrong_tool_argument"
] as const
export type Degradation = (typeof degradations)[number]

/** An answer that is worse than the one that it was made of. */
export interface Plant {
  readonly degradation: Degradation
  readonly message: AssistantMessage
}

/** One that fits the answer, drawn from the seed; `undefined` where none fits. */
export const degrade = (message: AssistantMessage, seed: string): Plant | undefined => {
  const fitting = degradations.flatMap((degradation): ReadonlyArray<Plant> => {
    const changed = change[degradation](message, seed)
    return changed === undefined ? [] : [{ degradation, message: changed }]
  })
  return fitting[Math.floor(draw(seed, "degradation") * fitting.length)]
}

type Change = (message: AssistantMessage, seed: string) => AssistantMessage | undefined

const pick = <A>(items: ReadonlyArray<A>, ...names: ReadonlyArray<string>): A | undefined =>
  items[Math.floor(draw(...names) * items.length)]

const onText =
  (edit: (text: string, seed: string) => string | undefined): Change =>
  (message, seed) => {
    const text = textOf(message)
    const edited = text === "" ? undefined : edit(text, seed)
    return edited === undefined || edited === text ? undefined : { ...message, content: edited }
  }

const change: Readonly<Record<Degradation, Change>> = {
  number_changed: onText((text, seed) => {
    const found = pick([...text.matchAll(/\d+/g)], seed, "number")
    if (found === undefined) return undefined
    const [digits] = found
    const last = (Number(digits.at(-1)) + 3) % 10
    return `${text.slice(0, found.index)}${digits.slice(0, -1)}${last}${text.slice(found.index + digits.length)}`
  }),
  step_removed: onText((text, seed) => {
    const lines = text.split("\n")
    const steps = lines.flatMap((line, at) => (/^\s{0,8}(?:[-*]|\d{1,3}[.)])\s/.test(line) ? [at] : []))
    const removed = steps.length < 2 ? undefined : pick(steps, seed, "step")
    return removed === undefined ? undefined : lines.filter((_, at) => at !== removed).join("\n")
  }),
  field_dropped: onText((text, seed) => {
    const parsed = parsedObject(text)
    const dropped = parsed === undefined ? undefined : pick(Object.keys(parsed), seed, "field")
    if (parsed === undefined || dropped === undefined) return undefined
    return JSON.stringify(Object.fromEntries(Object.entries(parsed).filter(([key]) => key !== dropped)))
  }),
  negation: onText((text, seed) => {
    const found = pick([...text.matchAll(/\b(?:is|are|was|can|should|will|does|has)\b(?! not)/g)], seed, "negation")
    if (found === undefined) return undefined
    const end = found.index + found[0].length
    return `${text.slice(0, end)} not${text.slice(end)}`
  }),
  wrong_tool_argument: (message, seed) => {
    const calls = message.tool_calls ?? []
    const at = Math.floor(draw(seed, "call") * calls.length)
    const changed = calls[at] === undefined ? undefined : withOtherArgument(calls[at], seed)
    return changed === undefined
      ? undefined
      : { ...message, tool_calls: calls.map((call, index) => (index === at ? changed : call)) }
  }
}

const withOtherArgument = (call: ToolCall, seed: string): ToolCall | undefined => {
  if (call.type !== "function") return undefined
  const parsed = parsedObject(call.function.arguments)
  const key = parsed === undefined ? undefined : pick(Object.keys(parsed), seed, "argument")
  if (parsed === undefined || key === undefined) return undefined
  const value = parsed[key]
  const other = typeof value === "number" ? value + 1 : typeof value === "boolean" ? !value : `${String(value)}_other`
  const changed = JSON.stringify({ ...parsed, [key]: other })
  return { ...call, function: { ...call.function, arguments: changed } }
}

const parsedObject = (text: string): Record<string, unknown> | undefined => {
  try {
    const parsed: unknown = JSON.parse(text)
    return parsed !== null && typeof parsed === "object" && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
