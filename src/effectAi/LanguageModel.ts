import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { Caller } from "../domain/Caller.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import type { CallFailure } from "../domain/GatewayError.ts"
import { Gateway } from "../gateway/Gateway.ts"
import type { StreamBroken } from "../gateway/StreamView.ts"
import { make as makeRequest } from "../wire/chat/ChatRequest.ts"
import type { ChatCompletionRequest } from "../wire/chat/ChatRequestSchema.ts"
import { offeredFields } from "./OfferedTools.ts"
import { failedCallsOf, messagesOf } from "./PromptMessages.ts"
import { partsOf, startPart } from "./ResponseParts.ts"
import { StreamParts } from "./StreamParts.ts"

/** What all calls of a language model have in common. */
export interface LanguageModelOptions {
  /** An id of a model, `auto` or `auto:<slug>`; default `auto`. */
  readonly model?: string
  /** Further fields of a chat completion, such as `alpha`, `temperature` or `max_completion_tokens`. */
  readonly request?: Omit<
    Partial<ChatCompletionRequest>,
    "messages" | "model" | "response_format" | "stream" | "tool_choice" | "tools"
  >
}

/**
 * `LanguageModel` of `@effect/ai`, by the gateway of the same process: with its routing, fallback, limits and ledger, without HTTP. A call
 * is paid by the `Caller` of the program that makes it, else by that of the program that makes the model. Errors of the gateway are the
 * `cause` of an `AiError`: of `MalformedInput` for an `InvalidRequest`, of `UnknownError` for all others. `metadata.gateway` of the
 * finish part is `router_metadata`; that of a reasoning part goes back to its provider as `options.gateway` of the part in a prompt.
 */
export const makeLanguageModel = ({
  model = "auto",
  request = {}
}: LanguageModelOptions = {}): Effect.Effect<LanguageModel.Service, never, Caller | Gateway> =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const owner = yield* Caller
    const paid = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Caller>> =>
      Effect.flatMap(Effect.serviceOption(Caller), (own) =>
        Effect.provideService(
          call,
          Caller,
          Option.getOrElse(own, () => owner)
        )
      )
    const requestOf = (
      method: string,
      options: LanguageModel.ProviderOptions
    ): Either.Either<ChatRequest, AiError.AiError> =>
      Either.gen(function* () {
        const messages = yield* messagesOf(options.prompt)
        const offered = yield* offeredFields(options)
        const body = { ...request, ...offered, model, messages }
        const made = yield* Either.mapLeft(makeRequest(body), failedIn(method))
        return withFailures(made, failedCallsOf(options.prompt))
      })
    return yield* LanguageModel.make({
      generateText: (options) =>
        Effect.flatMap(requestOf("generateText", options), (asked) =>
          paid(gateway.complete(asked)).pipe(Effect.mapError(failedIn("generateText")), Effect.flatMap(partsOf))
        ),
      streamText: (options) =>
        Effect.flatMap(requestOf("streamText", options), (asked) =>
          Effect.mapError(paid(gateway.stream({ ...asked, stream: true })), failedIn("streamText"))
        ).pipe(
          Effect.map(({ events, ...start }) => {
            const parts = new StreamParts(start)
            const rest = events.pipe(
              Stream.mapError(failedIn("streamText")),
              Stream.mapConcatEffect((event) => parts.of(event))
            )
            return Stream.concat(Stream.make(startPart(start)), rest)
          }),
          Stream.unwrapScoped
        )
    })
  })

/**
 * The same as a Layer.
 *
 * @example
 * const greeting = LanguageModel.generateText({ prompt: "Say hello." })
 * await Effect.runPromise(Effect.provide(greeting, Layer.provide(LanguageModelLayer(), SimpleLayer())))
 */
export const LanguageModelLayer = (
  options: LanguageModelOptions = {}
): Layer.Layer<LanguageModel.LanguageModel, never, Caller | Gateway> =>
  Layer.effect(LanguageModel.LanguageModel, makeLanguageModel(options))

const withFailures = (request: ChatRequest, failed: ReadonlySet<string>): ChatRequest =>
  failed.size === 0
    ? request
    : {
        ...request,
        messages: request.messages.map((message) =>
          message.role === "tool" && failed.has(message.tool_call_id) ? { ...message, is_error: true } : message
        )
      }

const failedIn =
  (method: string) =>
  (error: CallFailure | StreamBroken): AiError.AiError => {
    const about = { module: "GatewayLanguageModel", method, description: error.message, cause: error }
    return error._tag === "InvalidRequest" ? new AiError.MalformedInput(about) : new AiError.UnknownError(about)
  }
