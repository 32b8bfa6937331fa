import type { CacheControl, ChatRequest, JsonObject, Tool } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { isObject, listAt, objectAt, textAt } from "./Json.ts"

/** The tools of a call for providers that support functions only. */
export interface ToolSet {
  readonly tools: ReadonlyArray<AvailableTool>
  /** `undefined` when there are no tools. */
  readonly choice: ToolSelection | undefined
}

export interface AvailableTool {
  /** The name in the client's request. */
  readonly name: string
  readonly description: string | undefined
  /** A JSON schema of an object. */
  readonly parameters: JsonObject
  readonly strict: boolean | undefined
  readonly cacheControl?: CacheControl
}

export type ToolSelection =
  | { readonly _tag: "Auto" }
  | { readonly _tag: "None" }
  | { readonly _tag: "Required" }
  | { readonly _tag: "Tool"; readonly name: string }

/** With `allowed_tools`, only these tools are available. */
export const toolSetOf = (request: Pick<ChatRequest, "tools" | "toolChoice">): ToolSet | ProviderFailure => {
  const { toolChoice: choice } = request
  const all = request.tools.map(availableTool)
  if (all.length === 0) return { tools: all, choice: undefined }
  if (!isObject(choice)) return { tools: all, choice: choice === undefined ? undefined : named[choice] }
  const allowed = objectAt(choice, "allowed_tools")
  if (allowed !== undefined) {
    const names = new Set(listAt(allowed, "tools").map(nameIn))
    const tools = all.filter(({ name }) => names.has(name))
    if (tools.length === 0) return { tools, choice: undefined }
    return { tools, choice: allowed["mode"] === "required" ? named.required : named.auto }
  }
  const name = nameIn(choice)
  return name !== undefined && all.some((tool) => tool.name === name)
    ? { tools: all, choice: { _tag: "Tool", name } }
    : { _tag: "RequestRejected", message: "The chosen tool is not among the tools.", param: "tool_choice" }
}

/** The tools without the enforcement of their schemas. */
export const withoutStrict = (toolSet: ToolSet): ToolSet => ({
  ...toolSet,
  tools: toolSet.tools.map((tool) => ({ ...tool, strict: undefined }))
})

/** A tool must be called. */
export const isForced = ({ choice }: ToolSet): boolean => choice?._tag === "Required" || choice?._tag === "Tool"

/** Names of the custom tools. Their calls are delivered as custom calls with `input` of the arguments. */
export const customToolsOf = (request: Pick<ChatRequest, "tools">): ReadonlySet<string> =>
  new Set(request.tools.flatMap((tool) => (tool.type === "custom" ? [tool.custom.name] : [])))

const named = {
  auto: { _tag: "Auto" },
  none: { _tag: "None" },
  required: { _tag: "Required" }
} as const

const availableTool = (tool: Tool): AvailableTool => {
  if (tool.type === "function") {
    const { description, name, parameters, strict } = tool.function
    return {
      name,
      description,
      parameters: objectSchema(parameters),
      strict: strict ?? undefined,
      ...(tool.cache_control !== undefined && { cacheControl: tool.cache_control })
    }
  }
  const { description, format, name } = tool.custom
  return { name, description, parameters: customInputSchema(format), strict: undefined }
}

/** Completes missing parameters and schemas without `type: "object"` or `properties`; all are common. */
export const objectSchema = (parameters: JsonObject | undefined): JsonObject =>
  parameters?.["type"] === "object"
    ? "properties" in parameters
      ? parameters
      : { ...parameters, properties: {} }
    : { ...parameters, type: "object", properties: objectAt(parameters, "properties") ?? {} }

/** The schema of a custom tool sent as a function: one string parameter. */
export const customInputSchema = (format: JsonObject | undefined): JsonObject => ({
  type: "object",
  properties: { input: { type: "string", description: inputDescription(format) } },
  required: ["input"],
  additionalProperties: false
})

const inputDescription = (format: JsonObject | undefined): string => {
  const grammar = format?.["type"] === "grammar" ? objectAt(format, "grammar") : undefined
  const definition = textAt(grammar, "definition")
  return definition === undefined
    ? "The tool's input, as plain text."
    : `The tool's input, as plain text. It must match this ${textAt(grammar, "syntax") ?? "formal"} grammar:\n${definition}`
}

const nameIn = (entry: unknown): string | undefined =>
  isObject(entry)
    ? (textAt(objectAt(entry, "function"), "name") ??
      textAt(objectAt(entry, "custom"), "name") ??
      textAt(entry, "name"))
    : undefined
