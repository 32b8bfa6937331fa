import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { type IdempotentRequest, type Keep, once } from "../../calls/Idempotency.ts"
import { Caller } from "../../domain/Caller.ts"
import type { GatewayError, InvalidRequest } from "../../domain/GatewayError.ts"
import type { CallOptions } from "../../gateway/Admission.ts"
import { decodeCount } from "../../wire/messages/MessagesRequest.ts"
import { idempotencyKeyIn } from "../inference/IdempotencyKey.ts"
import { headersOf, type InferenceEndpoint, located, type WithRequest } from "../inference/InferenceEndpoint.ts"
import { keepingBody } from "../inference/KeptAnswers.ts"
import { messagesEndpoint } from "../inference/MessagesEndpoint.ts"
import { rateLimitHeaders } from "../RateLimitHeaders.ts"
import * as Body from "../server/Body.ts"
import { anthropicFormat, formatOf } from "../WireFormat.ts"
import {
  type Answered,
  type AppCall,
  type AppDeps,
  type AppExchange,
  answering,
  jsonResponse,
  type RouteHandler,
  replayed
} from "./Answering.ts"
import { streamed } from "./StreamedCall.ts"

/** A POST endpoint for the platform's routers. */
export const post = <Decoded extends WithRequest>(endpoint: InferenceEndpoint<Decoded>, deps: AppDeps): RouteHandler =>
  answering(
    deps,
    () => formatOf(endpoint.path),
    (exchange) =>
      Effect.gen(function* () {
        const body = yield* bodyOf(exchange)
        const result = endpoint.decode(body.json, body.literals)
        const ofRequest = headersOf(endpoint, result, body.json)
        exchange.headers = ofRequest
        const decoded = yield* result
        const call = {
          decoded,
          endpoint,
          exchange,
          named: yield* namedBy(exchange, endpoint.path, body.bytes),
          options: {
            requestId: exchange.requestId,
            endpoint: endpoint.name,
            clientRequestId: null,
            onRateLimits: (status) => {
              exchange.headers = { ...rateLimitHeaders(status), ...ofRequest }
            }
          } satisfies CallOptions
        }
        return yield* located(endpoint, decoded, decoded.request.stream ? streamed(deps, call) : complete(deps, call))
      })
  )

/** The estimate of a prompt's tokens, in the Messages format. */
export const countTokens = (deps: AppDeps): RouteHandler =>
  answering(
    deps,
    () => anthropicFormat,
    (exchange) =>
      Effect.gen(function* () {
        const { json } = yield* bodyOf(exchange)
        const result = decodeCount(json)
        exchange.headers = headersOf(messagesEndpoint, result, json)
        const { rateLimits, tokens } = yield* deps.gateway.countTokens((yield* result).request)
        const headers = { ...rateLimitHeaders(rateLimits), ...exchange.headers }
        return jsonResponse(JSON.stringify({ input_tokens: tokens }), 200, headers)
      })
  )

const bodyOf = ({ request: { headers, stream } }: AppExchange): Effect.Effect<Body.RequestBody, InvalidRequest> =>
  Body.readStream({
    headers: {
      "content-type": headers["content-type"],
      "content-encoding": headers["content-encoding"],
      "content-length": headers["content-length"]
    },
    stream
  })

const namedBy = (
  { request: { headers }, requestId }: AppExchange,
  path: string,
  body: Uint8Array
): Effect.Effect<IdempotentRequest | undefined, InvalidRequest, Caller> => {
  const given = headers["idempotency-key"]
  return given === undefined
    ? Effect.succeed(undefined)
    : Effect.zipWith(Caller, idempotencyKeyIn(given), (caller, idempotencyKey) => ({
        caller,
        idempotencyKey,
        requestId,
        path,
        body
      }))
}

const complete = <Decoded extends WithRequest>(
  { gateway, idempotency }: AppDeps,
  { decoded, endpoint, exchange, named, options }: AppCall<Decoded>
): Answered<GatewayError> => {
  const ofRequest = exchange.headers
  const run = (keep: Keep | undefined): Answered<GatewayError> => {
    const keptAnswer = keep && keepingBody(keep, exchange, ofRequest)
    return Effect.map(
      gateway.completeWith(decoded.request, (completion) => endpoint.nonStreaming(completion, decoded), {
        ...options,
        keptAnswer
      }),
      (body) => jsonResponse(body, 200, exchange.headers)
    )
  }
  if (named === undefined) return run(undefined)
  // it goes on to its end when its client leaves, who can come back for the response
  return Effect.suspend(() => {
    const leave = exchange.stay()
    const running = Effect.ensuring(
      once(idempotency, named, { replay: (answer) => Effect.succeed(replayed(answer, ofRequest)), run }),
      Effect.sync(leave)
    )
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkDaemon(Effect.interruptible(running)), (fiber) => restore(Fiber.join(fiber)))
    )
  })
}
