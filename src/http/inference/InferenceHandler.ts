import type { IncomingMessage } from "node:http"
import * as Headers from "@effect/platform/Headers"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { IdempotencyShape, Keep } from "../../calls/Idempotency.ts"
import type { AccountError } from "../../domain/AccountError.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import type { RequestBytes } from "../../domain/CallObserver.ts"
import { type GatewayError, InvalidRequest, ServiceRefused } from "../../domain/GatewayError.ts"
import type { RequestId } from "../../domain/Ids.ts"
import { nextTurn } from "../../domain/NextTurn.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import type { CallOptions } from "../../gateway/Admission.ts"
import type { CallRunnerShape } from "../../gateway/CallRunner.ts"
import * as Defects from "../../observe/Defects.ts"
import * as Spans from "../../observe/Spans.ts"
import { maxBytesInOneTurn } from "../../wire/framing/LargeBody.ts"
import * as Errors from "../Errors.ts"
import type { QueueEntry } from "../overload/AdmissionQueue.ts"
import type { LoadSheddingShape } from "../overload/LoadShedding.ts"
import { hasQuota, rateLimitHeaders } from "../RateLimitHeaders.ts"
import * as Body from "../server/Body.ts"
import type { DrainShape } from "../server/Drain.ts"
import { bodyOfCaller } from "../server/LateBody.ts"
import * as NodeResponse from "../server/NodeResponse.ts"
import type { WireFormat } from "../WireFormat.ts"
import { HttpSink } from "./HttpSink.ts"
import { hasIdempotencyKey, withIdempotency } from "./IdempotencyKey.ts"
import { headersOf, type InferenceEndpoint, located, type WithRequest } from "./InferenceEndpoint.ts"
import { keepingBody, keepingStream } from "./KeptAnswers.ts"

type HandlerError = GatewayError | AccountError

/** Authenticates by a project key, or a person in a project. */
export interface CallSecurity {
  readonly authenticate: (
    request: IncomingMessage,
    format: WireFormat,
    requestId: RequestId
  ) => Effect.Effect<CallerShape, GatewayError | AccountError>
}

export interface InferenceDeps {
  readonly calls: CallRunnerShape
  readonly security: CallSecurity
  readonly drain: DrainShape
  readonly loadShedding: LoadSheddingShape
  readonly idempotency: IdempotencyShape
  readonly timers: TimersShape
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
}

/** A decoded call of one endpoint, with everything that its response needs. */
interface DecodedCall<Decoded extends WithRequest> {
  readonly endpoint: InferenceEndpoint<Decoded>
  readonly deps: InferenceDeps
  readonly caller: CallerShape
  readonly decoded: Decoded
  readonly exchange: NodeResponse.HttpExchange
  readonly state: RunningCall
}

/** Handles a call from authentication to the last byte. Never fails: a call ends with a response or with a disconnected client. */
export const make =
  <Decoded extends WithRequest>(endpoint: InferenceEndpoint<Decoded>, deps: InferenceDeps) =>
  (exchange: NodeResponse.HttpExchange, state: RunningCall): Effect.Effect<void> =>
    Effect.catchAllCause(answer(endpoint, deps, exchange, state), (cause) => failed(exchange, state, cause))

const answer = <Decoded extends WithRequest>(
  endpoint: InferenceEndpoint<Decoded>,
  deps: InferenceDeps,
  exchange: NodeResponse.HttpExchange,
  state: RunningCall
): Effect.Effect<void, HandlerError> => {
  const authenticate = deps.security.authenticate(exchange.request, exchange.format, exchange.requestId)
  return Effect.flatMap(authenticate, (caller) => {
    const error = methodOrDrainError(exchange.request, deps.drain)
    if (error !== undefined) return Effect.fail(error)
    if (!state.passedLoadShedding && deps.loadShedding.rejects(caller.accountId)) return overloaded
    return Effect.flatMap(bodyOfCaller(caller, Body.read(exchange.request), authenticate), (received) =>
      decodedCall(endpoint, deps, exchange, state, received)
    )
  })
}

