import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { ApiKeys, Caller, encodeError, HttpRoutesLayer, httpErrorOf } from "model-routing-gateway"

/** The application authenticates as it likes; here by the gateway's own keys, which Anthropic's clients send as `x-api-key`. */
const authentication = HttpLayerRouter.middleware<{ provides: Caller }>()(
  Effect.map(
    ApiKeys,
    (keys) => (app) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, remoteAddress }) =>
        Effect.matchEffect(
          keys.authenticate(
            headers["authorization"] ?? `Bearer ${headers["x-api-key"] ?? ""}`,
            Option.getOrElse(remoteAddress, () => "")
          ),
          {
            onFailure: (error) => Effect.succeed(refused(error)),
            onSuccess: (caller) => Effect.provideService(app, Caller, caller)
          }
        )
      )
  )
)

const refused = (error: Parameters<typeof httpErrorOf>[0]) => {
  const { error: described, headers, status } = httpErrorOf(error)
  return HttpServerResponse.text(encodeError(described), { status, headers, contentType: "application/json" })
}

/** Chat completions, Responses, Messages and models under /ai, beside the other routes of the application. */
export const routes = HttpRoutesLayer({ prefix: "/ai", drainGrace: "10 seconds" }).pipe(
  Layer.provide(authentication.layer)
)

/**
 * As `HttpLayerRouter.serve`, with another order at the end: that takes its handler from the server before the routes drain, so that
 * a call that comes meanwhile has no answer, and the server waits for it.
 */
export const served = Layer.scopedDiscard(
  Effect.gen(function* () {
    const whileRouted = yield* Effect.acquireRelease(Scope.make(), Scope.close)
    yield* HttpServer.serveEffect(yield* Scope.extend(HttpLayerRouter.toHttpEffect(routes), whileRouted))
    // added last, run first: what comes while the routes drain is answered with 503
    yield* Effect.addFinalizer((exit) => Scope.close(whileRouted, exit))
  })
)
