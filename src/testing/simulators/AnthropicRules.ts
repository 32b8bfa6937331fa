import { isObject, type Json, listAt, objectAt, parseObject, textAt } from "../../provider/Json.ts"
import { refusedContent } from "./AnthropicContentRules.ts"
import { type Claude, claudeOf } from "./AnthropicModels.ts"
import { refusedSchema } from "./AnthropicSchemaRules.ts"
import type { SimulatedRequest } from "./Simulator.ts"

export interface Refusal {
  readonly status: number
  readonly type: string
  readonly message: string
}

/** A request that keeps all rules. */
export interface Accepted {
  readonly body: Json
  readonly claude: Claude
  readonly stream: boolean
  readonly thinks: boolean
}

/** What is wrong with a request, if anything: by the API's reference, its official client's types, and reported refusals. */
export const refusedBy = (request: SimulatedRequest): Accepted | { readonly refusal: Refusal } => {
  const { headers } = request
  if (request.method !== "POST" || request.path !== "/v1/messages") {
    return { refusal: { status: 404, type: "not_found_error", message: "Not found" } }
  }
  if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
    return { refusal: { status: 401, type: "authentication_error", message: "x-api-key header is required" } }
  }
  const version = headers["anthropic-version"]
  if (version !== oldVersion && version !== newVersion) return invalid("anthropic-version: unknown version")
  if (headers["content-type"] !== "application/json") return invalid("content-type: must be application/json")
  const given = parseObject(request.text)
  if (given === undefined) return invalid("The request body is not valid JSON")
  const body = inBlocks(given)
  const model = textAt(body, "model")
  const claude = model === undefined ? undefined : claudeOf(model)
  if (claude === undefined) {
    return { refusal: { status: 404, type: "not_found_error", message: `model: ${model ?? "missing"}` } }
  }
  const thinks = isThinking(body, claude)
  for (const rule of rules) {
    const message = rule({ body, claude, thinks, isNewVersion: version === newVersion })
    if (message !== undefined) return invalid(message)
  }
  return { body, claude, thinks, stream: body["stream"] === true }
}

/** A text may stand for the list of its one block: as instructions, in a message, and in the result of a tool. */
const inBlocks = (body: Json): Json => ({
  ...body,
  ...(body["system"] !== undefined && { system: blocks(body["system"]) }),
  ...(Array.isArray(body["messages"]) && { messages: body["messages"].map(messageInBlocks) })
})

const messageInBlocks = (message: unknown): unknown => {
  if (!isObject(message)) return message
  const content = blocks(message["content"])
  return { ...message, content: Array.isArray(content) ? content.map(resultInBlocks) : content }
}

const resultInBlocks = (block: unknown): unknown =>
  isObject(block) && block["type"] === "tool_result" ? { ...block, content: blocks(block["content"]) } : block

const blocks = (content: unknown): unknown =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

const oldVersion = "2023-06-01"
const newVersion = "2026-10-21"

const invalid = (message: string) => ({ refusal: { status: 400, type: "invalid_request_error", message } })

interface Case {
  readonly body: Json
  readonly claude: Claude
  readonly thinks: boolean
  readonly isNewVersion: boolean
}

const isThinking = (body: Json, claude: Claude): boolean => {
  const type = objectAt(body, "thinking")?.["type"]
  return type === undefined ? claude.thinksUnasked : type !== "disabled"
}

const fields: ReadonlySet<string> = new Set([
  "model",
  "max_tokens",
  "messages",
  "system",
  "tools",
  "tool_choice",
  "stop_sequences",
  "stream",
  "thinking",
  "output_config",
  "metadata",
  "service_tier",
  "cache_control",
  "temperature",
  "top_p",
  "top_k"
])
const sampling = ["temperature", "top_p", "top_k"]

