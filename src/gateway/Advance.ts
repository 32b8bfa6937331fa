import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Data from "effect/Data"
import type { Candidate } from "../domain/Candidate.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import type { Failed } from "./Fallback.ts"

/** The candidate was not called: the money for it could not be held. */
export class Unaffordable extends Data.TaggedError("Unaffordable")<{ readonly candidate: Candidate }> {}

export type AttemptFailure = ProviderError | Unaffordable

export interface Limits {
  readonly fallbackEnabled: boolean
  /** Counts candidates, not retries. */
  readonly maxAttempts: number
}

/** A rate limit that ends within this time is waited for, when there is nobody else to ask. */
export const longestWaitMillis = 3_000

/**
 * What is left to try after a failure. The same route is tried once more only where nothing can have been processed, or
 * where it is the last and failed once with a 500 or a short rate limit; at most one such retry a request.
 */
export const advance =
  ({ fallbackEnabled, maxAttempts }: Limits) =>
  (
    failures: NonEmptyReadonlyArray<Failed<Candidate, AttemptFailure>>,
    rest: ReadonlyArray<Candidate>
  ): ReadonlyArray<Candidate> => {
    const last = failures[failures.length - 1] ?? failures[0]
    const tried = new Set(failures.filter(isAttempt).map((failed) => failed.candidate.model.id))
    const others = fallbackEnabled && tried.size < maxAttempts ? rest : []
    const { error, candidate } = last
    if (error._tag === "Unaffordable") return others
    if (!error.facts.mayFallBack) return []

    const attemptsHere = failures.filter(
      (failed) => isAttempt(failed) && failed.candidate.model.id === candidate.model.id
    )
    const retried = failures.filter(isAttempt).length > tried.size
    const again = !retried && attemptsHere.length === 1
    switch (error.reason._tag) {
      case "Unreachable":
        return again && (error.reason.detail === "reset-before-response" || others.length === 0)
          ? [candidate, ...others]
          : others
      case "ConnectTimeout":
        return again && others.length === 0 ? [candidate] : others
      case "ServerError":
        return again && others.length === 0 && error.reason.status === 500 ? [candidate] : others
      case "RateLimited":
        return again && others.length === 0 && endsSoon(error) ? [candidate] : others
      case "ContextLengthExceeded": {
        const tooSmall = candidate.model.contextTokens
        return tooSmall === null
          ? []
          : others.filter(({ model }) => model.contextTokens !== null && model.contextTokens > tooSmall)
      }
      case "RequestRejected":
        // it may have been that provider's own limit: one other provider is asked before the client is blamed
        return rejections(failures) > 1
          ? []
          : others.filter(({ model }) => model.providerId !== candidate.model.providerId)
      case "EmptyCompletion":
        return failures.filter((failed) => isAttempt(failed) && failed.error.reason._tag === "EmptyCompletion").length >
          1
          ? []
          : others
      default:
        return others
    }
  }

/** A server error is retried after a random part of this time, so that those who failed together do not return together. */
const longestBackOffMillis = 400

/** How long to wait before the same route is tried again after this error; `random` is from 0 to 1. */
export const backOffMillis = (error: ProviderError, random: number): number => {
  switch (error.reason._tag) {
    case "RateLimited":
      return error.reason.retryAfterMillis ?? 0
    case "ServerError":
      return random * longestBackOffMillis
    default:
      return 0
  }
}

const endsSoon = ({ retryAfterMillis }: ProviderError): boolean =>
  retryAfterMillis !== null && retryAfterMillis <= longestWaitMillis

type Attempted = Failed<Candidate, AttemptFailure> & { readonly error: ProviderError }

export const isAttempt = (failed: Failed<Candidate, AttemptFailure>): failed is Attempted =>
  failed.error instanceof ProviderError

const rejections = (failures: ReadonlyArray<Failed<Candidate, AttemptFailure>>): number =>
  failures.filter((failed) => isAttempt(failed) && failed.error.reason._tag === "RequestRejected").length
