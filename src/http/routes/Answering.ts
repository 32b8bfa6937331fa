import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { IdempotencyShape, IdempotentRequest, KeptAnswer } from "../../calls/Idempotency.ts"
import type { Caller } from "../../domain/Caller.ts"
import { type GatewayError, ServiceRefused } from "../../domain/GatewayError.ts"
import { nextRequestId } from "../../domain/IdGenerator.ts"
import type { RequestId } from "../../domain/Ids.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import type { CallOptions } from "../../gateway/Admission.ts"
import * as Defects from "../../observe/Defects.ts"
import type * as Errors from "../Errors.ts"
import type { InferenceEndpoint, WithRequest } from "../inference/InferenceEndpoint.ts"
import type { DrainShape } from "../server/Drain.ts"
import { jsonHeaders } from "../server/NodeResponse.ts"
import { answered } from "../server/RouterResponse.ts"
import type { WireFormat } from "../WireFormat.ts"
import type { RouteGateway } from "./RouteCalls.ts"

export interface AppDeps {
  readonly gateway: RouteGateway
  readonly drain: DrainShape
  readonly idempotency: IdempotencyShape
  readonly ids: Parameters<typeof nextRequestId>[0]
  readonly timers: TimersShape
  readonly headHoldMillis: number
  readonly heartbeatMillis: number
}

export type Headers = Readonly<Record<string, string>>
export type Answered<E> = Effect.Effect<HttpServerResponse.HttpServerResponse, E, Caller | Scope.Scope>

/** A request with what every answer to it has. */
export interface AppExchange {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly requestId: RequestId
  readonly format: WireFormat
  /** It is one running call to the drain until all functions that this has returned are called, each once. */
  readonly stay: () => () => void
  headers: Headers
}

/** A decoded call of one endpoint, with everything that its response needs. */
export interface AppCall<Decoded extends WithRequest> {
  readonly decoded: Decoded
  readonly endpoint: InferenceEndpoint<Decoded>
  readonly exchange: AppExchange
  readonly options: CallOptions
  /** Where the client has named it by an Idempotency-Key: it is run once. */
  readonly named: IdempotentRequest | undefined
}

/** A response of these routes; whatever fails becomes an error of the table. */
export type RouteHandler = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  Caller | HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Counts the request for the drain, gives it an id, and maps what fails. */
export const answering = (
  { drain, ids }: Pick<AppDeps, "drain" | "ids">,
  formatFor: (request: HttpServerRequest.HttpServerRequest) => WireFormat,
  answer: (exchange: AppExchange) => Answered<GatewayError>
): RouteHandler =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const exchange: AppExchange = {
      request,
      requestId: nextRequestId(ids),
      format: formatFor(request),
      stay: staying(drain),
      headers: {}
    }
    const response = Effect.gen(function* () {
      yield* Effect.acquireRelease(Effect.sync(exchange.stay), (leave) => Effect.sync(leave))
      if (drain.isDraining()) return yield* new ServiceRefused({ reason: "shutting_down" })
      // as the platform's routers have it: elsewhere a client that leaves would not end its call
      return yield* Effect.interruptible(answer(exchange))
    })
    return Effect.map(
      answered(response, (error) => errorResponse(exchange, error), Defects.ofCall),
      HttpServerResponse.setHeaders(requestIdHeaders(exchange))
    )
  })

/** Request, response and call of one exchange end at different times. */
const staying = ({ enter }: Pick<DrainShape, "enter">): AppExchange["stay"] => {
  let stays = 0
  let leave: (() => void) | undefined
  return () => {
    stays += 1
    leave ??= enter()
    return () => {
      stays -= 1
      if (stays > 0) return
      leave?.()
      leave = undefined
    }
  }
}

const requestIdHeaders = ({ format: { requestIdHeader }, requestId }: AppExchange): Headers => ({
  "x-request-id": requestId,
  ...(requestIdHeader !== undefined && { [requestIdHeader]: requestId })
})

const errorResponse = (
  { format, headers: ofRequest, requestId }: AppExchange,
  { error, headers, status }: Errors.HttpError
): HttpServerResponse.HttpServerResponse =>
  jsonResponse(format.errorBody(error, requestId), status, { ...ofRequest, ...headers })

export const jsonResponse = (body: string, status: number, headers: Headers): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(body, { status, headers: { ...jsonHeaders, ...headers }, contentType: "application/json" })

/** The response of an earlier request with the same Idempotency-Key. */
export const replayed = (
  { body, contentType, headers, status }: KeptAnswer,
  ofRequest: Headers
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.uint8Array(body, {
    status,
    contentType,
    headers: { ...ofRequest, ...headers, "idempotent-replayed": "true" }
  })
