import * as Either from "effect/Either"
import type { ChatRequest, JsonObject } from "../../domain/Chat.ts"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import type { RouterMetadata } from "../../domain/RouterMetadata.ts"
import type { StringLiterals } from "../../domain/StringLiterals.ts"
import { obfuscation, routingControls } from "../chat/ChatRequest.ts"
import { effort, routingGuards, streamOptions } from "../chat/ChatRequestGuard.ts"
import { renamed } from "../ResponseMetadata.ts"
import { explainer } from "../validation/Explanation.ts"
import { boolean, nonEmpty, object, oneOf, optional, reject, string } from "../validation/Fields.ts"
import * as G from "../validation/Guard.ts"
import { unknownNames } from "../validation/UnknownNames.ts"
import { decodeInput } from "./ResponsesInput.ts"
import { type MessageSource, responsesPath } from "./ResponsesPaths.ts"
import { SimpleFields } from "./ResponsesRequestSchema.ts"
import { decodeToolChoice, decodeTools, type ToolMap } from "./ResponsesTools.ts"

export interface DecodedResponses {
  readonly request: ChatRequest
  readonly echo: ResponsesEcho
  /** Hosted tools that were removed, for the response header. */
  readonly droppedTools: ReadonlyArray<string>
  readonly toolMap: ToolMap
  /** Where each message came from, for errors that name it. */
  readonly sources: ReadonlyArray<MessageSource>
}

/** The request fields that every response object repeats, with defaults for absent fields. */
export type ResponsesEcho = {
  readonly instructions: string | null
  readonly tools: ReadonlyArray<JsonObject>
  readonly tool_choice: unknown
  readonly parallel_tool_calls: boolean
  readonly text: JsonObject
  readonly reasoning: JsonObject
  readonly temperature: number
  readonly top_p: number
  readonly presence_penalty: number
  readonly frequency_penalty: number
  readonly top_logprobs: number
  readonly max_output_tokens: number | null
  readonly max_tool_calls: number | null
  readonly truncation: "auto" | "disabled"
  readonly metadata: Readonly<Record<string, string>>
  readonly service_tier: string
  readonly safety_identifier: string | null
  readonly prompt_cache_key: string | null
  readonly prompt_cache_retention?: string
  readonly user?: string
}

/** Reads the parsed body of `POST /v1/responses`. */
export const decode = (
  json: unknown,
  stringLiterals?: StringLiterals | undefined
): Either.Either<DecodedResponses, InvalidRequest> => {
  try {
    return Either.right(read(json, stringLiterals))
  } catch (fault) {
    if (fault instanceof InvalidRequest) return Either.left(fault)
    throw fault
  }
}

/** The name in this format of a field that the rest of the gateway names as chat completions does. */
export const paramOf = (param: string, { request, sources }: Pick<DecodedResponses, "request" | "sources">): string =>
  // both fields ask for log probabilities
  param === "logprobs" && request.topLogprobs !== undefined ? "top_logprobs" : responsesPath(param, sources)

/** Routing metadata with the names of this format. */
export const clientMetadata = (
  metadata: RouterMetadata,
  decoded: Pick<DecodedResponses, "request" | "sources">
): RouterMetadata => renamed(metadata, decoded.request.ignored, (name) => paramOf(name, decoded))

