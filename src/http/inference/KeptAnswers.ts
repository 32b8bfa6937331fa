import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type { Keep, KeptAnswer } from "../../calls/Idempotency.ts"
import type { CallFailure } from "../../domain/GatewayError.ts"
import type { RequestId } from "../../domain/Ids.ts"
import type { SealedAnswer } from "../../ledger/Ledger.ts"
import * as Errors from "../Errors.ts"
import { jsonHeaders } from "../server/NodeResponse.ts"
import type { WireFormat } from "../WireFormat.ts"

/** What is kept at the end of a call: its response, or its failure after all of its providers failed. */
export const keeping =
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

export const keptOf = (status: number, headers: Readonly<Record<string, string>>, body: string): KeptAnswer => {
  const { "content-type": contentType = "", ...others } = headers
  return { status, contentType, headers: others, body: Buffer.from(body) }
}

export const keptError = (
  { format, requestId }: { readonly format: WireFormat; readonly requestId: RequestId },
  { error, headers, status }: Errors.HttpError,
  more: Readonly<Record<string, string>>
): KeptAnswer => keptOf(status, { ...jsonHeaders, ...headers, ...more }, format.errorBody(error, requestId))
