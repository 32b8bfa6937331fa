import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import { type GatewayError, ServiceRefused } from "../../domain/GatewayError.ts"
import { CallRunner } from "../../gateway/CallRunner.ts"
import { anthropicErrorBody } from "../../wire/ErrorBody.ts"
import { anthropicList } from "../../wire/models/AnthropicModelList.ts"
import { modelList } from "../../wire/models/ModelList.ts"
import * as Errors from "../Errors.ts"
import { LoadShedding } from "../overload/LoadShedding.ts"
import { rateLimitHeaders } from "../RateLimitHeaders.ts"
import { jsonHeaders } from "../server/NodeResponse.ts"
import { errorResponse, notAllowed } from "../server/RouterResponse.ts"
import { Security } from "./Security.ts"

/** The list depends on the caller and the requested shape; shared caches must not mix them. */
const listHeaders = { ...jsonHeaders, vary: "anthropic-version, authorization" }

/**
 * GET /v1/models: the models that the key may use. A request with an `anthropic-version` header, of any value, gets Anthropic's
 * list shape and error shape.
 */
export const models = Effect.gen(function* () {
  const calls = yield* CallRunner
  const loadShedding = yield* LoadShedding
  const security = yield* Security
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const incoming = NodeHttpServerRequest.toIncomingMessage(request)
    const requestId = String(NodeHttpServerRequest.toServerResponse(request).getHeader("x-request-id") ?? "")
    const asAnthropic = request.headers["anthropic-version"] !== undefined
    const errorReply = (error: GatewayError) =>
      asAnthropic ? anthropicError(Errors.of(error), requestId) : errorResponse(Errors.of(error))

    return yield* Effect.gen(function* () {
      const caller = yield* security.authenticate(incoming)
      if (request.method !== "GET" && request.method !== "HEAD") return errorReply(notAllowed(request.method))
      if (loadShedding.rejects(caller.accountId)) return errorReply(new ServiceRefused({ reason: "overloaded" }))
      const listable = yield* calls.models(caller)
      return HttpServerResponse.raw(
        asAnthropic
          ? anthropicList(listable.models, listable.configurations, queryOf(request.url))
          : modelList(listable.models, listable.configurations),
        {
          headers: {
            ...listHeaders,
            ...rateLimitHeaders(listable.rateLimits),
            ...(asAnthropic ? { "request-id": requestId } : {})
          }
        }
      )
    }).pipe(Effect.catchAll((error) => Effect.succeed(errorReply(error))))
  })
})

const anthropicError = ({ error, headers, status }: Errors.HttpError, requestId: string) =>
  HttpServerResponse.raw(anthropicErrorBody(error, requestId), {
    status,
    headers: { ...jsonHeaders, ...headers, "request-id": requestId }
  })

const queryOf = (url: string): URLSearchParams =>
  new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?")) : "")
