import type { IncomingMessage } from "node:http"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import type { IdempotencyShape, KeptAnswer } from "../calls/Idempotency.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { ChatRequest } from "../domain/Chat.ts"
import { type GatewayError, InvalidRequest, ServiceRefused } from "../domain/GatewayError.ts"
import type { TimersShape } from "../domain/Timers.ts"
import type { CallOptions } from "../gateway/Admission.ts"
import type { Completion, GatewayShape } from "../gateway/Gateway.ts"
import type { AnswerStart } from "../gateway/Relay.ts"
import * as Metrics from "../observe/Metrics.ts"
import { yieldIfLarge } from "../wire/LargeBody.ts"
import type { Place } from "./AdmissionQueue.ts"
import * as Body from "./Body.ts"
import type { DrainShape } from "./Drain.ts"
import * as Errors from "./Errors.ts"
import { HttpSink, type StreamEncoder, streamType } from "./HttpSink.ts"
import type { LoadSheddingShape } from "./LoadShedding.ts"
import { isNamed, once } from "./Once.ts"
import * as Responder from "./Responder.ts"
import type { SecurityShape } from "./Security.ts"

/** What chat completions and Responses differ in; everything else about a call is the same program. */
export interface Endpoint<Decoded extends { readonly request: ChatRequest }> {
  readonly name: "chat" | "responses"
  readonly path: string
  readonly decode: (json: unknown) => Either.Either<Decoded, InvalidRequest>
  /** Headers that the answer carries because of the request. */
  readonly headers: (decoded: Decoded) => Readonly<Record<string, string>>
  readonly plain: (completion: Completion, decoded: Decoded) => string
  readonly stream: (start: AnswerStart, decoded: Decoded, write: (frame: string) => boolean) => StreamEncoder
}

export interface CallDeps {
  readonly gateway: GatewayShape
  readonly security: SecurityShape
  readonly drain: DrainShape
  readonly loadShedding: LoadSheddingShape
  readonly idempotency: IdempotencyShape
  readonly timers: TimersShape
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
}

