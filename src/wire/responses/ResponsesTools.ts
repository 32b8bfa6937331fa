import type { JsonObject, Tool, ToolChoice } from "../../domain/Chat.ts"
import { maxTools } from "../chat/ChatRequestSchema.ts"
import { isWebSearch } from "../HostedTools.ts"
import {
  array,
  asWhole,
  boolean,
  cut,
  nonEmpty,
  object,
  oneOf,
  optional,
  reject,
  string
} from "../validation/Fields.ts"
import { isObject } from "../validation/Guard.ts"

/** The client's definition of a tool. */
interface ToolOrigin {
  readonly kind: Tool["type"]
  readonly name: string
  readonly namespace: string | undefined
}

/** Maps the tool name sent to models to the client's tool; tools with the same name for both are left out. */
export type ToolMap = ReadonlyMap<string, ToolOrigin>

export interface DecodedTools {
  readonly tools: ReadonlyArray<Tool>
  /** The tools that are sent, as the response repeats them. */
  readonly echo: ReadonlyArray<JsonObject>
  /** Types of the hosted tools that were removed, each once; letters, digits and underscores only. */
  readonly dropped: ReadonlyArray<string>
  /** Fields of tools that have no effect here, each once. */
  readonly ignored: ReadonlyArray<string>
  readonly map: ToolMap
  /** The name sent to models for a tool of the client. */
  readonly nameOf: (tool: ToolOrigin) => string
}

export interface DecodedToolChoice {
  readonly toolChoice: ToolChoice | undefined
  readonly echo: unknown
}

/** The maximum length of a tool name at every provider. */
const maxNameCharacters = 64

export const decodeTools = (json: unknown): DecodedTools => {
  const given = optional(json, "tools", array) ?? []
  if (countOf(given) > maxTools) reject("invalid_value", "tools", `'tools' must hold at most ${maxTools} tools.`)
  const names = new Names(given)
  const tools: Array<Tool> = []
  const echo: Array<JsonObject> = []
  const dropped = new Set<string>()
  const ignored = new Set<string>()
  given.forEach((value, index) => {
    const param = `tools[${index}]`
    const tool = object(value, param)
    const type = string(tool["type"], `${param}.type`)
    if (isWebSearch(type)) {
      dropped.add(type)
      return
    }
    if (type === "namespace") for (const inner of namespaceTools(tool, param, names, ignored)) tools.push(inner)
    else tools.push(leafTool(tool, type, param, names, ignored, undefined, ""))
    echo.push(echoOf(tool, type))
  })
  return {
    tools,
    echo,
    dropped: [...dropped],
    ignored: [...ignored],
    map: names.map,
    nameOf: (tool) => names.known(tool)
  }
}

/** The number of tools in a list including its namespaces, counted before names are allocated. */
const countOf = (given: ReadonlyArray<unknown>): number => {
  let count = 0
  for (const tool of given) {
    if (!isObject(tool)) continue
    const { tools, type } = tool
    if (type === "namespace") count += Array.isArray(tools) ? tools.length : 0
    else if (typeof type !== "string" || !isWebSearch(type)) count++
  }
  return count
}

const namespaceTools = (tool: JsonObject, param: string, names: Names, ignored: Set<string>): ReadonlyArray<Tool> => {
  const namespace = nonEmpty(tool["name"], `${param}.name`)
  const description = optional(tool["description"], `${param}.description`, string) ?? ""
  return array(tool["tools"], `${param}.tools`).map((value, index) => {
    const inner = object(value, `${param}.tools[${index}]`)
    const type = string(inner["type"], `${param}.tools[${index}].type`)
    // Namespaces are not sent to models: the description of a namespace is prepended to the description of its first tool.
    const preface = index === 0 ? description : ""
    return leafTool(inner, type, `${param}.tools[${index}]`, names, ignored, namespace, preface)
  })
}

/** Fields of a tool that only guide OpenAI's own Responses API. */
const withoutEffect: ReadonlySet<string> = new Set(["async", "defer_loading", "allowed_callers", "output_schema"])

