import type { NonEmptyReadonlyArray } from "effect/Array"
import type { Attempt } from "../domain/Call.ts"
import { type InvalidCode, InvalidRequest, ProvidersFailed, ServiceRefused } from "../domain/GatewayError.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { SkippedCandidate } from "../domain/RouterMetadata.ts"
import { type CandidateFailed, isAttempt } from "./FallbackPolicy.ts"

/**
 * The error that the client gets when no candidate is left. Where the last provider blamed the request, so do we, with the first
 * such reason; everything else is the providers' failure.
 */
export const toCallFailure = (
  failures: NonEmptyReadonlyArray<CandidateFailed>,
  attempts: ReadonlyArray<Attempt>,
  skipped: ReadonlyArray<SkippedCandidate>
): InvalidRequest | ProvidersFailed | ServiceRefused => {
  const errors = failures.filter(isAttempt).map((failed) => failed.error)
  const last = errors.at(-1)
  if (last?.reason._tag === "Shutdown") return new ServiceRefused({ reason: "shutting_down" })
  if (last !== undefined && blames(last) !== undefined) {
    const first = errors.find((error) => blames(error) !== undefined) ?? last
    const { reason } = first
    return new InvalidRequest({
      code: blames(first) ?? "provider_rejected_request",
      message: first.callError.message ?? "The provider rejected the request.",
      param: reason._tag === "RequestRejected" ? reason.param : null,
      attempts
    })
  }
  return new ProvidersFailed({
    attempts,
    ...(skipped.length > 0 && { skipped }),
    retryAfterMillis: knownRetry(errors),
    ...(last?.reason._tag === "Stopped" && { endedBy: last.callError })
  })
}

const blames = (error: ProviderError): InvalidCode | undefined => {
  switch (error.reason._tag) {
    case "RequestRejected":
      return "provider_rejected_request"
    case "ContextLengthExceeded":
      return "context_length_exceeded"
    case "ContentPolicy":
      return "content_policy_violation"
    default:
      return undefined
  }
}

/** The soonest end of a rate limit, if every attempt ended in one and all of their ends are known. */
const knownRetry = (errors: ReadonlyArray<ProviderError>): number | null => {
  let soonest: number | null = null
  for (const { reason } of errors) {
    if (reason._tag !== "RateLimited" || reason.retryAfterMillis === null) return null
    soonest = soonest === null ? reason.retryAfterMillis : Math.min(soonest, reason.retryAfterMillis)
  }
  return soonest
}
