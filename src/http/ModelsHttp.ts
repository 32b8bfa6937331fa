import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import { Caller } from "../domain/Caller.ts"
import { type GatewayError, ServiceRefused } from "../domain/GatewayError.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { anthropicList } from "../wire/AnthropicModelList.ts"
import { anthropicErrorBody } from "../wire/ErrorBody.ts"
import { modelList } from "../wire/ModelList.ts"
import * as Errors from "./Errors.ts"
import { LoadShedding } from "./LoadShedding.ts"
import { jsonHeaders } from "./Responder.ts"
import { errorResponse, notAllowed } from "./RouteAnswers.ts"
import { Security } from "./Security.ts"

/** The list depends on who asks and in which shape; no shared cache may mix them up. */
const listHeaders = { ...jsonHeaders, vary: "anthropic-version, authorization" }

/**
 * GET /v1/models: what the key may use. A request that names a version of Anthropic's API, whichever, gets its list shape
 * and its error shape.
 */
export const models = HttpLayerRouter.use((router) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    const loadShedding = yield* LoadShedding
    const security = yield* Security
    const list = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const incoming = NodeHttpServerRequest.toIncomingMessage(request)
      const requestId = String(NodeHttpServerRequest.toServerResponse(request).getHeader("x-request-id") ?? "")
      const asAnthropic = request.headers["anthropic-version"] !== undefined
      const told = (error: GatewayError) =>
        asAnthropic ? anthropicError(Errors.of(error), requestId) : errorResponse(Errors.of(error))

      return yield* Effect.gen(function* () {
        const caller = yield* security.authenticate(incoming)
        if (request.method !== "GET" && request.method !== "HEAD") return told(notAllowed(request.method))
        if (loadShedding.refuses(caller.accountId)) return told(new ServiceRefused({ reason: "overloaded" }))
        const listable = yield* Effect.provideService(gateway.models, Caller, caller)
        return HttpServerResponse.raw(
          asAnthropic
            ? anthropicList(listable.models, listable.configurations, queryOf(request.url))
            : modelList(listable.models, listable.configurations),
          { headers: asAnthropic ? { ...listHeaders, "request-id": requestId } : listHeaders }
        )
      }).pipe(Effect.catchAll((error) => Effect.succeed(told(error))))
    })
    yield* router.add("*", "/v1/models", list)
  })
)

const anthropicError = ({ error, headers, status }: Errors.HttpError, requestId: string) =>
  HttpServerResponse.raw(anthropicErrorBody(error, requestId), {
    status,
    headers: { ...jsonHeaders, ...headers, "request-id": requestId }
  })

const queryOf = (url: string): URLSearchParams =>
  new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?")) : "")
