import { isObject, type Json, listAt, objectAt, textAt } from "../../../provider/protocols/shared/Json.ts"
import { bodyOf } from "../core/RequestBody.ts"
import type { SimulatedRequest } from "../core/Simulator.ts"
import { rejectedContent } from "./AnthropicContentRules.ts"
import { unknownField } from "./AnthropicFields.ts"
import { type Claude, claudeOf } from "./AnthropicModels.ts"
import { rejectedSchema, rejectedTogether } from "./AnthropicSchemaRules.ts"

export interface Rejection {
  readonly status: number
  readonly type: string
  readonly message: string
}

/** A valid request. */
export interface Accepted {
  readonly body: Json
  readonly claude: Claude
  readonly stream: boolean
  readonly reasons: boolean
}

/** What is wrong with a request, if anything: by the API's reference, its official client's types, and reported refusals. */
export const rejectedBy = (request: SimulatedRequest): Accepted | { readonly rejection: Rejection } => {
  const { headers } = request
  if (request.method !== "POST" || request.path !== "/v1/messages") {
    return { rejection: { status: 404, type: "not_found_error", message: "Not found" } }
  }
  if (headers["x-api-key"] === undefined && headers.authorization === undefined) {
    return { rejection: { status: 401, type: "authentication_error", message: "x-api-key header is required" } }
  }
  const version = headers["anthropic-version"]
  if (version !== oldVersion && version !== newVersion) return invalid("anthropic-version: unknown version")
  if (headers["content-type"] !== "application/json") return invalid("content-type: must be application/json")
  const given = bodyOf(request)
  if (given === undefined) return invalid("The request body is not valid JSON")
  const body = inBlocks(given)
  const model = textAt(body, "model")
  const claude = model === undefined ? undefined : claudeOf(model)
  if (claude === undefined) {
    return { rejection: { status: 404, type: "not_found_error", message: `model: ${model ?? "missing"}` } }
  }
  const reasons = isReasoning(body, claude)
  for (const rule of rules) {
    const message = rule({ body, claude, reasons, isNewVersion: version === newVersion })
    if (message !== undefined) return invalid(message)
  }
  return { body, claude, reasons, stream: body["stream"] === true }
}

/** Normalizes strings to lists of one block: in the instructions, in messages, and in tool results. */
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

const invalid = (message: string) => ({ rejection: { status: 400, type: "invalid_request_error", message } })

interface Case {
  readonly body: Json
  readonly claude: Claude
  readonly reasons: boolean
  readonly isNewVersion: boolean
}

const isReasoning = (body: Json, claude: Claude): boolean => {
  const type = objectAt(body, "thinking")?.["type"]
  return type === undefined ? claude.reasonsByDefault : type !== "disabled"
}

const sampling = ["temperature", "top_p", "top_k"]