/** A call from its bearer to its last byte. It fails with nothing: every end is an answer, or a client that has left. */
export const make = <Decoded extends { readonly request: ChatRequest }>(
  endpoint: Endpoint<Decoded>,
  deps: CallDeps
) => {
  const { gateway, loadShedding, security, timers } = deps

  const answer = (exchange: Responder.Exchange, state: CallState): Effect.Effect<void, GatewayError> =>
    Effect.flatMap(security.authenticate(exchange.request), (caller) => {
      const refused = refusal(exchange.request, deps.drain)
      if (refused !== undefined) return Effect.fail(refused)
      if (!state.isLetIn && loadShedding.refuses(caller.accountId)) return overloaded
      return Effect.flatMap(Body.read(exchange.request), (body) => {
        const place = loadShedding.enter(caller.accountId)
        state.place = place
        const prepared = Effect.zipRight(
          // what follows walks through all of it once more; holding the money comes between that and the provider's body
          yieldIfLarge(body.bytes.length),
          Effect.suspend(() => prepare(caller, body, exchange, state))
        )
        if (place.state === "admitted") return prepared
        return place.state === "refused" ? overloaded : Effect.zipRight(turnOf(place), prepared)
      })
    })

  const prepare = (
    caller: CallerShape,
    body: Body.Body,
    exchange: Responder.Exchange,
    state: CallState
  ): Effect.Effect<void, GatewayError> =>
    Effect.flatMap(endpoint.decode(body.json), (decoded) => {
      const run = runner(caller, decoded, exchange, state)
      return isNamed(exchange.request)
        ? once(deps.idempotency, { exchange, caller, path: endpoint.path, body: body.bytes }, run)
        : run(undefined)
    })

  /** Apart from where the body is read, so that a running call does not keep the body's bytes in memory. */
  const runner =
    (caller: CallerShape, decoded: Decoded, exchange: Responder.Exchange, state: CallState) =>
    (keep: Keep): Effect.Effect<void, GatewayError> => {
      const options: CallOptions = {
        requestId: exchange.requestId,
        endpoint: endpoint.name,
        clientRequestId: clientRequestId(exchange.request),
        onHeld: () => state.place?.prepared()
      }
      return decoded.request.stream
        ? streamed(caller, decoded, options, exchange, state, keep)
        : plain(caller, decoded, options, exchange, keep)
    }

  const plain = (
    caller: CallerShape,
    decoded: Decoded,
    options: CallOptions,
    exchange: Responder.Exchange,
    keep: Keep
  ): Effect.Effect<void, GatewayError> =>
    Effect.map(
      gateway.completeFor(caller, decoded.request, options, (completion) => endpoint.plain(completion, decoded)),
      (body) => {
        keep?.({ contentType: Responder.jsonHeaders["content-type"], body: Buffer.from(body) })
        Responder.json(exchange, 200, body, endpoint.headers(decoded))
      }
    )

  const streamed = (
    caller: CallerShape,
    decoded: Decoded,
    options: CallOptions,
    exchange: Responder.Exchange,
    state: CallState,
    keep: Keep
  ): Effect.Effect<void, GatewayError> =>
    Effect.suspend(() => {
      const sink = sinkOf(exchange, decoded, state, keep)
      state.sink = sink
      return Effect.onExit(gateway.relayFor(caller, decoded.request, sink, options), (exit) =>
        Effect.sync(() => {
          if (!sink.headSent || Exit.isInterrupted(exit)) sink.dispose()
        })
      )
    })

  const sinkOf = (exchange: Responder.Exchange, decoded: Decoded, state: CallState, keep: Keep): HttpSink =>
    new HttpSink({
      exchange,
      timers,
      headers: endpoint.headers(decoded),
      headHoldMillis: deps.headHoldMillis,
      heartbeatMillis: deps.heartbeatMillis,
      encoder: (start, write) => endpoint.stream(start, decoded, write),
      unanswered: {
        requestId: exchange.requestId,
        createdSeconds: Math.floor(timers.now() / 1_000),
        model: decoded.request.model
      },
      abandon: () => state.abandon(),
      keep: keep === undefined ? undefined : (stream) => keep({ contentType: streamType, body: Buffer.from(stream) })
    })

  return (exchange: Responder.Exchange, state: CallState): Effect.Effect<void> =>
    Effect.catchAllCause(answer(exchange, state), (cause) =>
      Effect.suspend(() => {
        if (Cause.isInterruptedOnly(cause)) return Effect.void
        const failure = Cause.failureOption(cause)
        const told = failure._tag === "Some" ? Errors.of(failure.value) : Errors.internal
        if (state.sink?.headSent === true) state.sink.failWith(told.error)
        else if (exchange.response.headersSent) exchange.response.destroy()
        else Responder.error(exchange, told)
        if (failure._tag === "Some") return Effect.void
        Metrics.defect()
        return Effect.logError("a call ended in a defect", cause)
      })
    )
}

type Keep = ((answer: KeptAnswer) => void) | undefined

/** What the server needs to know of a running call to end it from outside. */
export interface CallState {
  /** It has been decided already that the call is not refused for overload before its body is read. */
  readonly isLetIn: boolean
  sink: HttpSink | undefined
  /** Among the calls that prepare; whoever runs the call leaves it when the call is over. */
  place: Place | undefined
  /** The client is gone, or as good as gone. */
  abandon: () => void
}

const overloaded = Effect.fail(new ServiceRefused({ reason: "overloaded" }))

/** Interrupted, it does nothing: the place is left with the call's end. */
const turnOf = (place: Place): Effect.Effect<void, ServiceRefused> =>
  Effect.async((resume) => {
    const decided = () => resume(place.state === "admitted" ? Effect.void : overloaded)
    if (place.state === "waiting") place.decided = decided
    else decided()
  })

const refusal = (request: IncomingMessage, drain: DrainShape): InvalidRequest | ServiceRefused | undefined => {
  if (request.method !== "POST") {
    return new InvalidRequest({
      code: "method_not_allowed",
      message: `${request.method ?? "This method"} is not allowed here; use POST.`,
      param: null
    })
  }
  return drain.isDraining() ? new ServiceRefused({ reason: "shutting_down" }) : undefined
}

/** A client's own id goes into the log if it is harmless there, and nowhere else. */
const clientRequestId = (request: IncomingMessage): string | null => {
  const given = request.headers["x-request-id"]
  return typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : null
}
