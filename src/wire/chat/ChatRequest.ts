import * as Either from "effect/Either"
import type { ChatRequest, Restriction, RoutingControls } from "../../domain/Chat.ts"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import type { StringLiterals } from "../../domain/StringLiterals.ts"
import { explainer } from "../validation/Explanation.ts"
import { rejected, type Trail } from "../validation/Guard.ts"
import { unknownNames } from "../validation/UnknownNames.ts"
import { type ChatBody, chatBody, chatFields, type NestedFields } from "./ChatRequestGuard.ts"
import { ChatCompletionRequest } from "./ChatRequestSchema.ts"
import { responseFormatOf } from "./ResponseFormat.ts"
import { toolChoiceOf } from "./ToolChoice.ts"

/**
 * Decodes the parsed body of `POST /v1/chat/completions`. One pass of guards accepts a valid body; only when a guard rejects it
 * does the schema run, on the smallest part of the body with the error, to explain what is wrong.
 *
 * @param stringLiterals of the body's text, where they are known
 */
export const decode = (
  json: unknown,
  stringLiterals?: StringLiterals | undefined
): Either.Either<ChatRequest, InvalidRequest> => {
  const trail: Trail = []
  const body = chatBody(json, trail)
  return body === rejected
    ? Either.left(explain(json, trail.reverse()))
    : judged(body, { ignored: ignoredOf(json, body), stringLiterals })
}

/** The free-form objects, once the rest is valid. */
const judged = (
  body: ChatBody,
  more: Pick<ChatRequest, "ignored" | "stringLiterals">
): Either.Either<ChatRequest, InvalidRequest> =>
  Either.flatMap(toolChoiceOf(body.tool_choice, body.tools ?? []), (toolChoice) =>
    Either.map(responseFormatOf(body.response_format), (responseFormat) =>
      fromBody(body, toolChoice, responseFormat, more)
    )
  )

/** A body without unknown fields and nulls was returned as it is. */
const ignoredOf = (json: unknown, body: ChatBody): ReadonlyArray<string> | undefined => {
  const unknown = body === json ? [] : unknownNames(json, chatFields)
  const names = body.stream_options?.include_obfuscation === true ? [...unknown, obfuscation] : unknown
  return names.length === 0 ? undefined : names
}

/** The gateway adds no padding. */
export const obfuscation = "stream_options.include_obfuscation"

/**
 * A request that is written in code: the compiler knows every field, in the names of the API. What no type can say, such as the
 * range of `alpha`, is an `InvalidRequest`. A field that is `undefined` is absent. For parsed JSON there is `decodeChatRequest`.
 *
 * @example
 * const request = makeRequest({ model: "auto", messages: [{ role: "user", content: "Say hello." }] })
 */
export const make = (body: ChatCompletionRequest): Either.Either<ChatRequest, InvalidRequest> => decode(body)

const explainBody = explainer(ChatCompletionRequest)

const explain = (json: unknown, path: ReadonlyArray<string | number>): InvalidRequest => {
  const fault = explainBody(json, path)
  if (fault === undefined) {
    return new InvalidRequest({ code: "invalid_value", message: "The messages could not be read.", param: "messages" })
  }
  if (fault.param === "n" && fault.code === "invalid_value") {
    return new InvalidRequest({
      code: "unsupported_value",
      message: "Unsupported value for 'n': only one completion per request is supported.",
      param: "n"
    })
  }
  return new InvalidRequest(fault)
}

const fromBody = (
  body: ChatBody,
  toolChoice: ChatRequest["toolChoice"],
  responseFormat: ChatRequest["responseFormat"],
  { ignored, stringLiterals }: Pick<ChatRequest, "ignored" | "stringLiterals">
): ChatRequest => ({
  model: body.model,
  messages: body.messages,
  tools: body.tools ?? [],
  toolChoice,
  stream: body.stream === true,
  includeUsage: body.stream_options?.include_usage === true,
  tokenDoctor: body.token_doctor === true,
  maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
  temperature: body.temperature,
  topP: body.top_p,
  stop: typeof body.stop === "string" ? [body.stop] : (body.stop ?? []),
  frequencyPenalty: body.frequency_penalty,
  presencePenalty: body.presence_penalty,
  seed: body.seed,
  logprobs: body.logprobs,
  topLogprobs: body.top_logprobs,
  parallelToolCalls: body.parallel_tool_calls,
  responseFormat,
  effort: body.reasoning_effort ?? body.reasoning?.effort,
  reasoning: {
    maxTokens: body.reasoning?.max_tokens,
    summary: body.reasoning?.summary,
    exclude: body.reasoning?.exclude === true
  },
  verbosity: body.verbosity,
  serviceTier: body.service_tier,
  metadata: body.metadata,
  store: body.store,
  safetyIdentifier: body.safety_identifier,
  promptCacheKey: body.prompt_cache_key,
  promptCacheOptions: body.prompt_cache_options,
  promptCacheRetention: body.prompt_cache_retention,
  prediction: body.prediction,
  modalities: body.modalities,
  audio: body.audio,
  moderation: body.moderation,
  webSearchOptions: body.web_search_options,
  user: body.user,
  routing: routingControls(body),
  ignored,
  stringLiterals
})

type RoutingBody = Pick<ChatBody, "models" | "provider" | "routing_config" | "alpha" | "enable_fallback"> &
  Pick<ChatBody, "max_input_price_microusd_per_million" | "max_output_price_microusd_per_million" | "max_cost_microusd">

/** The routing fields of either endpoint. */
export const routingControls = (body: RoutingBody): RoutingControls => ({
  models: restriction(body.models),
  providers: restriction(body.provider),
  routingConfig: body.routing_config,
  alpha: body.alpha,
  maxInputPriceMicroUsdPerMillion: body.max_input_price_microusd_per_million,
  maxOutputPriceMicroUsdPerMillion: body.max_output_price_microusd_per_million,
  maxCostMicroUsd: body.max_cost_microusd,
  enableFallback:
    body.provider?.allow_fallbacks === false ? false : (body.enable_fallback ?? body.provider?.allow_fallbacks)
})

const restriction = (lists: NestedFields["models"]): Restriction => ({
  allow: lists?.allow ?? lists?.only ?? null,
  deny: [...(lists?.deny ?? []), ...(lists?.ignore ?? [])]
})
