import * as Http from "node:http"
import type * as Net from "node:net"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Idempotency } from "../../calls/Idempotency.ts"
import { IdGenerator, nextRequestId } from "../../domain/IdGenerator.ts"
import { Timers, type TimersShape } from "../../domain/Timers.ts"
import { CallRunner } from "../../gateway/CallRunner.ts"
import { withPort } from "../../identity/sessions/PublicUrl.ts"
import { isAccountPath } from "../account/AccountPaths.ts"
import { Dashboard } from "../dashboard/Dashboard.ts"
import * as Errors from "../Errors.ts"
import { chatEndpoint } from "../inference/ChatEndpoint.ts"
import { countTokens } from "../inference/CountTokensHandler.ts"
import type { InferenceDeps } from "../inference/InferenceHandler.ts"
import * as InferenceHandlers from "../inference/InferenceHandler.ts"
import { messagesEndpoint } from "../inference/MessagesEndpoint.ts"
import { PersonSecurity } from "../inference/PersonSecurity.ts"
import { responsesEndpoint } from "../inference/ResponsesEndpoint.ts"
import { Security } from "../inference/Security.ts"
import { unknownPath } from "../MeantPath.ts"
import { LoadShedding } from "../overload/LoadShedding.ts"
import { type InferenceName, inferencePaths, projectChatPath, projectOf } from "../Paths.ts"
import { accountRoute, isRouted, type RouteOptions, routes } from "../Routes.ts"
import { formatOf } from "../WireFormat.ts"
import * as Connection from "./Connection.ts"
import { Drain } from "./Drain.ts"
import { type InferenceHandler, InferenceRequests } from "./InferenceRequests.ts"
import * as NodeResponse from "./NodeResponse.ts"
import { pathLabel } from "./PathLabel.ts"
import { stopListening } from "./PortClosing.ts"
import { requestHeadError } from "./RequestHead.ts"
import * as RequestRuntime from "./RequestRuntime.ts"

export interface ServerOptions extends RouteOptions {
  readonly host: string
  readonly port: number
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
}

/** The server cannot listen on the address. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{
  readonly host: string
  readonly port: number
  readonly reason: string
}> {
  override get message(): string {
    const why = refusedAddress.get(this.reason) ?? `cannot be listened on (${this.reason})`
    return `the address ${withPort(this.host, this.port)} ${why}.`
  }
}

const unknownName = "has a name that is not known here: set HOST to an address of this machine"

const refusedAddress: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "is in use by another process: stop that one, or set another PORT"],
  ["ENOTFOUND", unknownName],
  ["EAI_AGAIN", unknownName],
  ["EADDRNOTAVAIL", "is not one of this machine: set HOST to one that is, or to 0.0.0.0 for all"],
  ["EACCES", "is not permitted to this user: set PORT to 1024 or more, or permit lower ports"]
])

/** The server and the address that it listens on. */
export class Server extends Context.Tag("gateway/http/Server")<Server, { readonly address: Net.AddressInfo }>() {
  static readonly layer = (options: ServerOptions) => Layer.scoped(this, serve(options))
}

/** Connection limits, enforced by node. */
const limits = {
  ServerResponse: Connection.OrderedResponse,
  noDelay: true,
  keepAliveTimeout: 65_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  maxHeaderSize: 16_384,
  // node's own answer to a request without one has neither an error nor a request id
  requireHostHeader: false,
  connectionsCheckingInterval: 5_000
} satisfies Http.ServerOptions<typeof Http.IncomingMessage, typeof Connection.OrderedResponse>
const backlog = 4_096

/** The router has no response for a longer parameter of a path, by default from 101 characters on: handlers judge all of them. */
const routerConfig = { maxParamLength: limits.maxHeaderSize }

const inferenceNames = Object.keys(inferencePaths) as ReadonlyArray<InferenceName>

/**
 * The HTTP listener: a request to a POST endpoint is one interruptible fiber, started directly from node's request event, because
 * the platform's router costs 100 to 145 us per request, more than the rest of the path; other requests use that router.
 */
