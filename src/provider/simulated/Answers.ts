import type { ChatRequest, Effort, JsonObject, Tool } from "../../domain/Chat.ts"
import { writeExactly } from "../../domain/ExactJson.ts"
import { isObject, listAt, objectAt, textAt } from "../protocols/shared/Json.ts"
import { Filler } from "./JsonSchema.ts"
import type { Prompt } from "./Prompt.ts"

export interface SimulatedToolCall {
  readonly kind: "function" | "custom"
  readonly name: string
  readonly arguments: string
}

/** The output of a simulated model: tool calls, or else text. */
export interface SimulatedAnswer {
  readonly text: string
  /** Where the text ended at one. */
  readonly stopSequence: string | null
  readonly toolCalls: ReadonlyArray<SimulatedToolCall>
}

/** The request fields that determine the output. */
export type AnswerFields = Pick<ChatRequest, "tools" | "toolChoice" | "parallelToolCalls" | "responseFormat" | "stop">

export const answerTo = (request: AnswerFields, prompt: Prompt, modelId: string): SimulatedAnswer => {
  const called = toolsToCall(request, prompt).slice(0, maxCalls)
  if (called.length > 0) {
    const text = continuationIn(prompt) === undefined ? prompt.text : prompt.toolResults.join("\n")
    const filler = new Filler(text)
    return { text: "", stopSequence: null, toolCalls: called.map((tool) => callOf(tool, text, filler)) }
  }
  const text = textFor(request, prompt, modelId).slice(0, maxAnswerCharacters)
  return { ...untilStop(text, request.stop), toolCalls: [] }
}

const maxCalls = 64
/** More than any simulated model may answer. */
const maxAnswerCharacters = 128 * 1024
const maxInputCharacters = 16 * 1024

/** The number of reasoning steps grows with the effort and equals a numeric depth. */
export const reasoningFor = (effort: Effort | number | undefined, prompt: Prompt): string => {
  const steps = typeof effort === "number" ? effort : (stepsByEffort.get(effort ?? "none") ?? 0)
  const about = prompt.text.slice(0, 60)
  return Array.from({ length: steps }, (_, step) =>
    step === 0 ? `The question is: ${about}` : `Step ${step}: look at it once more.`
  ).join("\n")
}

const stepsByEffort: ReadonlyMap<Effort, number> = new Map([
  ["minimal", 1],
  ["low", 2],
  ["medium", 4],
  ["high", 8],
  ["xhigh", 16],
  ["max", 32]
])

// Tools

const toolsToCall = (request: AnswerFields, prompt: Prompt): ReadonlyArray<Tool> => {
  const choice = request.toolChoice ?? "auto"
  if (choice === "none" || request.tools.length === 0) return []
  const named = isObject(choice) ? nameIn(choice) : undefined
  if (named !== undefined) return request.tools.filter((tool) => nameOf(tool) === named).slice(0, 1)
  const allowed = isObject(choice) ? objectAt(choice, "allowed_tools") : undefined
  const names = new Set(listAt(allowed, "tools").map((entry) => (isObject(entry) ? nameIn(entry) : undefined)))
  const available = allowed === undefined ? request.tools : request.tools.filter((tool) => names.has(nameOf(tool)))
  const matcher = new ToolMatcher(prompt.text)
  const wanted = available.filter((tool) => matcher.matches(nameOf(tool)))
  if (choice === "required" || allowed?.["mode"] === "required")
    return (wanted.length > 0 ? wanted : available).slice(0, 1)
  if (prompt.toolResults.length > 0) {
    const next = continuationIn(prompt)
    return next === undefined ? [] : available.filter((tool) => nameOf(tool) === next).slice(0, 1)
  }
  return request.parallelToolCalls === false ? wanted.slice(0, 1) : wanted
}

/** The tool of the next step where a result names one, as the task lists of coding agents do: `Continue with edit_file.` */
const continuationIn = ({ toolResults }: Prompt): string | undefined => {
  for (const result of toolResults.toReversed()) {
    const name = /\bcontinue with ([\w-]{1,64})/i.exec(result.slice(0, maxSearchedCharacters))?.[1]
    if (name !== undefined) return name
  }
  return undefined
}