/** Each rule returns its error, or `undefined`. */
const rules: ReadonlyArray<(one: Case) => string | undefined> = [
  ({ body }) => {
    const unknown = unknownField(body)
    return unknown === undefined ? undefined : `${unknown}: Extra inputs are not permitted`
  },
  ({ body, claude }) => {
    const cap = body["max_tokens"]
    if (cap === undefined) return "max_tokens: Field required"
    if (!isWhole(cap) || cap < 1) return "max_tokens: must be at least 1"
    return cap > claude.outputTokens ? `max_tokens: ${cap} > ${claude.outputTokens}` : undefined
  },
  ({ body, claude, isNewVersion }) => {
    const sent = sampling.find((field) => body[field] !== undefined)
    if (sent === undefined) return undefined
    if (isNewVersion) return `${sent}: Extra inputs are not permitted`
    return claude.takesSampling ? undefined : `${sent}: is not supported by this model`
  },
  ({ body, reasons }) => {
    const temperature = body["temperature"]
    if (temperature === undefined) return undefined
    if (typeof temperature !== "number" || temperature < 0 || temperature > 1) return "temperature: must be from 0 to 1"
    if (body["top_p"] !== undefined) return "temperature and top_p cannot both be specified for this model"
    return reasons && temperature !== 1 ? "temperature may only be set to 1 when thinking is enabled" : undefined
  },
  ({ body }) => {
    const { stream, top_k: topK, top_p: topP } = body
    if (topP !== undefined && !(typeof topP === "number" && topP >= 0 && topP <= 1)) return "top_p: must be from 0 to 1"
    if (topK !== undefined && !(isWhole(topK) && topK >= 0)) return "top_k: must be at least 0"
    return stream === undefined || typeof stream === "boolean" ? undefined : "stream: must be a boolean"
  },
  ({ body, claude }) => rejectedReasoning(body, claude),
  ({ body, reasons }) => rejectedTools(body, reasons),
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
    return rejectedSchema(format["schema"], "output_config.format.schema")
  },
  ({ body }) => {
    const strict = listAt(body, "tools").flatMap((tool) => (isObject(tool) && tool["strict"] === true ? [tool] : []))
    if (strict.length > 20) return `Too many strict tools (${strict.length}), limit: 20`
    const format = objectAt(objectAt(body, "output_config"), "format")
    return rejectedTogether([...strict.map((tool) => tool["input_schema"]), format?.["schema"]])
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
  ({ body, claude, reasons }) => rejectedContent(body, claude, reasons)
]

const efforts: ReadonlySet<unknown> = new Set(["low", "medium", "high", "xhigh", "max"])

/** The error in the reasoning fields, if any. */
export const rejectedReasoning = (body: Json, claude: Claude): string | undefined => {
  const thinking = objectAt(body, "thinking")
  const type = thinking?.["type"]
  if (thinking === undefined) return undefined
  if (type === "disabled") return claude.canDisableReasoning ? undefined : "thinking.type: disabled is not supported"
  if (type === "adaptive") {
    if (!claude.reasonsAdaptively) return "thinking.type: adaptive is not supported by this model"
    const display = thinking["display"]
    return display === undefined || display === "summarized" || display === "omitted" ? undefined : "thinking.display"
  }
  if (type !== "enabled") return "thinking.type: not a known type"
  if (!claude.takesBudget) return "thinking.type: enabled is not supported by this model"
  const budget = thinking["budget_tokens"]
  if (!isWhole(budget) || budget < 1024) return "thinking.budget_tokens: must be at least 1024"
  return budget < Number(body["max_tokens"]) ? undefined : "max_tokens must be greater than thinking.budget_tokens"
}

const rejectedTools = (body: Json, reasons: boolean): string | undefined => {
  const tools = listAt(body, "tools")
  const names = new Set<unknown>()
  for (const [at, tool] of tools.entries()) {
    const name = isObject(tool) ? textAt(tool, "name") : undefined
    if (!isObject(tool) || name === undefined || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return `tools.${at}.name: invalid`
    if (names.has(name)) return "tools: Tool names must be unique."
    names.add(name)
    const schema = objectAt(tool, "input_schema")
    if (schema?.["type"] !== "object") return `tools.${at}.input_schema.type: must be object`
    const refused = tool["strict"] === true ? rejectedSchema(schema, `tools.${at}.input_schema`) : undefined
    if (refused !== undefined) return refused
  }
  const choice = objectAt(body, "tool_choice")
  if (choice === undefined) return undefined
  if (tools.length === 0) return "tool_choice: may only be specified while providing tools"
  const type = choice["type"]
  if (type === "tool" && !names.has(choice["name"])) return "tool_choice.name: not among the tools"
  if (type !== "auto" && type !== "any" && type !== "none" && type !== "tool")
    return "tool_choice.type: not a known type"
  return reasons && (type === "any" || type === "tool")
    ? "Thinking may not be enabled when tool_choice forces tool use."
    : undefined
}

const isWhole = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value)
