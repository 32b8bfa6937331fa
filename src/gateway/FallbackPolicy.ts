import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import type { Candidate } from "../domain/Candidate.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import { type Decision, delayBeforeRetry, type Failed, fallBackTo } from "./Fallback.ts"

/** The candidate was not called: the money for it could not be held. */
export class Unaffordable extends Data.TaggedError("Unaffordable")<{ readonly candidate: Candidate }> {}

export type AttemptFailure = ProviderError | Unaffordable

export type CandidateFailed = Failed<Candidate, AttemptFailure>

export interface FallbackOptions {
  /** Counts candidates, not retries. */
  readonly maxAttempts: number
  /** Milliseconds that are left of the call. */
  readonly remainingMillis: () => number
  /** Whether the retry budget and the circuit of its route allow this candidate now; `isRetry`: it has just failed. */
  readonly allows: (candidate: Candidate, isRetry: boolean) => boolean
}

/** A rate limit or an open circuit that ends within this time is waited for, when no other candidate is left. */
export const maxWaitMillis = 3_000

/** Before a server error is retried: a random part of this, so that calls that failed together do not return together. */
const maxBackOffMillis = 400

/** One retry of the same route, after the provider's own wait or a random back-off. */
const retrySchedule: Schedule.Schedule<readonly [ProviderError, number], ProviderError> =
  Schedule.identity<ProviderError>().pipe(
    Schedule.addDelayEffect(({ reason }) => {
      switch (reason._tag) {
        case "RateLimited":
          return Effect.succeed(Duration.millis(reason.retryAfterMillis ?? 0))
        case "ServerError":
          return Effect.map(Random.next, (random) => Duration.millis(random * maxBackOffMillis))
        default:
          return Effect.succeed(Duration.zero)
      }
    }),
    Schedule.intersect(Schedule.recurs(1))
  )

/**
 * What follows a failure. The same route is retried only where nothing can have been processed, or where it is the
 * last and failed once with a 500 or a short rate limit; at most one such retry a request, and none that would start after
 * the call's end.
 */
export const decide =
  (options: FallbackOptions) =>
  (
    failures: Arr.NonEmptyReadonlyArray<CandidateFailed>,
    rest: ReadonlyArray<Candidate>
  ): Effect.Effect<Decision<Candidate>> => {
    const { candidate, error } = Arr.lastNonEmpty(failures)
    const others = eligibleAfter(options, failures, rest)
    if (error._tag === "ProviderError" && isRetryable(error, failures, others) && options.allows(candidate, true)) {
      return Effect.map(delayBeforeRetry(retrySchedule, error), (delay) =>
        Option.isSome(delay) && Duration.toMillis(delay.value) < options.remainingMillis()
          ? { _tag: "Retry", delay: delay.value }
          : { _tag: "GiveUp" }
      )
    }
    const allowed = others.findIndex((other) => options.allows(other, false))
    return Effect.succeed(fallBackTo(allowed < 0 ? [] : others.slice(allowed)))
  }

/** The other candidates that may still be tried, given what the failures so far say about them. */
const eligibleAfter = (
  { maxAttempts }: FallbackOptions,
  failures: Arr.NonEmptyReadonlyArray<CandidateFailed>,
  rest: ReadonlyArray<Candidate>
): ReadonlyArray<Candidate> => {
  const { candidate, error } = Arr.lastNonEmpty(failures)
  if (areAllAttempted(maxAttempts, attemptedModels(failures))) return []
  if (error._tag === "Unaffordable") return rest
  if (!error.facts.mayFallBack) return []
  switch (error.reason._tag) {
    case "ContextLengthExceeded": {
      const tooSmall = candidate.model.contextTokens
      return tooSmall === null
        ? []
        : rest.filter(({ model }) => model.contextTokens !== null && model.contextTokens > tooSmall)
    }
    case "RequestRejected":
      // it may have been that provider's own limit: one other provider is asked before the client is blamed
      return countOf(failures, "RequestRejected") > 1
        ? []
        : rest.filter(({ model }) => model.providerId !== candidate.model.providerId)
    case "EmptyCompletion":
      return countOf(failures, "EmptyCompletion") > 1 ? [] : rest
    default:
      return rest
  }
}

const isRetryable = (
  { facts, reason, retryAfterMillis }: ProviderError,
  failures: ReadonlyArray<CandidateFailed>,
  others: ReadonlyArray<Candidate>
): boolean => {
  const models = attemptedModels(failures)
  const hasRetried = models.length > new Set(models).size
  if (hasRetried) return false
  const isLast = others.length === 0
  if (facts.notProcessed) return isLast || (reason._tag === "Unreachable" && reason.detail === "reset-before-response")
  switch (reason._tag) {
    case "ServerError":
      return isLast && reason.status === 500
    case "RateLimited":
      return isLast && retryAfterMillis !== null && retryAfterMillis <= maxWaitMillis
    default:
      return false
  }
}

type FailedAttempt = CandidateFailed & { readonly error: ProviderError }

export const isAttempt = (failed: CandidateFailed): failed is FailedAttempt => failed.error instanceof ProviderError

/** The model's id of each attempt, in order. */
const attemptedModels = (failures: ReadonlyArray<CandidateFailed>): ReadonlyArray<string> =>
  failures.filter(isAttempt).map(({ candidate }) => candidate.model.id)

/** After attempts at these models no further candidate may be tried. */
export const areAllAttempted = (maxAttempts: number, models: ReadonlyArray<string>): boolean =>
  new Set(models).size >= maxAttempts

const countOf = (failures: ReadonlyArray<CandidateFailed>, tag: ProviderError["reason"]["_tag"]): number =>
  failures.filter((failed) => isAttempt(failed) && failed.error.reason._tag === tag).length