const nameOf = (tool: Tool): string => (tool.type === "function" ? tool.function.name : tool.custom.name)

const nameIn = (entry: JsonObject): string | undefined =>
  textAt(objectAt(entry, "function"), "name") ?? textAt(objectAt(entry, "custom"), "name")

/** How much of the prompt is searched for tool names; there may be a thousand tools. */
const maxSearchedCharacters = 16_384

/** Matches tools whose name, or a significant word of whose name, occurs in the prompt. */
class ToolMatcher {
  private readonly text: string
  /** Sorted, so that words with a given prefix are found by binary search. */
  private readonly words: ReadonlyArray<string>

  constructor(prompt: string) {
    this.text = prompt.slice(0, maxSearchedCharacters).toLowerCase()
    this.words = [...new Set(this.text.split(/\W+/))].sort()
  }

  matches(name: string): boolean {
    if (this.text.includes(name.toLowerCase())) return true
    const words = name
      .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .split(/[^a-z0-9]+/)
    return words.some((word) => word.length >= 3 && !fillers.has(word) && this.hasWord(word))
  }

  /** Whether a word of the prompt has this prefix. */
  private hasWord(start: string): boolean {
    let [from, to] = [0, this.words.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.words[middle] ?? "") < start) from = middle + 1
      else to = middle
    }
    return this.words[from]?.startsWith(start) === true
  }
}

const fillers: ReadonlySet<string> = new Set(["get", "set", "the", "run", "for", "and", "list", "tool", "call", "make"])

const callOf = (tool: Tool, prompt: string, filler: Filler): SimulatedToolCall =>
  tool.type === "function"
    ? {
        kind: "function",
        name: tool.function.name,
        arguments: writeExactly(filler.fill(tool.function.parameters ?? { type: "object" }) ?? {})
      }
    : { kind: "custom", name: tool.custom.name, arguments: prompt.slice(0, maxInputCharacters) }

// Text

const textFor = (request: AnswerFields, prompt: Prompt, modelId: string): string => {
  const format = request.responseFormat
  if (format?.["type"] === "json_schema") {
    return writeExactly(new Filler(prompt.text).fill(objectAt(format, "json_schema")?.["schema"] ?? {}))
  }
  const text = plainText(prompt, modelId)
  return format?.["type"] === "json_object" ? writeExactly({ answer: text }) : text
}

const plainText = ({ attachments, text, toolResults }: Prompt, modelId: string): string => {
  if (toolResults.length > 0) return `The tools answered: ${toolResults.join("; ")}`
  const got = attachments.length === 0 ? "" : `I received ${attachments.join(" and ")}. `
  return got + (commandedText(text) ?? `You said: ${text === "" ? "nothing" : text}\n\n(${modelId} is simulated.)`)
}

/** The prompt commands that simulated models follow. */
const commandedText = (text: string): string | undefined => {
  const count = /\bcount (?:from 1 )?to (\d{1,4})\b/i.exec(text)?.[1]
  if (count !== undefined) return Array.from({ length: Number(count) }, (_, n) => n + 1).join(", ")
  const words = /\b(\d{1,5}) words\b/i.exec(text)?.[1]
  if (words !== undefined) return Array.from({ length: Number(words) }, (_, n) => `word${n + 1}`).join(" ")
  return echoIn(text)?.replace(/^["“'`]|["”'`]?[.!]?$/g, "")
}

/** The text after the first "say", "repeat" or similar verb. */
const echoIn = (text: string): string | undefined => {
  for (const { 0: verb, index } of text.matchAll(/\b(?:say|repeat|(?:reply|respond|answer) with)\b/gi)) {
    const before = /(?: exactly| only| just| the word)*:?\s+/iy
    before.lastIndex = index + verb.length
    if (before.test(text) && before.lastIndex < text.length) return text.slice(before.lastIndex)
  }
  return undefined
}

const untilStop = (
  text: string,
  stops: ReadonlyArray<string>
): { readonly text: string; readonly stopSequence: string | null } => {
  let stopSequence: string | null = null
  let end = text.length
  for (const stop of stops) {
    const at = stop === "" ? -1 : text.indexOf(stop)
    if (at < 0 || at >= end) continue
    stopSequence = stop
    end = at
  }
  return { text: text.slice(0, end), stopSequence }
}
