import * as Either from "effect/Either"
import type { ChatRequest, ReasoningOptions } from "../../domain/Chat.ts"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import type { StringLiterals } from "../../domain/StringLiterals.ts"
import { routingControls } from "../chat/ChatRequest.ts"
import { routingGuards } from "../chat/ChatRequestGuard.ts"
import { maxStops } from "../chat/ChatRequestSchema.ts"
import { threadParam } from "../ErrorBody.ts"
import { explainer } from "../validation/Explanation.ts"
import { reject } from "../validation/Fields.ts"
import * as G from "../validation/Guard.ts"
import { unknownNames } from "../validation/UnknownNames.ts"
import { CacheMarks } from "./MessagesCacheMarks.ts"
import type { ReadingState } from "./MessagesContent.ts"
import { decodeConversation } from "./MessagesInput.ts"
import { CountFields, SimpleFields } from "./MessagesRequestSchema.ts"
import { decodeToolChoice, decodeTools } from "./MessagesTools.ts"

export interface DecodedMessages {
  readonly request: ChatRequest
  /** Hosted tools that were removed, for the response header. */
  readonly droppedTools: ReadonlyArray<string>
  /** For each message of the request, where it stands in the client's body. */
  readonly paths: ReadonlyArray<string>
}

/** Reads the parsed body of `POST /v1/messages`. */
export const decode = (
  json: unknown,
  stringLiterals?: StringLiterals | undefined
): Either.Either<DecodedMessages, InvalidRequest> =>
  attempt(() => read(json, checked(json, messagesBody, explainMessages), stringLiterals))

/** Reads the parsed body of `POST /v1/messages/count_tokens`, which has no output cap. */
export const decodeCount = (json: unknown): Either.Either<DecodedMessages, InvalidRequest> =>
  attempt(() => read(json, checked(json, countBody, explainCount)))

const attempt = (run: () => DecodedMessages): Either.Either<DecodedMessages, InvalidRequest> => {
  try {
    return Either.right(run())
  } catch (fault) {
    if (fault instanceof InvalidRequest) return Either.left(fault)
    throw fault
  }
}

/** Anthropic's client offers to leave a conversation on the server, and sends all of it where that is refused. */
const rejectThread = (json: unknown): void => {
  if (!G.isObject(json) || (json[threadParam] ?? null) === null) return
  reject(
    "unsupported_parameter",
    threadParam,
    "The gateway stores no conversations: send all messages, without 'thread'."
  )
}

const read = (
  json: unknown,
  body: CountBody & { readonly max_tokens?: number },
  stringLiterals?: StringLiterals | undefined
): DecodedMessages => {
  rejectThread(json)
  const state: ReadingState = { marks: new CacheMarks(), ignored: new Set() }
  const tools = decodeTools(body.tools, state)
  const choice = decodeToolChoice(body.tool_choice, tools)
  const conversation = decodeConversation(body.system, body.messages, state)
  const cacheControl = state.marks.read(body.cache_control, "cache_control")
  const format = body.output_config?.format ?? body.output_format
  const request: ChatRequest = {
    model: body.model,
    messages: conversation.messages,
    tools: tools.tools,
    toolChoice: choice.toolChoice,
    stream: body.stream === true,
    includeUsage: true,
    tokenDoctor: body.token_doctor === true,
    maxOutputTokens: body.max_tokens,
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    stop: body.stop_sequences ?? [],
    frequencyPenalty: undefined,
    presencePenalty: undefined,
    seed: undefined,
    logprobs: undefined,
    topLogprobs: undefined,
    parallelToolCalls: choice.parallelToolCalls,
    responseFormat: format && { type: "json_schema", json_schema: { schema: format.schema } },
    effort: body.output_config?.effort,
    reasoning: reasoningOf(body.thinking),
    verbosity: undefined,
    serviceTier: body.service_tier && serviceTiers[body.service_tier],
    metadata: undefined,
    store: undefined,
    safetyIdentifier: undefined,
    promptCacheKey: undefined,
    promptCacheOptions: undefined,
    promptCacheRetention: undefined,
    prediction: undefined,
    modalities: undefined,
    audio: undefined,
    moderation: undefined,
    webSearchOptions: undefined,
    user: body.metadata?.user_id,
    routing: routingControls(body),
    cacheControl,
    cacheMarks: state.marks.longest,
    objectArguments: true,
    ignored: [...unknownNames(json, known), ...state.ignored],
    stringLiterals
  }
  return { request, droppedTools: tools.dropped, paths: conversation.paths }
}

