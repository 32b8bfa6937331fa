import { createServer } from "node:http"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { Timers, type TimersShape } from "../../../src/domain/Timers.ts"
import { Caller, HttpRoutesLayer } from "../../../src/index.ts"
import {
  MemoryIdempotency,
  MemoryLedger,
  ScriptedProvider,
  TestGateway,
  testModel
} from "../../../src/testing/index.ts"

const own = HttpApi.make("shop").add(
  HttpApiGroup.make("orders").add(HttpApiEndpoint.get("count", "/orders/count").addSuccess(Schema.Number))
)
const ownHandlers = HttpApiBuilder.group(own, "orders", (handlers) => handlers.handle("count", () => Effect.succeed(7)))

/** The application's own authentication: who may call, and who pays. */
const authentication = HttpLayerRouter.middleware<{ provides: Caller }>()((app) =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const isOurs = headers["authorization"] === "Bearer ours" || headers["x-api-key"] === "ours"
    if (!isOurs) return HttpServerResponse.text("who are you?", { status: 401 })
    return yield* Effect.provideService(app, Caller, TestGateway.testCaller)
  })
)

export interface RouteTestOptions {
  readonly creditMicroUsd?: number
  readonly prefix?: `/${string}`
  readonly headHoldMillis?: number
  readonly heartbeatMillis?: number
  readonly timers?: TimersShape
  /** Responses are kept for repetitions of their requests. */
  readonly isIdempotent?: boolean
}

/** The gateway over one scripted provider, and its routes beside those of the application. */
export const setUp = (script: ScriptedProvider.Script, options: RouteTestOptions = {}) =>
  Effect.gen(function* () {
    const timers = options.timers ?? Context.get(yield* Layer.build(Timers.layer), Timers)
    const provider = ScriptedProvider.make({ id: "one", timers, script: () => script })
    const plain = TestGateway.layer({
      timers,
      models: [testModel("one/m")],
      providers: [provider],
      ...(options.creditMicroUsd !== undefined && { creditMicroUsd: options.creditMicroUsd })
    })
    const idempotency: Layer.Layer<never, never, MemoryLedger> =
      options.isIdempotent === true ? MemoryIdempotency.layer : Layer.empty
    const gateway = Layer.provideMerge(idempotency, plain)
    const routes = Layer.mergeAll(
      HttpLayerRouter.addHttpApi(own).pipe(Layer.provide(ownHandlers)),
      HttpRoutesLayer({
        prefix: options.prefix ?? "/v1",
        drainGrace: "10 millis",
        heartbeatMillis: options.heartbeatMillis ?? 20,
        headHoldMillis: options.headHoldMillis ?? 60_000
      }).pipe(Layer.provide(authentication.layer))
    )
    return { gateway, provider, routes, timers }
  })

type TestServices = Layer.Layer.Success<ReturnType<typeof TestGateway.layer>>

/** The routes over a gateway, served on loopback until the end of the scope. */
export const servedOn = (
  routes: Effect.Effect.Success<ReturnType<typeof setUp>>["routes"],
  gateway: Layer.Layer<TestServices>
) =>
  Effect.gen(function* () {
    const app = HttpLayerRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
      Layer.provideMerge(gateway),
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
    const context = yield* Layer.build(app)
    const { address } = Context.get(context, HttpServer.HttpServer)
    const url = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`
    return { url, ledger: Context.get(context, MemoryLedger) }
  })

/** The application, served on loopback until `close` or the end of the scope. */
export const served = (script: ScriptedProvider.Script, options: RouteTestOptions = {}) =>
  Effect.gen(function* () {
    const { gateway, provider, routes } = yield* setUp(script, options)
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const { ledger, url } = yield* Scope.extend(servedOn(routes, gateway), scope)
    return { url, provider, close: Scope.close(scope, Exit.void), ledger }
  })

export const body = (more: object = {}) => ({ model: "one/m", messages: [{ role: "user", content: "Hi." }], ...more })
export const post = (url: string, json: unknown, headers: Record<string, string> = {}, path = "/v1/chat/completions") =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer ours", "content-type": "application/json", ...headers },
    body: typeof json === "string" ? json : JSON.stringify(json)
  })