const leafTool = (
  tool: JsonObject,
  type: string,
  param: string,
  names: Names,
  ignored: Set<string>,
  namespace: string | undefined,
  preface: string
): Tool => {
  if (type !== "function" && type !== "custom")
    return reject("unsupported_tool", param, `Tools of type '${cut(type)}' are not supported.`)
  for (const field of withoutEffect) if ((tool[field] ?? false) !== false) ignored.add(`tools.${field}`)
  const name = names.allocate({ kind: type, name: nonEmpty(tool["name"], `${param}.name`), namespace })
  const own = optional(tool["description"], `${param}.description`, string) ?? ""
  const text = [preface, own].filter((part) => part !== "").join("\n\n")
  const description = text === "" ? {} : { description: text }
  if (type === "custom") {
    const format = optional(tool["format"], `${param}.format`, customFormat)
    return { type, custom: { name, ...description, ...(format === undefined ? {} : { format }) } }
  }
  const parameters = optional(tool["parameters"], `${param}.parameters`, object)
  const strict = optional(tool["strict"], `${param}.strict`, boolean)
  return {
    type,
    function: {
      name,
      ...description,
      ...(parameters === undefined ? {} : { parameters }),
      ...(strict === undefined ? {} : { strict })
    }
  }
}

/** Responses has the grammar beside its type, chat completions nests it. */
const customFormat = (value: unknown, param: string): JsonObject => {
  const format = object(value, param)
  if (oneOf("text", "grammar")(format["type"], `${param}.type`) === "text") return { type: "text" }
  return {
    type: "grammar",
    grammar: {
      syntax: oneOf("lark", "regex")(format["syntax"], `${param}.syntax`),
      definition: string(format["definition"], `${param}.definition`)
    }
  }
}

/** What has no effect is not repeated as if it had. */
const echoOf = (given: JsonObject, type: string): JsonObject => {
  const tool = inEffect(given)
  const { description, parameters, strict, tools } = tool
  if (type === "function") {
    return { ...tool, description: description ?? null, parameters: parameters ?? null, strict: strict ?? null }
  }
  return type === "namespace" && Array.isArray(tools)
    ? { ...tool, tools: tools.map((inner) => (isObject(inner) ? inEffect(inner) : inner)) }
    : tool
}

const inEffect = (tool: JsonObject): JsonObject =>
  Object.keys(tool).some((field) => withoutEffect.has(field))
    ? Object.fromEntries(Object.entries(tool).filter(([field]) => !withoutEffect.has(field)))
    : tool

/**
 * The choice among the remaining tools: a choice that names a removed tool becomes `auto`, and where all tools were removed there
 * is no choice. An error names `tool_choice` as a whole, as on chat completions.
 */
export const decodeToolChoice = (json: unknown, tools: DecodedTools): DecodedToolChoice => {
  const choice = optional(json, "tool_choice", (value) => value)
  if (choice === undefined) return { toolChoice: undefined, echo: "auto" }
  const read = asWhole("tool_choice", () =>
    typeof choice === "string"
      ? oneOf("none", "auto", "required")(choice, "tool_choice")
      : namedChoice(object(choice, "tool_choice"), tools)
  )
  if (read === "required" && tools.tools.length === 0 && tools.dropped.length === 0)
    reject("invalid_value", "tool_choice", "Invalid value for 'tool_choice': 'required' needs 'tools'.")
  if (tools.tools.length === 0) return { toolChoice: undefined, echo: read === "none" ? "none" : "auto" }
  return { toolChoice: read, echo: read === "auto" ? "auto" : choice }
}

const namedChoice = (choice: JsonObject, tools: DecodedTools): ToolChoice => {
  const type = string(choice["type"], "tool_choice.type")
  if (isWebSearch(type)) return "auto"
  if (type === "function" || type === "custom")
    return namedTool(choice, type, "tool_choice", tools, keysOf(tools.tools))
  if (type !== "allowed_tools")
    return reject("unsupported_tool", "tool_choice.type", `A tool choice of type '${cut(type)}' is not supported.`)
  const mode = oneOf("auto", "required")(choice["mode"], "tool_choice.mode")
  const allowed: Array<JsonObject> = []
  const known = keysOf(tools.tools)
  const entries = array(choice["tools"], "tool_choice.tools")
  if (entries.length === 0) reject("invalid_value", "tool_choice.tools", "'tool_choice.tools' must name a tool.")
  entries.forEach((value, index) => {
    const param = `tool_choice.tools[${index}]`
    const tool = object(value, param)
    const kind = string(tool["type"], `${param}.type`)
    if (isWebSearch(kind)) return
    if (kind !== "function" && kind !== "custom")
      reject("unsupported_tool", `${param}.type`, `Tools of type '${cut(kind)}' are not supported.`)
    else allowed.push(namedTool(tool, kind, param, tools, known))
  })
  return allowed.length === 0 ? "auto" : { type, allowed_tools: { mode, tools: allowed } }
}

