import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type { Keep, KeptAnswer } from "../../calls/Idempotency.ts"
import type { CallFailure } from "../../domain/GatewayError.ts"
import type { SealedAnswer } from "../../ledger/Ledger.ts"
import * as Errors from "../Errors.ts"
import { type HttpExchange, jsonHeaders } from "../server/NodeResponse.ts"
import { type StreamSink, streamHeaders } from "./StreamSink.ts"

type Headers = Readonly<Record<string, string>>
type Exchange = Pick<HttpExchange, "format" | "requestId">

/** A complete response is kept with its body. */
export const keepingBody = (keep: Keep, exchange: Exchange, headers: Headers) =>
  keeping(keep, {
    success: (body) => keptOf(200, { ...jsonHeaders, ...headers }, String(body)),
    failure: (error) => keptError(exchange, error, headers)
  })

/** A stream is kept with its frames; where it has not begun, with the error in its place. */
export const keepingStream = (keep: Keep, exchange: Exchange, headers: Headers, sink: StreamSink) => {
  const kept = () => (sink.kept === undefined ? undefined : keptOf(200, { ...streamHeaders, ...headers }, sink.kept))
  return keeping(keep, {
    success: kept,
    failure: (error) => {
      if (!sink.headSent) return keptError(exchange, error, headers)
      sink.failWith(error.error)
      return kept()
    }
  })
}

/** What is kept at the end of a call: its response, or its failure after all of its providers failed. */
const keeping =
  (
    keep: Keep,
    on: {
      readonly success: (value: unknown) => KeptAnswer | undefined
      readonly failure: (error: Errors.HttpError) => KeptAnswer | undefined
    }
  ) =>
  (exit: Exit.Exit<unknown, CallFailure>): SealedAnswer | undefined => {
    const answer = Exit.match(exit, {
      onSuccess: on.success,
      onFailure: (cause) => {
        const failure = Cause.failureOption(cause)
        const isFinal =
          failure._tag === "Some" && failure.value._tag === "ProvidersFailed" && failure.value.attempts.length > 0
        return isFinal ? on.failure(Errors.of(failure.value)) : undefined
      }
    })
    return answer && keep(answer)
  }

const keptOf = (status: number, headers: Headers, body: string): KeptAnswer => {
  const { "content-type": contentType = "", ...others } = headers
  return { status, contentType, headers: others, body: Buffer.from(body) }
}

const keptError = (
  { format, requestId }: Exchange,
  { error, headers, status }: Errors.HttpError,
  more: Headers
): KeptAnswer => keptOf(status, { ...jsonHeaders, ...headers, ...more }, format.errorBody(error, requestId))