const read = (json: unknown, stringLiterals: StringLiterals | undefined): DecodedResponses => {
  if (G.isObject(json)) rejectStored(json)
  const trail: G.Trail = []
  const body = simpleBody(json, trail)
  if (body === G.rejected) throw explain(json, trail.reverse())
  const tools = decodeTools(body.tools)
  const choice = decodeToolChoice(body.tool_choice, tools)
  const input = decodeInput(body.instructions, body.input, tools)
  const format = optional(body.text?.format, "text.format", textFormat)
  const hasTools = tools.tools.length > 0
  const topLogprobs = body.top_logprobs || undefined
  const request: ChatRequest = {
    model: body.model,
    messages: input.messages,
    tools: tools.tools,
    toolChoice: choice.toolChoice,
    stream: body.stream === true,
    includeUsage: true,
    tokenDoctor: body.token_doctor === true,
    maxOutputTokens: body.max_output_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    stop: [],
    frequencyPenalty: body.frequency_penalty,
    presencePenalty: body.presence_penalty,
    seed: undefined,
    logprobs: topLogprobs !== undefined || body.include?.includes(logprobsInclude) ? true : undefined,
    topLogprobs,
    parallelToolCalls: hasTools ? body.parallel_tool_calls : undefined,
    responseFormat: format?.chat,
    effort: body.reasoning?.effort,
    reasoning: {
      maxTokens: body.reasoning?.max_tokens,
      summary: body.reasoning?.summary ?? body.reasoning?.generate_summary,
      exclude: body.reasoning?.exclude === true
    },
    verbosity: body.text?.verbosity,
    serviceTier: body.service_tier,
    // Both belong to stored responses: the metadata is repeated, but nothing is stored, neither here nor at a provider.
    metadata: undefined,
    store: undefined,
    safetyIdentifier: body.safety_identifier,
    promptCacheKey: body.prompt_cache_key,
    promptCacheOptions: body.prompt_cache_options,
    promptCacheRetention: body.prompt_cache_retention,
    prediction: undefined,
    modalities: undefined,
    audio: undefined,
    moderation: body.moderation,
    webSearchOptions: undefined,
    user: body.user,
    routing: routingControls(body),
    ignored: ignoredOf(json, body, [...tools.ignored, ...input.ignored]),
    stringLiterals
  }
  return {
    request,
    echo: {
      instructions: body.instructions ?? null,
      tools: tools.echo,
      tool_choice: choice.echo,
      parallel_tool_calls: body.parallel_tool_calls ?? true,
      text: { format: format?.echo ?? { type: "text" }, verbosity: body.text?.verbosity ?? "medium" },
      reasoning: { effort: request.effort ?? null, summary: request.reasoning.summary ?? null },
      temperature: body.temperature ?? 1,
      top_p: body.top_p ?? 1,
      presence_penalty: body.presence_penalty ?? 0,
      frequency_penalty: body.frequency_penalty ?? 0,
      top_logprobs: body.top_logprobs ?? 0,
      max_output_tokens: body.max_output_tokens ?? null,
      max_tool_calls: body.max_tool_calls ?? null,
      truncation: body.truncation ?? "disabled",
      metadata: body.metadata ?? {},
      service_tier: body.service_tier ?? "default",
      safety_identifier: body.safety_identifier ?? null,
      prompt_cache_key: body.prompt_cache_key ?? null,
      ...(body.prompt_cache_retention === undefined ? {} : { prompt_cache_retention: body.prompt_cache_retention }),
      ...(body.user === undefined ? {} : { user: body.user })
    },
    droppedTools: tools.dropped,
    toolMap: tools.map,
    sources: input.sources
  }
}

const storedParameters = ["previous_response_id", "conversation", "prompt", "context_management"] as const

/** Rejects parameters that refer to stored responses, conversations or prompts. */
const rejectStored = (json: JsonObject): void => {
  for (const param of storedParameters) {
    if ((json[param] ?? null) !== null)
      reject("unsupported_parameter", param, `'${param}' is not supported: nothing is stored between requests.`)
  }
  if (json["background"] === true)
    reject("unsupported_parameter", "background", "'background' is not supported: responses are not stored.")
}

type WithoutNulls<A> = { readonly [K in keyof A]: Exclude<A[K], null> }
type Nested = "input" | "stream_options" | "text" | "reasoning" | "models" | "provider" | "include" | "metadata"
type SimpleBody = WithoutNulls<Omit<SimpleFields, Nested>> & {
  readonly input: unknown
  readonly tools?: unknown
  readonly tool_choice?: unknown
  readonly stream_options?: WithoutNulls<NonNullable<SimpleFields["stream_options"]>>
  readonly text?: { readonly format?: JsonObject; readonly verbosity?: "low" | "medium" | "high" }
  readonly reasoning?: WithoutNulls<NonNullable<SimpleFields["reasoning"]>>
  readonly models?: WithoutNulls<NonNullable<SimpleFields["models"]>>
  readonly provider?: WithoutNulls<NonNullable<SimpleFields["provider"]>>
  readonly include?: ReadonlyArray<string>
  readonly metadata?: Readonly<Record<string, string>>
}

const anything: G.Guard<unknown> = (value) => value
const isFalse: G.Guard<false> = (value) => (value === false ? value : G.rejected)

