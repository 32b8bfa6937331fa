import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type IdempotencyShape, type Keep, once } from "../../calls/Idempotency.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import { type GatewayError, InvalidRequest } from "../../domain/GatewayError.ts"
import * as NodeResponse from "../server/NodeResponse.ts"

export interface IdempotentRequest {
  readonly exchange: NodeResponse.HttpExchange
  readonly caller: CallerShape
  readonly path: string
  readonly body: Buffer
}

/** The request has an `Idempotency-Key`, valid or not. */
export const hasIdempotencyKey = (request: IncomingMessage): boolean => request.headers["idempotency-key"] !== undefined

/** Runs a request that has an `Idempotency-Key` at most once; `run` as for `once`. */
export const withIdempotency = (
  idempotency: IdempotencyShape,
  attempted: IdempotentRequest,
  run: (keep: Keep) => Effect.Effect<void, GatewayError>
): Effect.Effect<void, GatewayError> => {
  const { body, caller, exchange, path } = attempted
  const { request, requestId } = exchange
  return Effect.flatMap(idempotencyKeyIn(request.headers["idempotency-key"]), (idempotencyKey) =>
    once(
      idempotency,
      { caller, idempotencyKey, requestId, path, body },
      { replay: (answer) => Effect.sync(() => NodeResponse.replay(exchange, answer)), run }
    )
  )
}

/** The Idempotency-Key of a header. */
export const idempotencyKeyIn = (given: unknown): Either.Either<string, InvalidRequest> =>
  typeof given === "string" && /^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(given)
    ? Either.right(given)
    : Either.left(malformed)

const malformed = new InvalidRequest({
  code: "invalid_value",
  message: "An Idempotency-Key must have 1 to 255 printable ASCII characters.",
  param: null
})
