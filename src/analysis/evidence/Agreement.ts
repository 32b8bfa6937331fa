import type { AssistantMessage, JsonObject, ToolCall } from "../../domain/Chat.ts"

/**
 * Whether two answers say the same beyond doubt, so that no judge is needed: equal tools with equal arguments, equal JSON, the
 * same number, the same choice or the same text.
 */
export const agree = (a: AssistantMessage, b: AssistantMessage): boolean => {
  const [callsOfA, callsOfB] = [a.tool_calls ?? [], b.tool_calls ?? []]
  if (callsOfA.length > 0 || callsOfB.length > 0) return sameCalls(callsOfA, callsOfB)
  const [textOfA, textOfB] = [textOf(a), textOf(b)]
  const [jsonOfA, jsonOfB] = [jsonIn(textOfA), jsonIn(textOfB)]
  if (jsonOfA !== undefined || jsonOfB !== undefined) {
    return jsonOfA !== undefined && jsonOfB !== undefined && canonicalJson(jsonOfA) === canonicalJson(jsonOfB)
  }
  const [short, other] = [briefly(textOfA), briefly(textOfB)]
  return short !== "" && short === other
}

/** What a message says, without tool calls. */
export const textOf = ({ content, refusal }: AssistantMessage): string =>
  typeof content === "string"
    ? content
    : (content?.map((part) => (part.type === "text" ? part.text : part.refusal)).join("") ?? refusal ?? "")

/** JSON text with sorted keys and without spaces: equal for equal values. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null"
  const members = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(",")}}`
}

/** In any order: models list parallel calls as they like. */
const sameCalls = (a: ReadonlyArray<ToolCall>, b: ReadonlyArray<ToolCall>): boolean =>
  a.length === b.length && a.map(callText).sort().join("\n") === b.map(callText).sort().join("\n")

const callText = (call: ToolCall): string => {
  if (call.type === "custom") return `${call.custom.name} ${call.custom.input}`
  const parsed = jsonIn(call.function.arguments)
  return `${call.function.name} ${parsed === undefined ? call.function.arguments : canonicalJson(parsed)}`
}

/** An object or an array, also in a fence. */
const jsonIn = (text: string): unknown => {
  const trimmed = text.trim()
  const fenced = trimmed.startsWith("```") && trimmed.endsWith("```")
  const body = fenced ? trimmed.slice(trimmed.indexOf("\n") + 1, -3).trim() : trimmed
  if (!body.startsWith("{") && !body.startsWith("[")) return undefined
  try {
    return JSON.parse(body) as unknown
  } catch {
    return undefined
  }
}

const maxBriefLength = 400

/** A short answer without what does not change its meaning: case, spaces, marks around it; a number in one form. */
const briefly = (text: string): string => {
  const trimmed = text.trim()
  if (trimmed.length > maxBriefLength) return trimmed
  const bare = trimmed
    .toLowerCase()
    .split(/\s+/)
    .join(" ")
    .replace(/^["'(*]{1,3}/, "")
    .replace(/["')*.!]{1,3}$/, "")
  const digits = bare.replaceAll(",", "")
  return digits !== "" && Number.isFinite(Number(digits)) ? String(Number(digits)) : bare
}