/** Each says what is wrong, or nothing. */
const rules: ReadonlyArray<(one: Case) => string | undefined> = [
  ({ body }) => {
    const unknown = Object.keys(body).find((field) => !fields.has(field))
    return unknown === undefined ? undefined : `${unknown}: Extra inputs are not permitted`
  },
  ({ body, claude }) => {
    const most = body["max_tokens"]
    if (most === undefined) return "max_tokens: Field required"
    if (!isWhole(most) || most < 1) return "max_tokens: must be at least 1"
    return most > claude.outputTokens ? `max_tokens: ${most} > ${claude.outputTokens}` : undefined
  },
  ({ body, claude, isNewVersion }) => {
    const sent = sampling.find((field) => body[field] !== undefined)
    if (sent === undefined) return undefined
    if (isNewVersion) return `${sent}: Extra inputs are not permitted`
    return claude.takesSampling ? undefined : `${sent}: is not supported by this model`
  },
  ({ body, thinks }) => {
    const temperature = body["temperature"]
    if (temperature === undefined) return undefined
    if (typeof temperature !== "number" || temperature < 0 || temperature > 1) return "temperature: must be from 0 to 1"
    if (body["top_p"] !== undefined) return "temperature and top_p cannot both be specified for this model"
    return thinks && temperature !== 1 ? "temperature may only be set to 1 when thinking is enabled" : undefined
  },
  ({ body, claude }) => refusedThinking(body, claude),
  ({ body, thinks }) => refusedTools(body, thinks),
  ({ body }) => {
    const stops = body["stop_sequences"]
    if (stops === undefined) return undefined
    const isFine = Array.isArray(stops) && stops.every((stop) => typeof stop === "string" && /\S/.test(stop))
    return isFine ? undefined : "stop_sequences: each stop sequence must contain non-whitespace"
  },
  ({ body }) => {
    const effort = objectAt(body, "output_config")?.["effort"]
    return effort === undefined || efforts.has(effort) ? undefined : "output_config.effort: not a known effort"
  },
  ({ body }) => {
    const format = objectAt(objectAt(body, "output_config"), "format")
    if (format === undefined) return undefined
    if (format["type"] !== "json_schema") return "output_config.format.type: must be json_schema"
    return refusedSchema(format["schema"], "output_config.format.schema")
  },
  ({ body }) => {
    const user = objectAt(body, "metadata")?.["user_id"]
    return user === undefined || (typeof user === "string" && user.length <= 256)
      ? undefined
      : "metadata.user_id: too long"
  },
  ({ body }) => {
    const tier = body["service_tier"]
    return tier === undefined || tier === "auto" || tier === "standard_only"
      ? undefined
      : "service_tier: not a known tier"
  },
  ({ body, claude, thinks }) => refusedContent(body, claude, thinks)
]

const efforts: ReadonlySet<unknown> = new Set(["low", "medium", "high", "xhigh", "max"])

/** What is wrong with the way it is told to think, if anything. */
export const refusedThinking = (body: Json, claude: Claude): string | undefined => {
  const thinking = objectAt(body, "thinking")
  const type = thinking?.["type"]
  if (thinking === undefined) return undefined
  if (type === "disabled") return claude.canBeToldNotToThink ? undefined : "thinking.type: disabled is not supported"
  if (type === "adaptive") {
    if (!claude.thinksAdaptively) return "thinking.type: adaptive is not supported by this model"
    const display = thinking["display"]
    return display === undefined || display === "summarized" || display === "omitted" ? undefined : "thinking.display"
  }
  if (type !== "enabled") return "thinking.type: not a known type"
  if (!claude.thinksByBudget) return "thinking.type: enabled is not supported by this model"
  const budget = thinking["budget_tokens"]
  if (!isWhole(budget) || budget < 1024) return "thinking.budget_tokens: must be at least 1024"
  return budget < Number(body["max_tokens"]) ? undefined : "max_tokens must be greater than thinking.budget_tokens"
}

const refusedTools = (body: Json, thinks: boolean): string | undefined => {
  const tools = listAt(body, "tools")
  const names = new Set<unknown>()
  for (const [at, tool] of tools.entries()) {
    const name = isObject(tool) ? textAt(tool, "name") : undefined
    if (!isObject(tool) || name === undefined || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return `tools.${at}.name: invalid`
    if (names.has(name)) return "tools: Tool names must be unique."
    names.add(name)
    const schema = objectAt(tool, "input_schema")
    if (schema?.["type"] !== "object") return `tools.${at}.input_schema.type: must be object`
    const refused = tool["strict"] === true ? refusedSchema(schema, `tools.${at}.input_schema`) : undefined
    if (refused !== undefined) return refused
  }
  const choice = objectAt(body, "tool_choice")
  if (choice === undefined) return undefined
  if (tools.length === 0) return "tool_choice: may only be specified while providing tools"
  const type = choice["type"]
  if (type === "tool" && !names.has(choice["name"])) return "tool_choice.name: not among the tools"
  if (type !== "auto" && type !== "any" && type !== "none" && type !== "tool")
    return "tool_choice.type: not a known type"
  return thinks && (type === "any" || type === "tool")
    ? "Thinking may not be enabled when tool_choice forces tool use."
    : undefined
}

const isWhole = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value)
