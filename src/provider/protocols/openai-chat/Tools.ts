import type { ChatRequest, JsonObject, Tool, ToolChoice } from "../../../domain/Chat.ts"
import { isStrictMixed, losesStrict } from "../../../domain/StrictSchema.ts"
import type { ProviderCall } from "../../Provider.ts"
import { isObject, listAt, objectAt, textAt } from "../shared/Json.ts"
import type { ToolNames } from "../shared/ToolNames.ts"
import { objectSchema } from "../shared/Tools.ts"
import { withItems } from "./ArrayItems.ts"
import { cacheMark } from "./CacheMark.ts"
import type { Quirks } from "./Quirks.ts"

export const lowerTools = (
  call: ProviderCall,
  quirks: Quirks,
  names: ToolNames
): { readonly tools: ReadonlyArray<JsonObject> | undefined; readonly choice: unknown } => {
  const { toolChoice: choice, tools } = call.request
  // where no call can be forced `auto` is the only choice, and no tools say the same as none of them
  const isWithoutTools = choice === "none" && quirks.support["tool_choice.required"] === "refused"
  if (tools.length === 0 || isWithoutTools) return { tools: undefined, choice: undefined }
  const isRejected = rejectsStrict(quirks, call.request)
  const lowered = (some: ReadonlyArray<Tool>): ReadonlyArray<JsonObject> =>
    some.map((tool) => lowerTool(tool, names, quirks, call, isRejected))
  const allowed = isObject(choice) ? objectAt(choice, "allowed_tools") : undefined
  if (allowed === undefined) return { tools: lowered(tools), choice: lowerChoice(choice, names) }
  const allowedNames = new Set(listAt(allowed, "tools").map(toolName))
  const mode = allowed["mode"] === "required" ? "required" : "auto"
  if (quirks.allowedTools) {
    const entries = listAt(allowed, "tools").flatMap((entry) => (isObject(entry) ? [namedTool(entry, names)] : []))
    return { tools: lowered(tools), choice: { type: "allowed_tools", allowed_tools: { mode, tools: entries } } }
  }
  const kept = tools.filter((tool) =>
    allowedNames.has(tool.type === "function" ? tool.function.name : tool.custom.name)
  )
  return kept.length === 0 ? { tools: undefined, choice: undefined } : { tools: lowered(kept), choice: mode }
}

const rejectsStrict = ({ rules }: Quirks, request: ChatRequest): ((tool: Tool) => boolean) => {
  if (rules.isStrictUniform === true && isStrictMixed(request.tools)) return () => true
  return rules.isOpenAi ? (tool) => losesStrict(request, tool) : () => false
}

const lowerTool = (
  tool: Tool,
  names: ToolNames,
  quirks: Quirks,
  call: ProviderCall,
  isRejected: (strict: Tool) => boolean
): JsonObject =>
  tool.type === "function"
    ? {
        type: "function",
        function: {
          name: names.toProvider(tool.function.name),
          description: tool.function.description,
          parameters:
            tool.function.parameters === undefined && quirks.optionalParameters
              ? undefined
              : withItems(objectSchema(tool.function.parameters)),
          strict: isRejected(tool) ? undefined : (tool.function.strict ?? undefined)
        },
        cache_control: cacheMark(tool.cache_control, call)
      }
    : {
        type: "custom",
        custom: {
          name: names.toProvider(tool.custom.name),
          description: tool.custom.description,
          format: tool.custom.format
        }
      }

const lowerChoice = (choice: ToolChoice | undefined, names: ToolNames): unknown =>
  isObject(choice) ? namedTool(choice, names) : choice

const namedTool = (choice: JsonObject, names: ToolNames): JsonObject => {
  const given = toolName(choice)
  const name = given === undefined ? undefined : names.toProvider(given)
  return choice["type"] === "custom" ? { type: "custom", custom: { name } } : { type: "function", function: { name } }
}

const toolName = (entry: unknown): string | undefined =>
  isObject(entry)
    ? (textAt(objectAt(entry, "function"), "name") ?? textAt(objectAt(entry, "custom"), "name"))
    : undefined
