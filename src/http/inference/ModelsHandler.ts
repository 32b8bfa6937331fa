import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type GatewayError, ModelNotFound, ServiceRefused } from "../../domain/GatewayError.ts"
import type { CallerModels } from "../../gateway/Admission.ts"
import { CallRunner } from "../../gateway/CallRunner.ts"
import { anthropicErrorBody } from "../../wire/ErrorBody.ts"
import { anthropicEntry, anthropicList } from "../../wire/models/AnthropicModelList.ts"
import { modelEntry, modelList } from "../../wire/models/ModelList.ts"
import type * as Errors from "../Errors.ts"
import { LoadShedding } from "../overload/LoadShedding.ts"
import { modelPrefix, routedPaths } from "../Paths.ts"
import { rateLimitHeaders } from "../RateLimitHeaders.ts"
import { jsonHeaders } from "../server/NodeResponse.ts"
import { answered, errorResponse, notAllowed } from "../server/RouterResponse.ts"
import { Security } from "./Security.ts"

/** The list depends on the caller and the requested shape; shared caches must not mix them. */
const listHeaders = { ...jsonHeaders, vary: "anthropic-version, authorization" }

/**
 * GET and HEAD of what is listed for the key; a request with an `anthropic-version` header, of any value, gets Anthropic's shape,
 * also of errors. The handler receives the list, the request's URL, and whether it is to be in that shape.
 */
const listed = (
  list: (models: CallerModels, url: string, asAnthropic: boolean) => Either.Either<string, GatewayError>
) =>
  Effect.gen(function* () {
    const calls = yield* CallRunner
    const loadShedding = yield* LoadShedding
    const security = yield* Security
    return Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const incoming = NodeHttpServerRequest.toIncomingMessage(request)
      const requestId = String(NodeHttpServerRequest.toServerResponse(request).getHeader("x-request-id") ?? "")
      const asAnthropic = request.headers["anthropic-version"] !== undefined
      const answer = Effect.gen(function* () {
        const caller = yield* security.authenticate(incoming)
        if (request.method !== "GET" && request.method !== "HEAD") return yield* notAllowed(request.method)
        if (loadShedding.rejects(caller.accountId)) return yield* new ServiceRefused({ reason: "overloaded" })
        const models = yield* calls.models(caller)
        const body = yield* list(models, incoming.url ?? "", asAnthropic)
        return HttpServerResponse.raw(body, {
          headers: {
            ...listHeaders,
            ...rateLimitHeaders(models.rateLimits),
            ...(asAnthropic ? { "request-id": requestId } : {})
          }
        })
      })
      return yield* answered(answer, asAnthropic ? (error) => anthropicError(error, requestId) : errorResponse)
    })
  })

/** GET /v1/models: the models that the key may use. */
export const models = listed(({ configurations, models }, url, asAnthropic) =>
  Either.right(
    asAnthropic
      ? anthropicList(models, configurations, queryOf(url))
      : modelList(models, configurations, routedPaths.listModels)
  )
)

/** GET /v1/models/{id}: one entry of the list. The slash of an id may be percent-encoded. */
export const model = listed(({ configurations, models }, url, asAnthropic) => {
  const id = idOf(url)
  const entry = asAnthropic
    ? anthropicEntry(models, configurations, id)
    : modelEntry(models, configurations, id, routedPaths.listModels)
  return entry === undefined ? Either.left(new ModelNotFound({ model: id })) : Either.right(entry)
})

/** Other paths do not come here; see `isRouted`. */
const idOf = (url: string): string => decodeURIComponent((url.split("?", 1)[0] ?? "").slice(modelPrefix.length))

const anthropicError = ({ error, headers, status }: Errors.HttpError, requestId: string) =>
  HttpServerResponse.raw(anthropicErrorBody(error, requestId), {
    status,
    headers: { ...jsonHeaders, ...headers, "request-id": requestId }
  })

const queryOf = (url: string): URLSearchParams =>
  new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?")) : "")
