import { IncomingMessage } from "node:http"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Caller } from "../../domain/Caller.ts"
import type { ChatRequest } from "../../domain/Chat.ts"
import { type CallFailure, type GatewayError, InvalidRequest, ServiceRefused } from "../../domain/GatewayError.ts"
import { nextRequestId } from "../../domain/IdGenerator.ts"
import type { RequestId } from "../../domain/Ids.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import type { CallOptions } from "../../gateway/Admission.ts"
import type { GatewayShape } from "../../gateway/Gateway.ts"
import * as Metrics from "../../observe/Metrics.ts"
import { errorBody } from "../../wire/ErrorBody.ts"
import { heartbeat } from "../../wire/framing/Sse.ts"
import * as Errors from "../Errors.ts"
import { streamHeaders } from "../inference/HttpSink.ts"
import type { InferenceEndpoint } from "../inference/InferenceHandler.ts"
import { rateLimitHeaders } from "../RateLimitHeaders.ts"
import * as Body from "../server/Body.ts"
import type { DrainShape } from "../server/Drain.ts"
import { jsonHeaders } from "../server/NodeResponse.ts"
import { StreamedBody } from "./StreamedBody.ts"

export interface AppDeps {
  readonly gateway: GatewayShape
  readonly drain: DrainShape
  readonly ids: Parameters<typeof nextRequestId>[0]
  readonly timers: TimersShape
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
}

type Headers = Readonly<Record<string, string>>
type Answered<E> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, Caller | Scope.Scope>

/** A response of these routes; whatever fails becomes an error of the table. */
export type RouteHandler = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  Caller | HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** A POST endpoint for the platform's routers. */
export const post = <Decoded extends { readonly request: ChatRequest }>(
  endpoint: InferenceEndpoint<Decoded>,
  deps: AppDeps
): RouteHandler =>
  answering(deps, (requestId, request) =>
    Effect.gen(function* () {
      if (request.headers["idempotency-key"] !== undefined) return yield* noIdempotency
      const { json } = yield* Body.readStream({ headers: contentHeaders(request.headers), stream: request.stream })
      const decoded = yield* endpoint.decode(json)
      const rateLimits: { headers: Headers } = { headers: {} }
      const options: CallOptions = {
        requestId,
        endpoint: endpoint.name,
        clientRequestId: null,
        onRateLimits: (status) => {
          rateLimits.headers = rateLimitHeaders(status)
        }
      }
      const call = {
        decoded,
        endpoint,
        options,
        headers: () => ({ ...rateLimits.headers, ...endpoint.headers(decoded) })
      }
      return yield* decoded.request.stream ? streamed(deps, call, request) : complete(deps, call)
    })
  )

/** Counts the request for the drain, gives it an id, and maps what fails. */
export const answering = (
  { drain, ids }: AppDeps,
  answer: (requestId: RequestId, request: HttpServerRequest.HttpServerRequest) => Answered<GatewayError>
): RouteHandler =>
  Effect.suspend(() => {
    const requestId = nextRequestId(ids)
    const answered = Effect.gen(function* () {
      yield* Effect.acquireRelease(Effect.sync(drain.enter), (leave) => Effect.sync(leave))
      if (drain.isDraining()) return yield* new ServiceRefused({ reason: "shutting_down" })
      return yield* answer(requestId, yield* HttpServerRequest.HttpServerRequest)
    })
    return Effect.map(Effect.catchAllCause(answered, failed), HttpServerResponse.setHeader("x-request-id", requestId))
  })

const failed = (cause: Cause.Cause<GatewayError>): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
  const failure = Cause.failureOption(cause)
  if (failure._tag === "Some") return Effect.succeed(errorResponse(Errors.of(failure.value)))
  Metrics.defect()
  return Effect.as(Effect.logError("a call ended in a defect", cause), errorResponse(Errors.internal))
}

const errorResponse = ({ error, headers, status }: Errors.HttpError): HttpServerResponse.HttpServerResponse =>
  jsonResponse(errorBody(error), status, headers)

export const jsonResponse = (body: string, status: number, headers: Headers): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(body, { status, headers: { ...jsonHeaders, ...headers }, contentType: "application/json" })

/** Whoever sends the header relies on it: a call that would run twice is refused. */
const noIdempotency = new InvalidRequest({
  code: "unsupported_parameter",
  message: "Idempotency-Key is not supported here.",
  param: null
})