/** OpenAI's names, which the canonical request has. */
const serviceTiers = { auto: "auto", standard_only: "default" } as const

const reasoningOf = (thinking: CountBody["thinking"]): ReasoningOptions => ({
  mode: thinking?.type,
  maxTokens: thinking?.type === "enabled" ? thinking.budget_tokens : undefined,
  summary: undefined,
  exclude: thinking !== undefined && thinking.type !== "disabled" && thinking.display === "omitted"
})

type WithoutNulls<A> = { readonly [K in keyof A]: Exclude<A[K], null> }
type Given<K extends keyof SimpleFields> = WithoutNulls<NonNullable<SimpleFields[K]>>
type Nested = "max_tokens" | "metadata" | "output_config" | "models" | "provider" | "thinking" | "cache_control"

type CountBody = WithoutNulls<Omit<SimpleFields, Nested>> & {
  readonly messages: unknown
  readonly system?: unknown
  readonly tools?: unknown
  readonly tool_choice?: unknown
  readonly cache_control?: unknown
  readonly metadata?: Given<"metadata">
  readonly output_config?: Given<"output_config">
  readonly thinking?: WithoutNulls<Enabled> | WithoutNulls<Adaptive> | Disabled
  readonly models?: Given<"models">
  readonly provider?: Given<"provider">
}
type MessagesBody = CountBody & { readonly max_tokens: number }

type Mode = NonNullable<SimpleFields["thinking"]>
type Enabled = Extract<Mode, { readonly type: "enabled" }>
type Adaptive = Extract<Mode, { readonly type: "adaptive" }>
type Disabled = Extract<Mode, { readonly type: "disabled" }>

const anything: G.Guard<unknown> = (value) => value
const display = G.optional(G.literal("summarized", "omitted"))
const format = G.struct<NonNullable<CountBody["output_format"]>>({
  type: G.required(G.literal("json_schema")),
  schema: G.required(G.jsonObject)
})

const countFields: G.FieldsOf<CountBody> = {
  model: G.required(G.string),
  messages: G.required(anything),
  system: G.optional(anything),
  tools: G.optional(anything),
  tool_choice: G.optional(anything),
  stop_sequences: G.optional(G.array(G.string, maxStops)),
  stream: G.omittable(G.boolean),
  token_doctor: G.omittable(G.boolean),
  temperature: G.optional(G.number()),
  top_p: G.optional(G.number()),
  top_k: G.optional(G.integer(0)),
  metadata: G.optional(G.struct<NonNullable<CountBody["metadata"]>>({ user_id: G.optional(G.string) })),
  service_tier: G.optional(G.literal("auto", "standard_only")),
  thinking: G.optional(
    G.tagged<NonNullable<CountBody["thinking"]>>("type", {
      enabled: G.struct<WithoutNulls<Enabled>>({
        type: G.required(G.literal("enabled")),
        budget_tokens: G.required(G.bound(1)),
        display
      }),
      adaptive: G.struct<WithoutNulls<Adaptive>>({ type: G.required(G.literal("adaptive")), display }),
      disabled: G.struct<Disabled>({ type: G.required(G.literal("disabled")) })
    })
  ),
  output_config: G.optional(
    G.struct<NonNullable<CountBody["output_config"]>>({
      effort: G.optional(G.literal("low", "medium", "high", "xhigh", "max")),
      format: G.optional(format)
    })
  ),
  output_format: G.optional(format),
  cache_control: G.optional(anything),
  ...routingGuards
}

const known: ReadonlySet<string> = new Set([...Object.keys(countFields), "max_tokens"])

const countBody = G.struct<CountBody>(countFields)
const messagesBody = G.struct<MessagesBody>({ ...countFields, max_tokens: G.required(G.bound(1)) })

type Explain = ReturnType<typeof explainer>
const explainMessages = explainer(SimpleFields)
const explainCount = explainer(CountFields)

const checked = <A>(json: unknown, guard: G.Guard<A>, explain: Explain): A => {
  const trail: G.Trail = []
  const body = guard(json, trail)
  if (body !== G.rejected) return body
  throw new InvalidRequest(explain(json, trail.reverse()) ?? missingMessages)
}

/** The schema of the simple fields has accepted them: the one required field that it does not have is missing. */
const missingMessages = {
  code: "missing_required_parameter",
  message: "Missing required parameter: 'messages'.",
  param: "messages"
} as const
