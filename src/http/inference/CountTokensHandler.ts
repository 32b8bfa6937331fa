import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { AccountError } from "../../domain/AccountError.ts"
import type { GatewayError } from "../../domain/GatewayError.ts"
import { yieldIfLarge } from "../../wire/framing/LargeBody.ts"
import { decodeCount } from "../../wire/messages/MessagesRequest.ts"
import { webSearchIn } from "../../wire/responses/ResponsesTools.ts"
import { hasQuota, rateLimitHeaders } from "../RateLimitHeaders.ts"
import * as Body from "../server/Body.ts"
import { checkedIfLate } from "../server/LateBody.ts"
import * as NodeResponse from "../server/NodeResponse.ts"
import { droppedToolsHeader } from "./DroppedTools.ts"
import { failed, type InferenceDeps, methodOrDrainError, overloaded, type RunningCall } from "./InferenceHandler.ts"

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
    const authenticated = security.authenticate(request, format, requestId)
    const caller = yield* authenticated
    const error = methodOrDrainError(request, drain)
    if (error !== undefined) return yield* error
    if (!state.passedLoadShedding && loadShedding.rejects(caller.accountId)) return yield* overloaded
    const body = yield* checkedIfLate(Body.read(request), authenticated)
    yield* yieldIfLarge(body.bytes.length)
    const count = decodeCount(body.json)
    // from here on every answer names the hosted tools that do not count
    const dropped = Either.isRight(count) ? count.right.droppedTools : webSearchIn(body.json)
    exchange.requestHeaders = droppedToolsHeader(dropped)
    const decoded = yield* count
    const { rateLimits, tokens } = yield* calls.countTokens(caller, decoded.request)
    if (hasQuota(rateLimits)) exchange.earlyHeaders = rateLimitHeaders(rateLimits)
    NodeResponse.json(exchange, 200, JSON.stringify({ input_tokens: tokens }), exchange.requestHeaders)
  })