interface DecodedCall<Decoded extends { readonly request: ChatRequest }> {
  readonly decoded: Decoded
  readonly endpoint: InferenceEndpoint<Decoded>
  readonly options: CallOptions
  readonly headers: () => Headers
}

const complete = <Decoded extends { readonly request: ChatRequest }>(
  { gateway }: AppDeps,
  { decoded, endpoint, headers, options }: DecodedCall<Decoded>
): Answered<CallFailure> =>
  Effect.map(
    gateway.completeWith(decoded.request, (completion) => endpoint.nonStreaming(completion, decoded), options),
    (body) => jsonResponse(body, 200, headers())
  )

/**
 * The call runs on a fiber of its own, which the end of the response or of the request interrupts. The response begins with the
 * first content, or once its head was held for long enough; a failure before has a status of its own.
 */
const streamed = <Decoded extends { readonly request: ChatRequest }>(
  { drain, gateway, headHoldMillis, heartbeatMillis, timers }: AppDeps,
  { decoded, endpoint, headers, options }: DecodedCall<Decoded>,
  request: HttpServerRequest.HttpServerRequest
): Answered<CallFailure> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const head = yield* Deferred.make<void, CallFailure>()
      let running: Fiber.RuntimeFiber<void, CallFailure> | undefined
      // the response goes on after its handler: the drain waits for its end
      const leave = drain.enter()
      const body = new StreamedBody({
        timers,
        headHoldMillis,
        heartbeatMillis,
        heartbeat,
        encoder: (start, write) => endpoint.stream(start, decoded, write),
        startBeforeResponse: {
          requestId: options.requestId,
          createdSeconds: Math.floor(timers.now() / 1_000),
          model: decoded.request.model
        },
        opened: () => Deferred.unsafeDone(head, Exit.void),
        closed: () => {
          leave()
          running?.unsafeInterruptAsFork(running.id())
        }
      })
      const log = yield* defectLog
      running = yield* Effect.forkDaemon(restore(gateway.relay(decoded.request, body, options)))
      running.addObserver((exit) => {
        if (Exit.isSuccess(exit)) return
        if (!body.headSent) {
          body.stop()
          body.readable.destroy()
          Deferred.unsafeDone(head, Exit.failCause(exit.cause))
        } else endWith(body, exit.cause, log)
      })
      // a response that is never read, and one whose client has left before it began
      yield* Effect.addFinalizer(() => Effect.sync(() => running?.unsafeInterruptAsFork(running.id())))
      yield* restore(Deferred.await(head))
      return responseOf(request, body, { ...streamHeaders, ...headers() })
    })
  )

const endWith = (
  body: StreamedBody,
  cause: Cause.Cause<CallFailure>,
  log: (cause: Cause.Cause<unknown>) => void
): void => {
  if (Cause.isInterruptedOnly(cause)) {
    body.cutOff(new Error("the call was interrupted"))
    return
  }
  const failure = Cause.failureOption(cause)
  if (failure._tag === "None") log(cause)
  body.failWith((failure._tag === "Some" ? Errors.of(failure.value) : Errors.internal).error)
}

/**
 * On Node.js a readable, whose destruction resets the connection; elsewhere a stream, whose failure the web's streams carry to the
 * server by themselves.
 */
const responseOf = (
  { source }: HttpServerRequest.HttpServerRequest,
  { readable }: StreamedBody,
  headers: Headers
): HttpServerResponse.HttpServerResponse =>
  source instanceof IncomingMessage
    ? HttpServerResponse.raw(readable, { status: 200, headers })
    : HttpServerResponse.stream(
        Stream.fromAsyncIterable<Uint8Array, unknown>(readable, (error) => error),
        { status: 200, headers, contentType: headers["content-type"] ?? "" }
      )

/** What must not happen is logged where the call was made. */
const defectLog: Effect.Effect<(cause: Cause.Cause<unknown>) => void> = Effect.map(
  Effect.runtime<never>(),
  (runtime) => (cause) => {
    Metrics.defect()
    Runtime.runFork(runtime)(Effect.logError("a call ended in a defect", cause))
  }
)

const contentHeaders = (headers: Headers) => ({
  "content-type": headers["content-type"],
  "content-encoding": headers["content-encoding"],
  "content-length": headers["content-length"]
})
