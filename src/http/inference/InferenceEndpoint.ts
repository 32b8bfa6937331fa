import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Endpoint } from "../../domain/Call.ts"
import type { ChatRequest } from "../../domain/Chat.ts"
import { type GatewayError, InvalidRequest } from "../../domain/GatewayError.ts"
import type { ResponseStart } from "../../domain/ResponseStart.ts"
import type { StringLiterals } from "../../domain/StringLiterals.ts"
import type { Completion } from "../../gateway/CallProgram.ts"
import type { StreamEncoder } from "./StreamSink.ts"

export interface WithRequest {
  readonly request: ChatRequest
}

/** The differences between the formats; the rest of a call is the same program. */
export interface InferenceEndpoint<Decoded extends WithRequest> {
  readonly name: Endpoint
  readonly path: string
  readonly decode: (json: unknown, literals: StringLiterals | undefined) => Either.Either<Decoded, InvalidRequest>
  /** Response headers that depend on the request. */
  readonly headers: (decoded: Decoded) => Readonly<Record<string, string>>
  readonly nonStreaming: (completion: Completion, decoded: Decoded) => string
  readonly stream: (start: ResponseStart, decoded: Decoded, write: (frame: string) => boolean) => StreamEncoder
  /** The frame of a stream that keeps a silent connection alive. */
  readonly heartbeat: string
  /** Response headers of a request that cannot be decoded. */
  readonly headersOfRejected?: (json: unknown) => Readonly<Record<string, string>>
  /** The path of the client's body for one of the canonical request. */
  readonly paramOf?: (param: string, decoded: Decoded) => string
}

/** Headers of every answer to the request: also of errors, and of replays of earlier answers. */
export const headersOf = <Decoded extends WithRequest>(
  endpoint: InferenceEndpoint<Decoded>,
  decoded: Either.Either<Decoded, InvalidRequest>,
  json: unknown
): Readonly<Record<string, string>> =>
  Either.isRight(decoded) ? endpoint.headers(decoded.right) : (endpoint.headersOfRejected?.(json) ?? noHeaders)

const noHeaders: Readonly<Record<string, string>> = {}

/** Errors name fields as the client has sent them. */
export const located = <Decoded extends WithRequest, A, E extends GatewayError, R>(
  { paramOf }: InferenceEndpoint<Decoded>,
  decoded: Decoded,
  call: Effect.Effect<A, E, R>
): Effect.Effect<A, E | InvalidRequest, R> =>
  paramOf === undefined
    ? call
    : Effect.mapError(call, (error) => {
        if (error._tag !== "InvalidRequest" || error.param === null) return error
        const { attempts, code, message, param } = error
        return new InvalidRequest({
          code,
          message,
          param: paramOf(param, decoded),
          ...(attempts !== undefined && { attempts })
        })
      })