/** From the body on. */
const decodedCall = <Decoded extends WithRequest>(
  endpoint: InferenceEndpoint<Decoded>,
  deps: InferenceDeps,
  exchange: NodeResponse.HttpExchange,
  state: RunningCall,
  { body, caller }: { readonly body: Body.RequestBody; readonly caller: CallerShape }
): Effect.Effect<void, HandlerError> => {
  const entry = deps.loadShedding.enter(caller.accountId)
  state.queueEntry = entry
  if (entry.state === "rejected") return overloaded
  const decoded = (): Effect.Effect<void, HandlerError> => {
    const found = endpoint.decode(body.json, body.literals)
    // from here on every answer has the headers that depend on the request: also errors, and replays of earlier answers
    exchange.requestHeaders = headersOf(endpoint, found, body.json)
    if (Either.isLeft(found)) return Effect.fail(found.left)
    const call = { endpoint, deps, caller, decoded: found.right, exchange, state }
    return located(endpoint, found.right, once(call, body.bytes))
  }
  // decoding walks through the whole body again; the ledger hold comes between it and building the provider's body
  const isLarge = body.bytes.length > maxBytesInOneTurn
  if (entry.state === "admitted" && !isLarge) return decoded()
  const later = isLarge ? Effect.flatMap(nextTurn, decoded) : Effect.suspend(decoded)
  return entry.state === "admitted" ? later : Effect.zipRight(admission(entry), later)
}

/**
 * With an Idempotency-Key the call runs once, up to its end even if the client leaves, who can send the request again to get the
 * response. A running call keeps the body's bytes in memory only where it opts into data collection.
 */
const once = <Decoded extends WithRequest>(
  call: DecodedCall<Decoded>,
  bytes: Buffer
): Effect.Effect<void, GatewayError> => {
  const { caller, deps, endpoint, exchange, state } = call
  const body = bodyKept(call, bytes)
  if (!hasIdempotencyKey(exchange.request)) return run(call, body, undefined)
  state.outlivesClient = true
  return withIdempotency(deps.idempotency, { exchange, caller, path: endpoint.path, body: bytes }, (keep) =>
    run(call, body, keep)
  )
}

/** A collector of data may detach them at the end of the call: an ArrayBuffer that other requests share is copied. */
const bodyKept = <Decoded extends WithRequest>(
  { decoded, endpoint }: DecodedCall<Decoded>,
  bytes: Buffer
): RequestBytes | undefined => {
  // other formats are translated: what is collected is the translation
  if (!decoded.request.tokenDoctor || endpoint.name !== "chat") return undefined
  const { buffer } = bytes
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes)
}

const run = <Decoded extends WithRequest>(
  call: DecodedCall<Decoded>,
  body: RequestBytes | undefined,
  keep: Keep | undefined
): Effect.Effect<void, GatewayError> => {
  const { decoded, endpoint, exchange, state } = call
  const options: CallOptions = {
    requestId: exchange.requestId,
    endpoint: endpoint.name,
    clientRequestId: clientRequestId(exchange.request),
    body,
    onRateLimits: (status) => {
      if (hasQuota(status)) exchange.earlyHeaders = rateLimitHeaders(status)
    },
    onHeld: () => state.queueEntry?.prepared(),
    // no work of this node, and no sample of how long it takes
    onWaiting: () => state.queueEntry?.leave()
  }
  return withRemoteParent(
    exchange.request,
    decoded.request.stream ? streamed(call, options, keep) : nonStreaming(call, options, keep)
  )
}

/** Where calls are traced, a call belongs to the trace that its client names in `traceparent`. */
const withRemoteParent = <A, E>(request: IncomingMessage, call: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  const traceparent = request.headers["traceparent"]
  return typeof traceparent !== "string"
    ? call
    : Spans.whenTraced((isTraced) =>
        isTraced
          ? Option.match(HttpTraceContext.w3c(Headers.unsafeFromRecord({ traceparent })), {
              onNone: () => call,
              onSome: (span) => Effect.withParentSpan(call, span)
            })
          : call
      )
}

const nonStreaming = <Decoded extends WithRequest>(
  { caller, decoded, deps, endpoint, exchange }: DecodedCall<Decoded>,
  options: CallOptions,
  keep: Keep | undefined
): Effect.Effect<void, GatewayError> => {
  const headers = endpoint.headers(decoded)
  const keptAnswer = keep && keepingBody(keep, exchange, headers)
  return Effect.map(
    deps.calls.complete(caller, decoded.request, withKept(options, keptAnswer), (completion) =>
      endpoint.nonStreaming(completion, decoded)
    ),
    (body) => NodeResponse.json(exchange, 200, body, headers)
  )
}

