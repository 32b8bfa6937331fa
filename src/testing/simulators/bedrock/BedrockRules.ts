import { isObject, type Json, listAt, objectAt, parseObject, textAt } from "../../../provider/protocols/shared/Json.ts"
import { rejectedReasoning } from "../anthropic/AnthropicRules.ts"
import { rejectedSchema } from "../anthropic/AnthropicSchemaRules.ts"
import { bodyOf } from "../core/RequestBody.ts"
import type { SimulatedRequest } from "../core/Simulator.ts"
import { type AwsIdentity, rejectedSignature } from "./AwsSignatureRules.ts"
import { rejectedContent } from "./BedrockContentRules.ts"
import { type BedrockModel, modelOf } from "./BedrockModels.ts"

export interface Rejection {
  readonly status: number
  readonly name: string
  readonly message: string
}

/** A valid request. */
export interface Accepted {
  readonly body: Json
  readonly model: BedrockModel
  readonly stream: boolean
  readonly reasons: boolean
}

/** What is wrong with a request, if anything: by the service's types in its official client, and by reported refusals. */
export const rejectedBy = (
  request: SimulatedRequest,
  identity: AwsIdentity
): Accepted | { readonly rejection: Rejection } => {
  const [, encoded, operation] = /^\/model\/([^/?]+)\/(converse|converse-stream)$/.exec(request.path) ?? []
  if (request.method !== "POST" || encoded === undefined) {
    return { rejection: { status: 404, name: "UnknownOperationException", message: "" } }
  }
  const denied = rejectedCaller(request, identity)
  if (denied !== undefined) return { rejection: { status: 403, ...denied } }
  const model = modelOf(decodeURIComponent(encoded))
  if (model === undefined) return invalid("The provided model identifier is invalid.")
  const body = bodyOf(request)
  if (request.headers["content-type"] !== "application/json" || body === undefined) {
    return { rejection: { status: 400, name: "SerializationException", message: "" } }
  }
  const reasons = isReasoning(body, model)
  for (const rule of rules) {
    const message = rule({ body, model, reasons })
    if (message !== undefined) return invalid(message)
  }
  return { body, model, reasons, stream: operation === "converse-stream" }
}

/** Accepts any Bedrock API key; a signature must be valid. */
const rejectedCaller = (request: SimulatedRequest, identity: AwsIdentity) => {
  const { authorization } = request.headers
  if (authorization === undefined) {
    return { name: "MissingAuthenticationTokenException", message: "Missing Authentication Token" }
  }
  return /^Bearer \S+$/.test(authorization) ? undefined : rejectedSignature(request, identity)
}

const invalid = (message: string) => ({ rejection: { status: 400, name: "ValidationException", message } })

interface Case {
  readonly body: Json
  readonly model: BedrockModel
  readonly reasons: boolean
}

const additional = "additionalModelRequestFields"

const isReasoning = (body: Json, { claude }: BedrockModel): boolean => {
  const fields = objectAt(body, additional)
  if (claude === undefined) return fields !== undefined && JSON.stringify(fields).includes("effort")
  const type = objectAt(fields, "thinking")?.["type"]
  return type === undefined ? claude.reasonsByDefault : type !== "disabled"
}

const fields: ReadonlySet<string> = new Set([
  "messages",
  "system",
  "inferenceConfig",
  "toolConfig",
  "guardrailConfig",
  "additionalModelRequestFields",
  "promptVariables",
  "additionalModelResponseFieldPaths",
  "requestMetadata",
  "performanceConfig",
  "serviceTier",
  "outputConfig"
])

/** Each rule returns its error, or `undefined`. */
const rules: ReadonlyArray<(one: Case) => string | undefined> = [
  ({ body }) => {
    const unknown = Object.keys(body).find((field) => !fields.has(field))
    return unknown === undefined ? undefined : `extraneous key [${unknown}] is not permitted`
  },
  ({ body, model, reasons }) => rejectedInference(objectAt(body, "inferenceConfig") ?? {}, model, reasons),
  ({ body, model, reasons }) => {
    const own = objectAt(body, additional)
    if (own === undefined) return body[additional] === undefined ? undefined : `${additional}: not an object`
    const unknown = Object.keys(own).find((field) => !model.additionalFields.includes(field))
    if (unknown !== undefined)
      return `The model returned the following errors: ${unknown}: Extra inputs are not permitted`
    if (own["top_k"] !== undefined && reasons) return "top_k may not be set when thinking is enabled"
    const maxTokens = objectAt(body, "inferenceConfig")?.["maxTokens"]
    return model.claude === undefined
      ? undefined
      : rejectedReasoning({ thinking: own["thinking"], max_tokens: maxTokens }, model.claude)
  },
  ({ body, model, reasons }) => rejectedTools(body, model, reasons),
  ({ body }) => rejectedOutput(objectAt(body, "outputConfig")),
  ({ body, model }) => rejectedContent(body, model)
]

