import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import type * as Utils from "effect/Utils"
import type { Candidate } from "../domain/Candidate.ts"
import type { CallFailure } from "../domain/GatewayError.ts"
import type { ProviderError } from "../domain/ProviderError.ts"
import type { TimersShape } from "../domain/Timers.ts"
import * as Estimate from "../ledger/Estimate.ts"
import type { HoldOption, LedgerShape } from "../ledger/Ledger.ts"
import type { HealthShape } from "../routing/Health.ts"
import type { RetryBudgetShape } from "../routing/RetryBudget.ts"
import { type AttemptFailure, advance, backOffMillis, longestWaitMillis, Unaffordable } from "./Advance.ts"
import type { AttemptOptions } from "./Attempt.ts"
import { type Deadlines, forCandidate } from "./Deadlines.ts"
import * as Failure from "./Failure.ts"
import * as Fallback from "./Fallback.ts"
import type { Meter } from "./Meter.ts"

export interface TrialDeps {
  readonly ledger: LedgerShape
  readonly health: HealthShape
  readonly retryBudget: RetryBudgetShape
  readonly timers: TimersShape
  readonly random: Utils.PCGRandom
  readonly deadlines: Deadlines
  /** Candidates that one call may try. */
  readonly maxAttempts: number
}

export interface Trial {
  /** Tries the candidates from the held one on; what is told of each failure goes to meter and health. */
  readonly firstOf: <A>(
    meter: Meter,
    attempt: (options: AttemptOptions) => Effect.Effect<A, ProviderError>
  ) => Effect.Effect<Fallback.First<A, Candidate, AttemptFailure>, CallFailure>
}

/** How one call goes through its candidates: holds, deadlines, waits, retries within their budget, and the final failure. */
export const make = (deps: TrialDeps): Trial => {
  const { deadlines, health, ledger, maxAttempts, random, retryBudget, timers } = deps

  const firstOf: Trial["firstOf"] = <A>(
    meter: Meter,
    attempt: (options: AttemptOptions) => Effect.Effect<A, ProviderError>
  ) => {
    const { admitted } = meter
    const { fallbackEnabled } = admitted.ranked
    const candidates = admitted.ranked.candidates.slice(meter.hold.option)
    let retry: { readonly candidate: Candidate; readonly millis: number } | undefined
    const endsAtMillis = admitted.startedAtMillis + deadlines.totalMillis

    const attempted = (candidate: Candidate, rest: ReadonlyArray<Candidate>): Effect.Effect<A, ProviderError> => {
      const tried = meter.latestAttempts.length
      meter.attempted(candidate)
      health.attempted(candidate.model)
      return attempt({
        call: {
          requestId: admitted.requestId,
          model: candidate.model,
          request: admitted.request,
          effort: candidate.effort,
          maxOutputTokens: Estimate.affordableOutputTokens(
            meter.hold.amount,
            admitted.measure,
            candidate.model,
            Estimate.outputCap(admitted.request, candidate.model, admitted.measure)
          ),
          dropped: candidate.dropped
        },
        deadlines: forCandidate(deadlines, candidate),
        endsAtMillis,
        acceptEmpty: rest.length === 0 || !fallbackEnabled || tried + 1 >= maxAttempts
      })
    }
    const run = (candidate: Candidate, rest: ReadonlyArray<Candidate>): Effect.Effect<A, AttemptFailure> => {
      const missing = unheld(meter, candidate)
      return missing === undefined
        ? attempted(candidate, rest)
        : Effect.flatMap(extended(meter, candidate, missing), () => attempted(candidate, rest))
    }
    const delayed = (candidate: Candidate, rest: ReadonlyArray<Candidate>): Effect.Effect<A, AttemptFailure> => {
      const millis = retry?.candidate === candidate ? retry.millis : 0
      return millis === 0 ? run(candidate, rest) : Effect.flatMap(sleep(millis), () => run(candidate, rest))
    }
    const sleep = (millis: number): Effect.Effect<void> =>
      Effect.async((resume) => {
        const cancel = timers.after(millis, () => resume(Effect.void))
        return Effect.sync(cancel)
      })
    const next = advance({ fallbackEnabled, maxAttempts })
    const start = ([first, ...others]: ReadonlyArray<Candidate>) => {
      if (first === undefined) return Effect.dieMessage("the hold names a candidate that was not ranked")
      retryBudget.called(first.model)
      return Fallback.firstOf([first, ...others], delayed, (failed, rest) => {
        const last = Arr.lastNonEmpty(failed)
        tell(meter, last)
        const left = withinBudget(next(failed, rest), last.candidate)
        if (last.error._tag !== "ProviderError" || left[0] !== last.candidate) return left
        const millis = backOffMillis(last.error, random.number())
        retry = { candidate: last.candidate, millis }
        return timers.now() + millis < endsAtMillis ? left : []
      })
    }
    // when every candidate rests, the soonest is waited for if that is short; else the best is tried rather than nobody
    const restMillis = Math.min(admitted.ranked.waitingUntilMillis ?? 0, endsAtMillis) - timers.now()
    const started =
      restMillis > 0 && restMillis <= longestWaitMillis
        ? Effect.flatMap(sleep(restMillis), () => start(readyFirst(candidates)))
        : start(candidates)
    return started.pipe(
      Effect.catchAll(({ failed }) => {
        const failure = Failure.ofFailures(failed, meter.latestAttempts)
        const last = failed.findLast((one) => one.error._tag === "ProviderError")?.error
        if (last?._tag === "ProviderError") {
          meter.end({ _tag: "Failed", status: last.facts.status, error: last.callError })
        }
        return Effect.fail(failure)
      })
    )
  }

  const readyFirst = (candidates: ReadonlyArray<Candidate>): ReadonlyArray<Candidate> => {
    const now = timers.now()
    const ready = candidates.filter((candidate) => health.of(candidate.model).restingUntilMillis <= now)
    return [...ready, ...candidates.filter((candidate) => !ready.includes(candidate))]
  }

  /** A second try of a route, or one at a route that rests, is only made while such tries are few. */
  const withinBudget = (left: ReadonlyArray<Candidate>, failed: Candidate): ReadonlyArray<Candidate> => {
    const first = left.findIndex(
      (candidate) =>
        (candidate !== failed && health.of(candidate.model).restingUntilMillis <= timers.now()) ||
        retryBudget.mayRetry(candidate.model)
    )
    return first < 0 ? [] : left.slice(first)
  }

  const tell = (meter: Meter, { candidate, error }: Fallback.Failed<Candidate, AttemptFailure>): void => {
    if (error._tag === "Unaffordable") return
    meter.failed(error)
    health.failed(candidate.model, error)
  }

  const extended = (meter: Meter, candidate: Candidate, option: HoldOption): Effect.Effect<void, Unaffordable> =>
    Effect.mapBoth(ledger.extend(meter.hold, option), {
      onFailure: () => new Unaffordable({ candidate }),
      onSuccess: (hold) => {
        meter.hold = hold
      }
    })

  return { firstOf }
}

/** What has to be held for the candidate where it is more than is held. */
const unheld = ({ admitted, hold }: Meter, candidate: Candidate): HoldOption | undefined => {
  const index = admitted.ranked.candidates.indexOf(candidate)
  const option = admitted.options[index]
  return option === undefined || index === hold.option || option.full <= hold.amount ? undefined : option
}
