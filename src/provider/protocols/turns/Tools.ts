import type { ChatRequest, JsonObject, Tool } from "../../../domain/Chat.ts"
import type { ProviderFailure } from "../../../domain/ProviderError.ts"
import { isObject, listAt, objectAt, textAt } from "../../Json.ts"

/** The tools of a call for providers that know functions only. */
export interface Offer {
  readonly tools: ReadonlyArray<OfferedTool>
  /** Nothing when there are no tools to choose from. */
  readonly choice: OfferedChoice | undefined
}

export interface OfferedTool {
  /** As the client knows it. */
  readonly name: string
  readonly description: string | undefined
  /** A JSON schema of an object. */
  readonly parameters: JsonObject
  readonly strict: boolean | undefined
}

export type OfferedChoice =
  | { readonly _tag: "Auto" }
  | { readonly _tag: "None" }
  | { readonly _tag: "Required" }
  | { readonly _tag: "Tool"; readonly name: string }

/** With `allowed_tools`, only those are offered. */
export const offerOf = (request: Pick<ChatRequest, "tools" | "toolChoice">): Offer | ProviderFailure => {
  const { toolChoice: choice } = request
  const all = request.tools.map(offered)
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

/** Calls of these tools go to the client as custom calls: `input` of their arguments is what it takes. */
export const customToolsOf = (request: Pick<ChatRequest, "tools">): ReadonlySet<string> =>
  new Set(request.tools.flatMap((tool) => (tool.type === "custom" ? [tool.custom.name] : [])))

const named = {
  auto: { _tag: "Auto" },
  none: { _tag: "None" },
  required: { _tag: "Required" }
} as const

const offered = (tool: Tool): OfferedTool => {
  if (tool.type === "function") {
    const { description, name, parameters, strict } = tool.function
    return { name, description, parameters: objectSchema(parameters), strict: strict ?? undefined }
  }
  const { description, format, name } = tool.custom
  return { name, description, parameters: inputSchema(format), strict: undefined }
}

/** Functions without parameters are common, and so are schemas that leave out that they describe an object. */
const objectSchema = (parameters: JsonObject | undefined): JsonObject =>
  parameters?.["type"] === "object"
    ? "properties" in parameters
      ? parameters
      : { ...parameters, properties: {} }
    : { ...parameters, type: "object", properties: objectAt(parameters, "properties") ?? {} }

/** A custom tool takes plain text: a function of one string. */
const inputSchema = (format: JsonObject | undefined): JsonObject => ({
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