const rejectedInference = (
  config: Json,
  { claude, takesSampling }: BedrockModel,
  reasons: boolean
): string | undefined => {
  const { maxTokens, stopSequences, temperature, topP } = config
  const unknown = Object.keys(config).find((field) => !inferenceFields.has(field))
  if (unknown !== undefined) return `inferenceConfig: extraneous key [${unknown}] is not permitted`
  if (maxTokens !== undefined && !(isWhole(maxTokens) && maxTokens >= 1)) return "inferenceConfig.maxTokens: min 1"
  for (const [name, value] of Object.entries({ temperature, topP })) {
    if (value === undefined) continue
    if (typeof value !== "number" || value < 0 || value > 1) return `inferenceConfig.${name}: must be from 0 to 1`
    if (!takesSampling) return `The model returned the following errors: ${name} is not supported by this model`
    if (claude !== undefined && reasons) return `${name} may not be set when thinking is enabled`
  }
  if (claude !== undefined && temperature !== undefined && topP !== undefined) {
    return "temperature and top_p cannot both be specified for this model"
  }
  return stopSequences === undefined ||
    (Array.isArray(stopSequences) && stopSequences.every((stop) => typeof stop === "string" && /\S/.test(stop)))
    ? undefined
    : "inferenceConfig.stopSequences: each stop sequence must contain non-whitespace"
}

const inferenceFields: ReadonlySet<string> = new Set(["maxTokens", "temperature", "topP", "stopSequences"])

const rejectedTools = (body: Json, model: BedrockModel, reasons: boolean): string | undefined => {
  const config = objectAt(body, "toolConfig")
  const hasCalls = /"(?:toolUse|toolResult)":\{/.test(JSON.stringify(body["messages"]))
  if (config === undefined) {
    return hasCalls
      ? "The toolConfig field must be defined when using toolUse and toolResult content blocks."
      : undefined
  }
  const tools = listAt(config, "tools")
  if (tools.length === 0) return "toolConfig.tools: must have at least 1 member"
  const names = new Set<unknown>()
  for (const [at, tool] of tools.entries()) {
    if (isCachePoint(tool) && at > 0 && model.claude !== undefined) continue
    const spec = isObject(tool) ? objectAt(tool, "toolSpec") : undefined
    const name = textAt(spec, "name")
    if (name === undefined || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      return `toolConfig.tools.${at}.toolSpec.name: invalid`
    if (names.has(name)) return `toolConfig.tools: the name ${name} is not unique`
    names.add(name)
    if (spec?.["description"] === "") return `toolConfig.tools.${at}.toolSpec.description: min length 1`
    const schema = objectAt(objectAt(spec, "inputSchema"), "json")
    if (schema?.["type"] !== "object") return `toolConfig.tools.${at}.toolSpec.inputSchema.json.type must be object`
    const refused = spec?.["strict"] === true ? rejectedSchema(schema, `tools.${at}.inputSchema`) : undefined
    if (refused !== undefined) return refused
  }
  return rejectedChoice(config, names, model, reasons)
}

/** Closes a cached prefix of the tools. */
const isCachePoint = (tool: unknown): boolean => isObject(tool) && objectAt(tool, "cachePoint")?.["type"] === "default"

const rejectedChoice = (
  config: Json,
  names: ReadonlySet<unknown>,
  model: BedrockModel,
  reasons: boolean
): string | undefined => {
  const choice = objectAt(config, "toolChoice")
  if (choice === undefined) return undefined
  const [kind, ...others] = Object.keys(choice)
  if (others.length > 0 || (kind !== "auto" && kind !== "any" && kind !== "tool")) {
    return "toolConfig.toolChoice: must be one of auto, any and tool"
  }
  if (kind === "auto") return undefined
  if (!model.forcesTools) return `This model doesn't support the toolConfig.toolChoice.${kind} field.`
  if (kind === "tool" && !names.has(objectAt(choice, "tool")?.["name"])) return "toolChoice.tool.name: unknown"
  return model.claude !== undefined && reasons
    ? "Thinking may not be enabled when tool_choice forces tool use."
    : undefined
}

const efforts: ReadonlySet<unknown> = new Set(["low", "medium", "high", "xhigh", "max"])

const rejectedOutput = (config: Json | undefined): string | undefined => {
  if (config?.["effort"] !== undefined && !efforts.has(config["effort"]))
    return "outputConfig.effort: not a known effort"
  const format = config?.["textFormat"]
  if (format === undefined) return undefined
  if (!isObject(format) || format["type"] !== "json_schema") return "outputConfig.textFormat.type: must be json_schema"
  const schema = objectAt(objectAt(format, "structure"), "jsonSchema")?.["schema"]
  if (typeof schema !== "string") return "outputConfig.textFormat.structure.jsonSchema.schema: must be a string"
  const parsed = parseObject(schema)
  return parsed === undefined ? "jsonSchema.schema: not JSON" : rejectedSchema(parsed, "jsonSchema.schema")
}

const isWhole = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value)