const namedTool = (
  tool: JsonObject,
  kind: ToolOrigin["kind"],
  param: string,
  tools: Pick<DecodedTools, "nameOf">,
  known: ReadonlySet<string>
): JsonObject => {
  const named = {
    kind,
    name: nonEmpty(tool["name"], `${param}.name`),
    namespace: optional(tool["namespace"], `${param}.namespace`, string)
  }
  const name = tools.nameOf(named)
  if (!known.has(keyOf(kind, name)))
    reject("invalid_value", `${param}.name`, `There is no ${kind} tool named '${cut(named.name)}' in 'tools'.`)
  return kind === "function" ? { type: kind, function: { name } } : { type: kind, custom: { name } }
}

const keysOf = (tools: ReadonlyArray<Tool>): ReadonlySet<string> =>
  new Set(tools.map((tool) => keyOf(tool.type, toolName(tool))))

const keyOf = (kind: Tool["type"], name: string): string => `${kind} ${name}`

const toolName = (tool: Tool): string => (tool.type === "function" ? tool.function.name : tool.custom.name)

/**
 * Allocates a unique name for each tool, deterministic for a list of tools. Functions outside a namespace keep their names;
 * namespaced and custom tools get other names on a conflict.
 */
class Names {
  readonly map = new Map<string, ToolOrigin>()
  private readonly taken = new Set<string>()
  private readonly byOrigin = new Map<string, string>()
  /**
   * The allocated name by the tool's name without namespace, for clients that send back a call without its namespace; `undefined`
   * if ambiguous.
   */
  private readonly byNameAlone = new Map<string, string | undefined>()

  constructor(given: ReadonlyArray<unknown>) {
    for (const tool of given) {
      if (typeof tool !== "object" || tool === null || !("type" in tool) || !("name" in tool)) continue
      if (tool.type === "function" && typeof tool.name === "string") this.taken.add(tool.name)
    }
  }

  allocate(tool: ToolOrigin): string {
    const key = originKey(tool)
    const before = this.byOrigin.get(key)
    if (before !== undefined) return before
    const isPlain = tool.kind === "function" && tool.namespace === undefined
    const name = isPlain ? tool.name : freeName(tool, this.taken)
    this.taken.add(name)
    this.byOrigin.set(key, name)
    if (!isPlain) this.map.set(name, tool)
    if (tool.namespace !== undefined) {
      const nameAlone = originKey({ ...tool, namespace: undefined })
      this.byNameAlone.set(nameAlone, this.byNameAlone.has(nameAlone) ? undefined : name)
    }
    return name
  }

  /** The allocated name, or the name that a removed tool would get. */
  known(tool: ToolOrigin): string {
    const name = this.byOrigin.get(originKey(tool))
    if (name !== undefined) return name
    if (tool.namespace !== undefined) return freeName(tool, new Set())
    return this.byNameAlone.get(originKey(tool)) ?? tool.name
  }
}

const originKey = (tool: ToolOrigin): string => JSON.stringify([tool.kind, tool.namespace ?? null, tool.name])

const freeName = (tool: ToolOrigin, taken: ReadonlySet<string>): string => {
  const wanted = tool.namespace === undefined ? tool.name : `${tool.namespace}__${tool.name}`
  const safe = tool.namespace === undefined ? wanted : wanted.replace(/[^a-zA-Z0-9_-]/g, "_")
  if (safe === wanted && (tool.namespace === undefined || safe.length <= maxNameCharacters) && !taken.has(safe))
    return safe
  const key = originKey(tool)
  // a long name is hashed once, however many rounds there are
  const source = key.length <= maxSourceCharacters ? key : fingerprint(key)
  const readable = safe.slice(0, maxNameCharacters - 9)
  // Ends after at most as many rounds as there are taken names: each round tries another name.
  for (let round = 0; ; round++) {
    const name = `${readable}_${fingerprint(`${round}:${source}`)}`
    if (!taken.has(name)) return name
  }
}

const maxSourceCharacters = 1_024

/** FNV-1a: eight hexadecimal digits that are the same in every process. */
const fingerprint = (text: string): string => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, "0")
}
