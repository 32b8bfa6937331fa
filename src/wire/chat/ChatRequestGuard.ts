import { efforts, type Message, type Tool } from "../../domain/Chat.ts"
import * as G from "../validation/Guard.ts"
import { hasAtMost } from "../validation/SchemaParts.ts"
import { message, tool } from "./ChatMessageGuard.ts"
import {
  allowsTwice,
  type ChatCompletionRequest,
  disagreesOnEffort,
  maxMessages,
  maxRoutingConfigCharacters,
  maxStops,
  maxTools
} from "./ChatRequestSchema.ts"

type WithoutNulls<A> = { readonly [K in keyof A]: Exclude<A[K], null> }

/** The request without `null`s; messages and tools contain known fields only. */
export type ChatBody = WithoutNulls<Omit<ChatCompletionRequest, "messages" | "tools" | "seed" | keyof NestedFields>> & {
  readonly seed?: number | bigint
  readonly messages: ReadonlyArray<Message>
  readonly tools?: ReadonlyArray<Tool>
} & NestedFields

export interface NestedFields {
  readonly stream_options?: WithoutNulls<NonNullable<ChatCompletionRequest["stream_options"]>>
  readonly reasoning?: WithoutNulls<NonNullable<ChatCompletionRequest["reasoning"]>>
  readonly models?: WithoutNulls<NonNullable<ChatCompletionRequest["models"]>>
  readonly provider?: WithoutNulls<NonNullable<ChatCompletionRequest["provider"]>>
}

export const effort = G.either(G.literal(...efforts), G.integer(1, 100))

export const streamOptions = G.closedStruct<NonNullable<NestedFields["stream_options"]>>({
  include_usage: G.optional(G.boolean),
  include_obfuscation: G.optional(G.boolean)
})

const reasoning = G.closedStruct<NonNullable<NestedFields["reasoning"]>>({
  effort: G.optional(effort),
  max_tokens: G.optional(G.bound(1)),
  summary: G.optional(G.string),
  exclude: G.optional(G.boolean)
})

const entries = G.array(G.string)

const lists = {
  allow: G.optional(entries),
  deny: G.optional(entries),
  only: G.optional(entries),
  ignore: G.optional(entries)
} as const

const repeatsAllow = (restriction: Parameters<typeof allowsTwice>[0]) =>
  allowsTwice(restriction) ? ["only"] : undefined

/** The guards of `routingFields`. */
export const routingGuards = {
  models: G.optional(G.where(G.closedStruct<NonNullable<NestedFields["models"]>>(lists), repeatsAllow)),
  provider: G.optional(
    G.where(
      G.closedStruct<NonNullable<NestedFields["provider"]>>({ ...lists, allow_fallbacks: G.optional(G.boolean) }),
      repeatsAllow
    )
  ),
  routing_config: G.optional(
    G.where(G.string, (text) => (text.length > 0 && hasAtMost(text, maxRoutingConfigCharacters) ? undefined : []))
  ),
  alpha: G.optional(G.number(0, 1)),
  max_input_price_microusd_per_million: G.optional(G.bound(0)),
  max_output_price_microusd_per_million: G.optional(G.bound(0)),
  max_cost_microusd: G.optional(G.bound(0)),
  enable_fallback: G.optional(G.boolean)
} as const

const fields: G.FieldsOf<ChatBody> = {
  model: G.required(G.string),
  messages: G.required(G.array(message, maxMessages, 1)),
  tools: G.optional(G.array(tool, maxTools)),
  tool_choice: G.optional(G.either(G.literal("auto", "none", "required"), G.jsonObject)),
  stream: G.omittable(G.boolean),
  token_doctor: G.omittable(G.boolean),
  stream_options: G.optional(streamOptions),
  temperature: G.optional(G.number()),
  top_p: G.optional(G.number()),
  max_tokens: G.optional(G.bound(1)),
  max_completion_tokens: G.optional(G.bound(1)),
  stop: G.optional(G.either(G.string, G.array(G.string, maxStops))),
  frequency_penalty: G.optional(G.number(-2, 2)),
  presence_penalty: G.optional(G.number(-2, 2)),
  n: G.optional(G.literal(1)),
  seed: G.optional(G.int64),
  logprobs: G.optional(G.boolean),
  top_logprobs: G.optional(G.integer(0, 20)),
  parallel_tool_calls: G.optional(G.boolean),
  response_format: G.optional(G.jsonObject),
  reasoning_effort: G.optional(effort),
  reasoning: G.optional(reasoning),
  verbosity: G.optional(G.literal("low", "medium", "high")),
  service_tier: G.optional(G.string),
  metadata: G.optional(G.record(G.string)),
  store: G.optional(G.boolean),
  safety_identifier: G.optional(G.string),
  prompt_cache_key: G.optional(G.string),
  prompt_cache_options: G.optional(G.jsonObject),
  prompt_cache_retention: G.optional(G.string),
  prediction: G.optional(G.jsonObject),
  modalities: G.optional(entries),
  audio: G.optional(G.jsonObject),
  moderation: G.optional(G.jsonObject),
  web_search_options: G.optional(G.jsonObject),
  user: G.optional(G.string),
  ...routingGuards
}

/** The names of all fields that have an effect, or an error. */
export const chatFields: ReadonlySet<string> = new Set(Object.keys(fields))

export const chatBody = G.where(G.struct<ChatBody>(fields), (body) =>
  disagreesOnEffort(body) ? ["reasoning", "effort"] : undefined
)
