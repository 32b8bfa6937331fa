import type { JsonObject, Tool, ToolChoice } from "../../domain/Chat.ts"
import { maxTools } from "../chat/ChatRequestSchema.ts"
import { isWebSearch } from "../HostedTools.ts"
import { array, boolean, cut, nonEmpty, object, oneOf, optional, reject, string } from "../validation/Fields.ts"
import { hasAtMost } from "../validation/SchemaParts.ts"
import type { ReadingState } from "./MessagesContent.ts"
import { maxToolNameCharacters } from "./MessagesRequestSchema.ts"

export interface DecodedTools {
  readonly tools: ReadonlyArray<Tool>
  /** Types of the hosted tools that were removed. */
  readonly dropped: ReadonlyArray<string>
  readonly droppedNames: ReadonlySet<string>
}

export const decodeTools = (json: unknown, state: ReadingState): DecodedTools => {
  const given = optional(json, "tools", array) ?? []
  if (given.length > maxTools) {
    reject("invalid_value", "tools", `Invalid value for 'tools': expected an array of at most ${maxTools} items.`)
  }
  const tools: Array<Tool> = []
  const dropped = new Set<string>()
  const droppedNames = new Set<string>()
  given.forEach((value, index) => {
    const param = `tools[${index}]`
    const tool = object(value, param)
    const type = optional(tool["type"], `${param}.type`, string) ?? "custom"
    if (isWebSearch(type)) {
      dropped.add(type)
      droppedNames.add(optional(tool["name"], `${param}.name`, string) ?? "web_search")
    } else if (type === "custom") tools.push(customTool(tool, param, state))
    else {
      reject(
        "unsupported_tool",
        param,
        `Tools of type '${cut(type)}' are not supported: send a tool with a name and an input_schema.`
      )
    }
  })
  return { tools, dropped: [...dropped], droppedNames }
}

/** Fields of a tool that only guide Anthropic's own API. */
const withoutEffect = ["defer_loading", "eager_input_streaming", "input_examples", "allowed_callers"] as const

const customTool = (tool: JsonObject, param: string, state: ReadingState): Tool => {
  const name = nonEmpty(tool["name"], `${param}.name`)
  if (!hasAtMost(name, maxToolNameCharacters)) {
    reject(
      "invalid_value",
      `${param}.name`,
      `Invalid value for '${param}.name': expected a string of 1 to ${maxToolNameCharacters} characters.`
    )
  }
  for (const field of withoutEffect) {
    const value = tool[field] ?? false
    if (value !== false) state.ignored.add(`tools.${field}`)
  }
  const description = optional(tool["description"], `${param}.description`, string)
  const strict = optional(tool["strict"], `${param}.strict`, boolean)
  return {
    type: "function",
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters: object(tool["input_schema"], `${param}.input_schema`),
      ...(strict !== undefined && { strict })
    },
    ...state.marks.of(tool, param)
  }
}

export interface DecodedToolChoice {
  readonly toolChoice: ToolChoice | undefined
  readonly parallelToolCalls: boolean | undefined
}

/** The choice among the remaining tools: one that names a removed tool becomes `auto`, and without any tool there is none. */
export const decodeToolChoice = (json: unknown, { droppedNames, tools }: DecodedTools): DecodedToolChoice => {
  const choice = optional(json, "tool_choice", object)
  if (choice === undefined) return { toolChoice: undefined, parallelToolCalls: undefined }
  const type = oneOf("auto", "any", "tool", "none")(choice["type"], "tool_choice.type")
  const param = "tool_choice.disable_parallel_tool_use"
  const isSingle = type !== "none" && optional(choice["disable_parallel_tool_use"], param, boolean) === true
  const toolChoice = type === "tool" ? namedTool(choice, tools, droppedNames) : choices[type]
  if (tools.length > 0) return { toolChoice, parallelToolCalls: isSingle ? false : undefined }
  if (type === "any" && droppedNames.size === 0) {
    reject("invalid_value", "tool_choice", "'tool_choice' requires a tool call, but there are no 'tools'.")
  }
  return { toolChoice: undefined, parallelToolCalls: undefined }
}

const choices = { auto: "auto", any: "required", none: "none" } as const

const namedTool = (choice: JsonObject, tools: ReadonlyArray<Tool>, droppedNames: ReadonlySet<string>): ToolChoice => {
  const name = nonEmpty(choice["name"], "tool_choice.name")
  if (tools.some((tool) => tool.type === "function" && tool.function.name === name)) {
    return { type: "function", function: { name } }
  }
  return droppedNames.has(name)
    ? "auto"
    : reject("invalid_value", "tool_choice.name", `There is no tool named '${cut(name)}' in 'tools'.`)
}