const serve = Effect.fnUntraced(function* (options: ServerOptions) {
  const calls = yield* CallRunner
  const drain = yield* Drain
  const loadShedding = yield* LoadShedding
  const security = yield* Security
  const timers = yield* Timers
  const ids = yield* IdGenerator
  const dashboard = yield* Dashboard
  const deps: InferenceDeps = {
    calls,
    security,
    drain,
    loadShedding,
    idempotency: yield* Idempotency,
    timers,
    get headHoldMillis() {
      return options.headHoldMillis
    },
    get heartbeatMillis() {
      return options.heartbeatMillis
    }
  }
  const byName: { readonly [Name in InferenceName]: InferenceHandler } = {
    createChatCompletion: InferenceHandlers.make(chatEndpoint, deps),
    createResponse: InferenceHandlers.make(responsesEndpoint, deps),
    createMessage: InferenceHandlers.make(messagesEndpoint, deps),
    countMessageTokens: countTokens(deps)
  }
  const handlers: ReadonlyMap<string, InferenceHandler> = new Map(
    inferenceNames.map((name) => [inferencePaths[name], byName[name]])
  )
  const personal = InferenceHandlers.make(chatEndpoint, { ...deps, security: yield* PersonSecurity })
  const others = yield* NodeHttpServer.makeHandler(
    yield* Effect.provideService(
      HttpLayerRouter.toHttpEffect(routes(options)),
      HttpLayerRouter.RouterConfig,
      routerConfig
    )
  )
  const runtime = RequestRuntime.make(yield* Effect.runtime<never>(), loadShedding.turn)

  const requests = new InferenceRequests({ security, drain, loadShedding, timers, runtime })

  const route = ({ request, requestId, response }: NodeResponse.HttpExchange): void => {
    response.setHeader("x-request-id", requestId)
    response.setHeader("x-content-type-options", "nosniff")
    others(request, response)
  }

  const answer = (request: Http.IncomingMessage, response: Http.ServerResponse): void => {
    const path = pathOf(request.url ?? "/")
    const exchange = { request, response, requestId: nextRequestId(ids), format: formatOf(path) }
    if (drain.closesConnections()) response.setHeader("connection", "close")
    const fault = requestHeadError(request)
    const handler = handlers.get(path)
    if (fault === undefined && handler !== undefined) {
      requests.receive(path, handler, exchange)
      return
    }
    if (fault === undefined && projectOf(path) !== undefined) {
      requests.run(projectChatPath, personal, exchange, false)
      return
    }
    // those before are counted at the end of their fibers
    response.once("close", () => NodeResponse.count(pathLabel(path), response))
    if (fault !== undefined) NodeResponse.error(exchange, { ...Errors.of(fault), headers: { connection: "close" } })
    else if (isRouted(path)) route(exchange)
    else if (isAccountPath(path)) {
      const found = accountRoute(request.method ?? "", path)
      if (found === "routed") {
        // what it has begun to write is finished before the node stops
        response.once("close", drain.enter())
        route(exchange)
      } else NodeResponse.error(exchange, Errors.of(found))
    } else if (!dashboard.answer(exchange, path)) {
      NodeResponse.error(exchange, Errors.of(unknownPath(path)))
    }
  }

  const received: Http.RequestListener<typeof Http.IncomingMessage, typeof Connection.OrderedResponse> = (
    request,
    response
  ) => response.whenDue(() => answer(request, response))
  const server = Http.createServer(limits, received)
  // an expectation other than to continue, which `requestHeadError` rejects
  server.on("checkExpectation", received)
  server.on("connection", runtime.accepted)
  server.on("clientError", (error, socket) => Connection.reject(error, socket, () => nextRequestId(ids), timers))
  yield* Effect.acquireRelease(listen(server, options), () =>
    Effect.zipRight(
      drain.drain({ abort: calls.abort, stopListening: stopListening(server, timers) }),
      close(server, timers)
    )
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => requests.stop()))
  return { address: addressOf(server) }
})

const pathOf = (url: string): string => {
  const query = url.indexOf("?")
  return query < 0 ? url : url.slice(0, query)
}

const listen = (server: Http.Server, { host, port }: ServerOptions): Effect.Effect<void, ListenFailed> =>
  Effect.async((resume) => {
    const failed = (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new ListenFailed({ host, port, reason: error.code ?? error.message })))
    server.once("error", failed)
    server.listen({ host, port, backlog }, () => {
      server.off("error", failed)
      resume(Effect.void)
    })
  })

/** Closes idle keep-alive connections; connections with a running response are closed after its last byte. */
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

const addressOf = (server: Http.Server): Net.AddressInfo => {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("an HTTP server on TCP has an address")
  return address
}
