import * as Effect from "effect/Effect"
import type { AccountError } from "../../domain/AccountError.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import { yieldIfLarge } from "../../wire/framing/LargeBody.ts"
import { decodeCount } from "../../wire/messages/MessagesRequest.ts"
import { hasQuota, rateLimitHeaders } from "../RateLimitHeaders.ts"
import * as Body from "../server/Body.ts"
import { bodyOfCaller } from "../server/LateBody.ts"
import * as NodeResponse from "../server/NodeResponse.ts"
import { headersOf } from "./InferenceEndpoint.ts"
import { failed, type InferenceDeps, methodOrDrainError, overloaded, type RunningCall } from "./InferenceHandler.ts"
import { messagesEndpoint } from "./MessagesEndpoint.ts"

/** POST /v1/messages/count_tokens: the gateway's own estimate of a prompt's tokens. No provider is asked, nothing is charged. */
export const countTokens =
  (deps: InferenceDeps) =>
  (exchange: NodeResponse.HttpExchange, state: RunningCall): Effect.Effect<void> =>
    Effect.catchAllCause(answer(deps, exchange, state), (cause) => failed(exchange, state, cause))

const answer = (
  { calls, drain, loadShedding, security }: InferenceDeps,
  exchange: NodeResponse.HttpExchange,
  state: RunningCall
): Effect.Effect<void, GatewayError | AccountError> =>
  Effect.gen(function* () {
    const { format, request, requestId } = exchange
    const authenticate = security.authenticate(request, format, requestId)
    const present = yield* authenticate
    const error = methodOrDrainError(request, drain)
    if (error !== undefined) return yield* error
    if (!state.passedLoadShedding && loadShedding.rejects(present.accountId)) return yield* overloaded
    const { body, caller } = yield* bodyOfCaller(present, Body.read(request), authenticate)
    yield* yieldIfLarge(body.bytes.length)
    const count = decodeCount(body.json)
    // from here on every answer names the hosted tools that do not count
    exchange.requestHeaders = headersOf(messagesEndpoint, count, body.json)
    const { rateLimits, tokens } = yield* calls.countTokens(caller, (yield* count).request)
    if (hasQuota(rateLimits)) exchange.earlyHeaders = rateLimitHeaders(rateLimits)
    NodeResponse.json(exchange, 200, JSON.stringify({ input_tokens: tokens }), exchange.requestHeaders)
  })
