import type { JsonObject, Tool, ToolChoice } from "../../../domain/Chat.ts"
import { isObject, listAt, objectAt, textAt } from "../shared/Json.ts"
import type { Quirks } from "./Quirks.ts"

export const lowerTools = (
  tools: ReadonlyArray<Tool>,
  choice: ToolChoice | undefined,
  quirks: Quirks
): { readonly tools: ReadonlyArray<JsonObject> | undefined; readonly choice: unknown } => {
  if (tools.length === 0) return { tools: undefined, choice: undefined }
  const allowed = isObject(choice) ? objectAt(choice, "allowed_tools") : undefined
  if (allowed === undefined) return { tools: tools.map(lowerTool), choice: lowerChoice(choice) }
  const names = new Set(listAt(allowed, "tools").map(toolName))
  const mode = allowed["mode"] === "required" ? "required" : "auto"
  if (quirks.allowedTools) {
    const entries = listAt(allowed, "tools").flatMap((entry) => (isObject(entry) ? [namedTool(entry)] : []))
    return { tools: tools.map(lowerTool), choice: { type: "allowed_tools", allowed_tools: { mode, tools: entries } } }
  }
  const kept = tools.filter((tool) => names.has(tool.type === "function" ? tool.function.name : tool.custom.name))
  return kept.length === 0 ? { tools: undefined, choice: undefined } : { tools: kept.map(lowerTool), choice: mode }
}

const lowerTool = (tool: Tool): JsonObject =>
  tool.type === "function"
    ? {
        type: "function",
        function: {
          name: tool.function.name,
          description: tool.function.description,
          parameters: tool.function.parameters,
          strict: tool.function.strict ?? undefined
        }
      }
    : {
        type: "custom",
        custom: { name: tool.custom.name, description: tool.custom.description, format: tool.custom.format }
      }

const lowerChoice = (choice: ToolChoice | undefined): unknown => (isObject(choice) ? namedTool(choice) : choice)

const namedTool = (choice: JsonObject): JsonObject =>
  choice["type"] === "custom"
    ? { type: "custom", custom: { name: toolName(choice) } }
    : { type: "function", function: { name: toolName(choice) } }

const toolName = (entry: unknown): string | undefined =>
  isObject(entry)
    ? (textAt(objectAt(entry, "function"), "name") ?? textAt(objectAt(entry, "custom"), "name"))
    : undefined
