import { isObject, type Json, listAt, objectAt, textAt } from "../../../provider/protocols/shared/Json.ts"
import { rejectedStrictSchema } from "./OpenAiSchemaRules.ts"

const maxTools = 128

/** What is wrong with the tools or with the choice among them, if anything. */
export const rejectedTools = (body: Json): string | undefined => {
  const tools = body["tools"]
  const choice = body["tool_choice"]
  if (tools === undefined) {
    if (choice !== undefined && choice !== "none") return "'tool_choice' is only allowed when 'tools' are specified."
    return body["parallel_tool_calls"] === undefined
      ? undefined
      : "'parallel_tool_calls' is only allowed when 'tools' are specified."
  }
  if (!Array.isArray(tools) || tools.length === 0) return "Invalid 'tools': empty array."
  if (tools.length > maxTools) {
    return `Invalid 'tools': array too long. Expected an array with maximum length ${maxTools}, but got an array with length ${tools.length} instead.`
  }
  const names = new Set<string>()
  for (const [at, tool] of tools.entries()) {
    const name = isObject(tool) ? nameIn(tool) : undefined
    if (!isObject(tool) || name === undefined || !toolName.test(name)) return `Invalid 'tools[${at}].function.name'.`
    if (names.has(name)) return `Tool names must be unique: ${name}`
    names.add(name)
    const refused = rejectedFunction(objectAt(tool, "function"))
    if (refused !== undefined) return `Invalid schema for function '${name}': ${refused}`
  }
  return rejectedChoice(choice, names)
}

export const toolName = /^[a-zA-Z0-9_-]{1,64}$/

const nameIn = (tool: Json): string | undefined => {
  const kind = tool["type"]
  return kind === "function" || kind === "custom" ? textAt(objectAt(tool, kind), "name") : undefined
}

const rejectedFunction = (tool: Json | undefined): string | undefined => {
  const parameters = objectAt(tool, "parameters")
  if (parameters === undefined) return undefined
  if (parameters["type"] !== "object") return `schema must be a JSON Schema of 'type: "object"'.`
  if (!isObject(parameters["properties"])) return "In context=(), object schema missing properties."
  return tool?.["strict"] === true ? rejectedStrictSchema(parameters) : undefined
}

const rejectedChoice = (choice: unknown, names: ReadonlySet<string>): string | undefined => {
  if (!isObject(choice)) {
    return choice === undefined || ["none", "auto", "required"].includes(String(choice))
      ? undefined
      : "Invalid value for 'tool_choice'."
  }
  const chosen = choice["type"] === "allowed_tools" ? allowedNames(objectAt(choice, "allowed_tools")) : [nameIn(choice)]
  for (const name of chosen) {
    if (name === undefined) return "Invalid value for 'tool_choice'."
    if (!names.has(name)) return `Tool choice '${name}' not found in 'tools' parameter.`
  }
  return undefined
}

/** `undefined` among them is an entry that names no tool. */
const allowedNames = (allowed: Json | undefined): ReadonlyArray<string | undefined> => {
  const mode = allowed?.["mode"]
  if ((mode !== "auto" && mode !== "required") || !Array.isArray(allowed?.["tools"])) return [undefined]
  return listAt(allowed, "tools").map((entry) => (isObject(entry) ? nameIn(entry) : undefined))
}
