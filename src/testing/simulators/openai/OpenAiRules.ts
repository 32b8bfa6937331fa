import { isObject, type Json, listAt, objectAt, textAt } from "../../../provider/protocols/shared/Json.ts"
import { bodyOf } from "../core/RequestBody.ts"
import type { SimulatedRequest } from "../core/Simulator.ts"
import { rejectedMessages } from "./OpenAiMessageRules.ts"
import { rejectedParameter } from "./OpenAiParameterRules.ts"
import { rejectedStrictSchema } from "./OpenAiSchemaRules.ts"
import { rejectedTools, toolName } from "./OpenAiToolRules.ts"

export interface Rejection {
  readonly status: number
  readonly code: string | null
  readonly message: string
}

/** A valid request. */
export interface Accepted {
  readonly body: Json
  readonly stream: boolean
}

/** What is wrong with a request, if anything: by the reference, the types of the official client, and reported refusals. */
export const rejectedBy = (request: SimulatedRequest): Accepted | { readonly rejection: Rejection } => {
  if (request.method !== "POST" || request.path !== "/v1/chat/completions") {
    return { rejection: { status: 404, code: null, message: `Invalid URL (${request.method} ${request.path})` } }
  }
  if (!/^Bearer \S+$/.test(request.headers.authorization ?? "")) {
    return { rejection: { status: 401, code: null, message: "You didn't provide an API key." } }
  }
  const body = bodyOf(request)
  if (request.headers["content-type"] !== "application/json" || body === undefined) {
    return invalid("We could not parse the JSON body of your request.")
  }
  for (const rule of rules) {
    const message = rule(body)
    if (message !== undefined) return invalid(message)
  }
  return { body, stream: body["stream"] === true }
}

const invalid = (message: string) => ({ rejection: { status: 400, code: "invalid_value", message } })

const fields: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "temperature",
  "top_p",
  "stop",
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "logprobs",
  "top_logprobs",
  "response_format",
  "reasoning_effort",
  "verbosity",
  "service_tier",
  "metadata",
  "store",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "prediction",
  "modalities",
  "audio",
  "moderation",
  "web_search_options",
  "user",
  "n",
  "max_tokens",
  "max_completion_tokens",
  "stream",
  "stream_options"
])

/** Each rule returns its error, or `undefined`. */
const rules: ReadonlyArray<(body: Json) => string | undefined> = [
  (body) => {
    const unknown = Object.keys(body).find((field) => !fields.has(field))
    return unknown === undefined ? undefined : `Unknown parameter: '${unknown}'.`
  },
  (body) => (textAt(body, "model") === undefined ? "you must provide a model parameter" : undefined),
  (body) => rejectedParameter(body),
  (body) => {
    const cap = body["max_completion_tokens"] ?? body["max_tokens"]
    if (cap !== undefined && !(isWhole(cap) && cap >= 1)) return "Invalid 'max_completion_tokens': at least 1"
    return reasons(body) && body["max_tokens"] !== undefined
      ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
      : undefined
  },
  (body) => {
    const sent = reasons(body) ? ["temperature", "top_p"].find((field) => (body[field] ?? 1) !== 1) : undefined
    return sent === undefined ? undefined : `Unsupported value: '${sent}' does not support this value with this model.`
  },
  (body) => {
    const stops = body["stop"]
    const isFine = stops === undefined || typeof stops === "string" || (Array.isArray(stops) && stops.length <= 4)
    return isFine ? undefined : "Invalid 'stop': array too long. Expected an array with maximum length 4."
  },
  (body) =>
    body["stream_options"] !== undefined && body["stream"] !== true
      ? "The 'stream_options' parameter is only allowed when 'stream' is enabled."
      : undefined,
  (body) =>
    body["top_logprobs"] !== undefined && body["logprobs"] !== true
      ? "'top_logprobs' is only allowed when 'logprobs' is enabled."
      : undefined,
  (body) =>
    body["reasoning_effort"] === undefined || efforts.has(body["reasoning_effort"])
      ? undefined
      : "Invalid value for 'reasoning_effort'.",
  (body) => rejectedTools(body),
  (body) => rejectedFormat(objectAt(body, "response_format"), body["messages"]),
  (body) => rejectedMessages(listAt(body, "messages"))
]

const efforts: ReadonlySet<unknown> = new Set(["none", "minimal", "low", "medium", "high", "xhigh", "max"])

/** The model families that reason. */
const reasons = (body: Json): boolean => /^(?:gpt-5|o\d)/.test(textAt(body, "model") ?? "")

const rejectedFormat = (format: Json | undefined, messages: unknown): string | undefined => {
  switch (format?.["type"]) {
    case "json_schema": {
      const schema = objectAt(format, "json_schema")
      if (!toolName.test(textAt(schema, "name") ?? "")) return "Invalid 'response_format.json_schema.name'."
      if (schema?.["schema"] !== undefined && !isObject(schema["schema"])) {
        return "Invalid 'response_format.json_schema.schema'."
      }
      const refused = schema?.["strict"] === true ? rejectedStrictSchema(schema["schema"]) : undefined
      return refused && `Invalid schema for response_format '${String(schema?.["name"])}': ${refused}`
    }
    case "json_object":
      return /json/i.test(JSON.stringify(messages))
        ? undefined
        : "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
    case "text":
      return undefined
    default:
      return format === undefined ? undefined : "Invalid value for 'response_format.type'."
  }
}

const isWhole = (value: unknown): value is number => typeof value === "number" && Number.isInteger(value)