const fields: G.FieldsOf<SimpleBody> = {
  model: G.required(G.string),
  input: G.required(anything),
  instructions: G.optional(G.string),
  tools: G.optional(anything),
  tool_choice: G.optional(anything),
  stream: G.omittable(G.boolean),
  token_doctor: G.omittable(G.boolean),
  stream_options: G.optional(streamOptions),
  parallel_tool_calls: G.optional(G.boolean),
  text: G.optional(
    G.struct<NonNullable<SimpleBody["text"]>>({
      format: G.optional(G.jsonObject),
      verbosity: G.optional(G.literal("low", "medium", "high"))
    })
  ),
  reasoning: G.optional(
    G.closedStruct<NonNullable<SimpleBody["reasoning"]>>({
      effort: G.optional(effort),
      summary: G.optional(G.string),
      generate_summary: G.optional(G.string),
      max_tokens: G.optional(G.bound(1)),
      exclude: G.optional(G.boolean)
    })
  ),
  temperature: G.optional(G.number()),
  top_p: G.optional(G.number()),
  frequency_penalty: G.optional(G.number(-2, 2)),
  presence_penalty: G.optional(G.number(-2, 2)),
  max_output_tokens: G.optional(G.bound(1)),
  max_tool_calls: G.optional(G.bound(1)),
  top_logprobs: G.optional(G.integer(0, 20)),
  include: G.optional(G.array(G.string)),
  truncation: G.optional(G.literal("auto", "disabled")),
  metadata: G.optional(G.record(G.string)),
  store: G.optional(G.boolean),
  background: G.optional(isFalse),
  service_tier: G.optional(G.string),
  safety_identifier: G.optional(G.string),
  prompt_cache_key: G.optional(G.string),
  prompt_cache_options: G.optional(G.jsonObject),
  prompt_cache_retention: G.optional(G.string),
  moderation: G.optional(G.jsonObject),
  user: G.optional(G.string),
  ...routingGuards
}

const simpleBody = G.struct<SimpleBody>(fields)

/** The last four are rejected unless they are null. */
const known: ReadonlySet<string> = new Set([...Object.keys(fields), ...storedParameters])

const explainSimple = explainer(SimpleFields)

const explain = (json: unknown, path: ReadonlyArray<string | number>): InvalidRequest =>
  new InvalidRequest(
    explainSimple(json, path) ?? { code: "invalid_value", message: "The request could not be read.", param: null }
  )

interface TextFormat {
  readonly chat: JsonObject | undefined
  readonly echo: JsonObject
}

const ignoredOf = (
  json: unknown,
  body: SimpleBody,
  ofParts: ReadonlyArray<string>
): ReadonlyArray<string> | undefined => {
  // a body without unknown fields and nulls was returned as it is
  const unknown = body === json ? [] : unknownNames(json, known)
  const names = [...unknown, ...textNames(json), ...withoutEffect(body), ...ofParts]
  return names.length === 0 ? undefined : names
}

const textMembers: ReadonlySet<string> = new Set(["format", "verbosity"])
const formatMembers: ReadonlySet<string> = new Set(["type"])
const schemaMembers: ReadonlySet<string> = new Set(["type", "name", "schema", "description", "strict"])

/** Members of `text` and of its format that the translation to chat completions leaves out. */
const textNames = (json: unknown): ReadonlyArray<string> => {
  const text = G.isObject(json) ? json["text"] : undefined
  if (!G.isObject(text)) return []
  const { format } = text
  const ofFormat = G.isObject(format) && format["type"] === "json_schema" ? schemaMembers : formatMembers
  return [
    ...unknownNames(text, textMembers).map((name) => `text.${name}`),
    ...unknownNames(format, ofFormat).map((name) => `text.format.${name}`)
  ]
}

/** Known parameters that are accepted, and that ask here for what the gateway does not do. */
const withoutEffect = (body: SimpleBody): ReadonlyArray<string> => {
  const names: Array<string> = []
  if (body.store === true) names.push("store")
  if (body.truncation === "auto") names.push("truncation")
  if (body.max_tool_calls !== undefined) names.push("max_tool_calls")
  if (body.include?.some((one) => !effectiveIncludes.has(one)) === true) names.push("include")
  if (body.stream_options?.include_obfuscation === true) names.push(obfuscation)
  return names
}

const logprobsInclude = "message.output_text.logprobs"
const effectiveIncludes: ReadonlySet<string> = new Set([logprobsInclude, "reasoning.encrypted_content"])

/** Chat completions nests a schema under its type, Responses does not. */
const textFormat = (value: unknown, param: string): TextFormat => {
  const format = object(value, param)
  const type = oneOf("text", "json_object", "json_schema")(format["type"], `${param}.type`)
  if (type === "text") return { chat: undefined, echo: { type } }
  if (type === "json_object") return { chat: { type }, echo: { type } }
  const name = nonEmpty(format["name"], `${param}.name`)
  const schema = object(format["schema"], `${param}.schema`)
  const description = optional(format["description"], `${param}.description`, string)
  const strict = optional(format["strict"], `${param}.strict`, boolean)
  return {
    chat: {
      type,
      json_schema: {
        name,
        ...(description === undefined ? {} : { description }),
        schema,
        ...(strict === undefined ? {} : { strict })
      }
    },
    echo: { type, name, description: description ?? null, schema, strict: strict ?? null }
  }
}
