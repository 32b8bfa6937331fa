import * as Either from "effect/Either"
import type { JsonObject, Tool, ToolChoice } from "../../domain/Chat.ts"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import { isObject } from "../validation/Guard.ts"

/**
 * Judges a tool choice in the format of chat completions against the tools of its request. Providers differ in what they do with
 * one that makes no sense: some reject it, some call no tool, some call another one. What passes has known members only.
 */
export const toolChoiceOf = (
  choice: string | JsonObject | undefined,
  tools: ReadonlyArray<Tool>
): Either.Either<ToolChoice | undefined, InvalidRequest> => {
  if (choice === undefined || choice === "auto" || choice === "none") return Either.right(choice)
  if (choice === "required") return tools.length > 0 ? Either.right(choice) : invalid("'required' needs 'tools'")
  if (!isObject(choice)) return invalid(`it must be one of ${kinds}`)
  switch (choice["type"]) {
    case "function":
    case "custom":
      return named(choice, tools)
    case "allowed_tools":
      return allowed(choice["allowed_tools"], tools)
    default:
      return invalid(`it must be one of ${kinds}`)
  }
}

/** The names of tools by their kind: of a thousand tools and as many entries no pair is compared. */
const namesOf = (tools: ReadonlyArray<Tool>): ReadonlySet<string> =>
  new Set(tools.map((tool) => keyOf(tool.type, tool.type === "function" ? tool.function.name : tool.custom.name)))

const keyOf = (kind: Tool["type"], name: string): string => `${kind} ${name}`

const named = (
  entry: JsonObject,
  tools: ReadonlyArray<Tool>,
  names: ReadonlySet<string> = namesOf(tools)
): Either.Either<JsonObject, InvalidRequest> => {
  const kind = entry["type"] === "custom" ? "custom" : "function"
  const inner = entry[kind]
  const name = isObject(inner) ? inner["name"] : undefined
  if (typeof name !== "string") {
    return invalid(`a choice of a ${kind} tool is {"type":"${kind}","${kind}":{"name":"…"}}`)
  }
  if (!names.has(keyOf(kind, name))) return invalid(`there is no ${kind} tool ${quoted(name)} in 'tools'`)
  return Either.right({ type: kind, [kind]: { name } })
}

const allowed = (value: unknown, tools: ReadonlyArray<Tool>): Either.Either<JsonObject, InvalidRequest> => {
  const { mode, tools: entries } = isObject(value) ? value : ({} as JsonObject)
  if ((mode !== "auto" && mode !== "required") || !Array.isArray(entries) || entries.length === 0) {
    return invalid('it must be {"type":"allowed_tools","allowed_tools":{"mode":"auto" or "required","tools":[…]}}')
  }
  const names = namesOf(tools)
  const kept: Array<JsonObject> = []
  for (const entry of entries) {
    if (!isObject(entry) || (entry["type"] !== "function" && entry["type"] !== "custom")) {
      return invalid("every allowed tool must be a function or a custom tool")
    }
    const one = named(entry, tools, names)
    if (Either.isLeft(one)) return one
    kept.push(one.right)
  }
  return Either.right({ type: "allowed_tools", allowed_tools: { mode, tools: kept } })
}

const kinds = "'auto', 'none', 'required', or an object of type 'function', 'custom' or 'allowed_tools'"

const maxQuotedCharacters = 64

const quoted = (name: string): string =>
  `'${name.length <= maxQuotedCharacters ? name : `${name.slice(0, maxQuotedCharacters).toWellFormed()}…`}'`

const invalid = (rule: string): Either.Either<never, InvalidRequest> =>
  Either.left(
    new InvalidRequest({
      code: "invalid_value",
      message: `Invalid value for 'tool_choice': ${rule}.`,
      param: "tool_choice"
    })
  )
