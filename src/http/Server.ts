import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { Idempotency } from "../calls/Idempotency.ts"
import { UnknownPath } from "../domain/GatewayError.ts"
import { Ids, nextRequestId } from "../domain/Ids.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import { Gateway } from "../gateway/Gateway.ts"
import { type CallDeps, type CallState, make as makeCall } from "./CallHttp.ts"
import { chatEndpoint } from "./ChatEndpoint.ts"
import * as Connection from "./Connection.ts"
import { Drain } from "./Drain.ts"
import * as Errors from "./Errors.ts"
import { headerFault } from "./HeaderFault.ts"
import { LoadShedding } from "./LoadShedding.ts"
import { refuseOverloaded } from "./OverloadAnswer.ts"
import * as RequestRuntime from "./RequestRuntime.ts"
import * as Responder from "./Responder.ts"
import { responsesEndpoint } from "./ResponsesEndpoint.ts"
import { type RouteOptions, routedPaths, routes } from "./Routes.ts"
import { Security } from "./Security.ts"

export interface ServerOptions extends RouteOptions {
  readonly host: string
  readonly port: number
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
}

/** The address could not be listened on. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{
  readonly host: string
  readonly port: number
  readonly reason: string
}> {
  override get message(): string {
    const why = this.reason === "EADDRINUSE" ? "is in use by another process" : `cannot be listened on (${this.reason})`
    return `the address ${this.host}:${this.port} ${why}.`
  }
}

/** Where the server listens, once it does. */
export class Server extends Context.Tag("gateway/http/Server")<Server, { readonly address: AddressInfo }>() {
  static readonly layer = (options: ServerOptions) => Layer.scoped(this, serve(options))
}

/** Limits of the connection itself; what is beyond them is cut off by node. */
const limits = {
  ServerResponse: Connection.OrderedResponse,
  noDelay: true,
  keepAliveTimeout: 65_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  maxHeaderSize: 16_384,
  connectionsCheckingInterval: 5_000
} satisfies Http.ServerOptions<typeof Http.IncomingMessage, typeof Connection.OrderedResponse>
const backlog = 4_096

type Call = (exchange: Responder.Exchange, state: CallState) => Effect.Effect<void>

/**
 * Our own listener: the two POST endpoints are one interruptible fiber each, straight from node's request event, because
 * the platform's router costs more than everything else on their way; all else goes through that router.
 */
const serve = Effect.fnUntraced(function* (options: ServerOptions) {
  const gateway = yield* Gateway
  const drain = yield* Drain
  const loadShedding = yield* LoadShedding
  const security = yield* Security
  const timers = yield* Timers
  const ids = yield* Ids
  const deps: CallDeps = {
    gateway,
    security,
    drain,
    loadShedding,
    idempotency: yield* Idempotency,
    timers,
    headHoldMillis: options.headHoldMillis,
    heartbeatMillis: options.heartbeatMillis
  }
  const calls: ReadonlyMap<string, Call> = new Map([
    [chatEndpoint.path, makeCall(chatEndpoint, deps)],
    [responsesEndpoint.path, makeCall(responsesEndpoint, deps)]
  ])
  const others = yield* NodeHttpServer.makeHandler(yield* HttpLayerRouter.toHttpEffect(routes(options)))
  const runtime = RequestRuntime.make(yield* Effect.runtime<never>(), loadShedding.turn)

  /** Without a fiber: while the node is overloaded, most requests are refused. Undecided where the caller is not known yet. */
  const refusesUnread = (request: Http.IncomingMessage): boolean | undefined => {
    if (!loadShedding.isOverloaded()) return undefined
    const caller = security.remembered(request)
    return caller === undefined ? undefined : loadShedding.refuses(caller.accountId)
  }

  const run = (path: string, call: Call, exchange: Responder.Exchange, isLetIn: boolean) => {
    const { response } = exchange
    const leave = drain.enter()
    const state: CallState = { isLetIn, sink: undefined, place: undefined, abandon: () => response.destroy() }
    const fiber: Fiber.RuntimeFiber<void> = runtime.fork(exchange.requestId, call(exchange, state))
    fiber.addObserver(() => {
      leave()
      state.place?.leave()
      Responder.count(path, response)
    })
    response.on("close", () => {
      if (!response.writableFinished) fiber.unsafeInterruptAsFork(fiber.id())
    })
  }

  const answer = (request: Http.IncomingMessage, response: Http.ServerResponse): void => {
    const exchange = { request, response, requestId: nextRequestId(ids) }
    if (drain.isDraining()) response.setHeader("connection", "close")
    const fault = headerFault(request)
    const path = pathOf(request.url ?? "/")
    const call = calls.get(path)
    if (fault !== undefined) Responder.error(exchange, { ...Errors.of(fault), headers: { connection: "close" } })
    else if (call !== undefined) {
      const isRefused = refusesUnread(request)
      if (isRefused === true) {
        response.once(
          "close",
          loadShedding.refuse(() => refuseOverloaded(exchange, path))
        )
      } else run(path, call, exchange, isRefused === false)
    } else if (routedPaths.has(path)) {
      response.setHeader("x-request-id", exchange.requestId)
      response.setHeader("x-content-type-options", "nosniff")
      others(request, response)
    } else Responder.error(exchange, Errors.of(new UnknownPath({ path })))
  }

  const server = Http.createServer(limits, (request, response) => response.whenDue(() => answer(request, response)))
  server.on("connection", runtime.accepted)
  server.on("clientError", (error, socket) => Connection.refuse(error, socket, () => nextRequestId(ids), timers))
  yield* Effect.acquireRelease(listen(server, options), () =>
    Effect.zipRight(drain.drain(gateway.abort), close(server, timers))
  )
  return { address: addressOf(server) }
})

const pathOf = (url: string): string => {
  const query = url.indexOf("?")
  return query < 0 ? url : url.slice(0, query)
}

const listen = (server: Http.Server, { host, port }: ServerOptions): Effect.Effect<void, ListenFailed> =>
  Effect.async((resume) => {
    const refused = (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new ListenFailed({ host, port, reason: error.code ?? error.message })))
    server.once("error", refused)
    server.listen({ host, port, backlog }, () => {
      server.off("error", refused)
      resume(Effect.void)
    })
  })

/** Idle keep-alive connections are ended; those that still answer get until the last byte is out. */
const close = (server: Http.Server, timers: TimersShape): Effect.Effect<void> =>
  Effect.async((resume) => {
    const cancel = timers.after(closeMillis, () => server.closeAllConnections())
    server.close(() => {
      cancel()
      resume(Effect.void)
    })
    server.closeIdleConnections()
  })
const closeMillis = 1_000

const addressOf = (server: Http.Server): AddressInfo => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("an HTTP server on TCP has an address")
  return address
}