/** A copy only where an answer is kept: with a member after a spread, V8 gives every object a hidden class of its own. */
const withKept = (options: CallOptions, keptAnswer: CallOptions["keptAnswer"]): CallOptions =>
  keptAnswer === undefined ? options : { ...options, keptAnswer }

const streamed = <Decoded extends WithRequest>(
  call: DecodedCall<Decoded>,
  options: CallOptions,
  keep: Keep | undefined
): Effect.Effect<void, GatewayError> =>
  Effect.suspend(() => {
    const headers = call.endpoint.headers(call.decoded)
    const sink = sinkOf(call, headers, keep !== undefined)
    call.state.sink = sink
    const keptAnswer = keep && keepingStream(keep, call.exchange, headers, sink)
    const relayed = call.deps.calls.relay(call.caller, call.decoded.request, sink, withKept(options, keptAnswer))
    return Effect.onExit(relayed, (exit) =>
      Effect.sync(() => {
        sink.deliver()
        if (!sink.headSent || Exit.isInterrupted(exit)) sink.dispose()
      })
    )
  })

const sinkOf = <Decoded extends WithRequest>(
  { decoded, deps, endpoint, exchange, state }: DecodedCall<Decoded>,
  headers: Readonly<Record<string, string>>,
  isKept: boolean
): HttpSink =>
  new HttpSink({
    exchange,
    timers: deps.timers,
    headers,
    headHoldMillis: deps.headHoldMillis,
    heartbeatMillis: deps.heartbeatMillis,
    heartbeat: endpoint.heartbeat,
    encoder: (start, write) => endpoint.stream(start, decoded, write),
    startBeforeResponse: {
      requestId: exchange.requestId,
      createdSeconds: Math.floor(deps.timers.now() / 1_000),
      model: decoded.request.model
    },
    abandon: () => state.abandon(),
    isKept
  })

export const failed = (
  exchange: NodeResponse.HttpExchange,
  state: RunningCall,
  cause: Cause.Cause<HandlerError>
): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (Cause.isInterruptedOnly(cause)) return Effect.void
    const failure = Cause.failureOption(cause)
    const httpError = failure._tag === "Some" ? Errors.of(failure.value) : Errors.internal
    if (state.sink?.headSent === true) {
      state.sink.failWith(httpError.error)
      state.sink.deliver()
    } else if (exchange.response.headersSent) exchange.response.destroy()
    else NodeResponse.error(exchange, httpError)
    return failure._tag === "Some" ? Effect.void : Defects.report(Defects.ofCall, cause)
  })

/** The state of a running call that the server needs to end the call from outside. */
export interface RunningCall {
  /** Load shedding has already accepted the call before its body is read. */
  readonly passedLoadShedding: boolean
  sink: HttpSink | undefined
  /** The call's entry in the admission queue; the server leaves the queue when the call ends. */
  queueEntry: QueueEntry | undefined
  /** The call goes on to its end when the client has disconnected. */
  outlivesClient: boolean
  /** Called when the client has disconnected or has stopped reading. */
  abandon: () => void
}

export const overloaded = Effect.fail(new ServiceRefused({ reason: "overloaded" }))

/** Has no canceller: the entry leaves the queue when the call ends. */
const admission = (entry: QueueEntry): Effect.Effect<void, ServiceRefused> =>
  Effect.async((resume) => {
    const decided = () => resume(entry.state === "admitted" ? Effect.void : overloaded)
    if (entry.state === "waiting") entry.decided = decided
    else decided()
  })

export const methodOrDrainError = (
  request: IncomingMessage,
  drain: DrainShape
): InvalidRequest | ServiceRefused | undefined => {
  if (request.method !== "POST") {
    return new InvalidRequest({
      code: "method_not_allowed",
      message: `${request.method ?? "This method"} is not allowed here; use POST.`,
      param: null
    })
  }
  return drain.isDraining() ? new ServiceRefused({ reason: "shutting_down" }) : undefined
}

/** A client's request id is only logged, and only if it is well formed. */
const clientRequestId = (request: IncomingMessage): string | null => {
  const given = request.headers["x-request-id"]
  return typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : null
}
