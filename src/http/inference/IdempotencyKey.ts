import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import type { Begun, IdempotencyShape, KeptAnswer } from "../../calls/Idempotency.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import { type GatewayError, InvalidRequest } from "../../domain/GatewayError.ts"
import type { SealedAnswer } from "../../ledger/Ledger.ts"
import * as NodeResponse from "../server/NodeResponse.ts"

export interface IdempotentRequest {
  readonly exchange: NodeResponse.HttpExchange
  readonly caller: CallerShape
  readonly path: string
  readonly body: Buffer
}

/** The request has an `Idempotency-Key`, valid or not. */
export const hasIdempotencyKey = (request: IncomingMessage): boolean => request.headers["idempotency-key"] !== undefined

/** Seals the response that the settlement of the call is to keep; `undefined` where it is too large. */
export type Keep = (answer: KeptAnswer) => SealedAnswer | undefined

/**
 * Runs a request that has an `Idempotency-Key` at most once: `run` gets a function that seals the response for the settlement
 * of the call, which is replayed when the request is sent again. What has sealed nothing can be run again.
 */
export const withIdempotency = (
  idempotency: IdempotencyShape,
  attempted: IdempotentRequest,
  run: (keep: Keep) => Effect.Effect<void, GatewayError>
): Effect.Effect<void, GatewayError> => {
  const idempotencyKey = attempted.exchange.request.headers["idempotency-key"]
  if (typeof idempotencyKey !== "string" || !/^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(idempotencyKey)) {
    return Effect.fail(malformed)
  }
  const { body, caller, exchange, path } = attempted
  const { request, requestId } = exchange
  const apiKey = (request.headers.authorization ?? "").replace(/^bearer /i, "")
  return Effect.acquireUseRelease(
    Effect.map(
      idempotency.begin({ caller, apiKey, idempotencyKey, requestId, path, body }),
      (begun): { readonly begun: Begun; isKept: boolean } => ({ begun, isKept: false })
    ),
    (state) => {
      const { begun } = state
      if (begun._tag === "Replay") return Effect.sync(() => NodeResponse.replay(exchange, begun.answer))
      return run((answer) => {
        const sealed = begun.seal(answer)
        state.isKept = sealed !== undefined
        return sealed
      })
    },
    ({ begun, isKept }) =>
      begun._tag === "Replay"
        ? Effect.void
        : Effect.ensuring(isKept ? Effect.void : begun.release, Effect.sync(begun.ended))
  )
}

const malformed = new InvalidRequest({
  code: "invalid_value",
  message: "An Idempotency-Key must have 1 to 255 printable ASCII characters.",
  param: null
})
