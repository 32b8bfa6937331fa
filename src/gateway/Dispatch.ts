import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { NextStep } from "../domain/CallObserver.ts"
import type { Candidate } from "../domain/Candidate.ts"
import type { CallFailure } from "../domain/GatewayError.ts"
import { microUsd } from "../domain/Money.ts"
import { ProviderError } from "../domain/ProviderError.ts"
import * as Estimate from "../ledger/Estimate.ts"
import type { HoldOption, LedgerShape } from "../ledger/Ledger.ts"
import type { CallSpans } from "../observe/CallSpans.ts"
import * as Spans from "../observe/Spans.ts"
import type { HealthShape } from "../routing/Health.ts"
import type { RetryBudgetShape } from "../routing/RetryBudget.ts"
import { callable } from "./Admission.ts"
import { type AttemptDeps, type AttemptOptions, type Opened, open } from "./Attempt.ts"
import type { Call } from "./Call.ts"
import { toCallFailure } from "./CallFailures.ts"
import type { OutputLimit } from "./CallState.ts"
import { type Deadlines, forCandidate, totalMillis, willReason } from "./Deadlines.ts"
import * as Fallback from "./Fallback.ts"
import {
  type AttemptFailure,
  areAllAttempted,
  type CandidateFailed,
  decide,
  maxWaitMillis,
  Unaffordable
} from "./FallbackPolicy.ts"
import { smallestOption } from "./HoldOptions.ts"

export interface DispatchDeps extends AttemptDeps {
  readonly ledger: LedgerShape
  readonly health: HealthShape
  readonly retryBudget: RetryBudgetShape
  readonly deadlines: Deadlines
  readonly spans: CallSpans
  /** Candidates that one call may try. */
  readonly maxAttempts: number
}

/** Opens the first candidate that answers, from the held one on: extends holds, retries, falls back, or fails the call. */
export const dispatch = (
  deps: DispatchDeps,
  call: Call,
  until: AttemptOptions["until"]
): Effect.Effect<Fallback.First<Opened, Candidate, AttemptFailure>, CallFailure> =>
  Effect.suspend(() => {
    const held = heldCandidates(call)
    const waitMillis = waitUntilClosed(deps, call)
    const opened =
      waitMillis > 0
        ? Effect.flatMap(pause(deps, call, waitMillis), () => {
            const [first, ...others] = closedFirst(deps, [held.first, ...held.others()])
            return firstOf(deps, call, { first, hasOthers: others.length > 0, others: () => others }, until)
          })
        : firstOf(deps, call, held, until)
    return Effect.catchAll(opened, ({ failed }) => Effect.fail(ended(call, failed)))
  })

const firstOf = (
  deps: DispatchDeps,
  call: Call,
  { first, hasOthers, others }: Queue,
  until: AttemptOptions["until"]
): Effect.Effect<Fallback.First<Opened, Candidate, AttemptFailure>, Fallback.Exhausted<Candidate, AttemptFailure>> => {
  deps.retryBudget.called(first.model)
  const decided = decideOf(deps, call)
  return Fallback.firstOf(
    [first],
    (candidate, rest) => attempted(deps, call, candidate, candidate === first ? !hasOthers : rest.length === 0, until),
    (failed, rest) => {
      const { candidate, error } = Arr.lastNonEmpty(failed)
      if (error._tag === "ProviderError") call.attemptFailed(error)
      else call.unaffordable(error.candidate)
      return Effect.tap(decided(failed, candidate === first ? others() : rest), (decision) =>
        Effect.sync(() => call.decided(nextStep(decision)))
      )
    },
    (delay) => pause(deps, call, delay)
  )
}

/** Nothing is open meanwhile. An abort ends it, and then the attempt that follows. */
const pause = ({ timers }: DispatchDeps, call: Call, delay: Duration.DurationInput): Effect.Effect<void> =>
  Effect.async((resume) => {
    const end = () => {
      cancel()
      resume(Effect.void)
    }
    const cancel = timers.after(Duration.toMillis(delay), end)
    call.own({ close: cancel, fail: end })
    return Effect.sync(cancel)
  })

const nextStep = (decision: Fallback.Decision<Candidate>): NextStep =>
  decision._tag === "FallBack" ? { _tag: "FallBack", model: decision.to[0].model } : { _tag: decision._tag }

/** The candidates in the order in which they are tried. Those after the first are made when it has failed. */
interface Queue {
  readonly first: Candidate
  readonly hasOthers: boolean
  readonly others: () => ReadonlyArray<Candidate>
}

/** From the one that the hold is for; last those before it of which a shorter answer can be paid for. */
const heldCandidates = ({ admitted, hold }: Call): Queue => {
  const candidates = callable(admitted.ranked)
  const rank = admitted.holdOptions.candidateOf(hold.option)
  const first = candidates.at(rank)
  if (first === undefined) throw new Error("the hold names a candidate that was not ranked")
  const { measure, request } = admitted
  const passedOver = rank === 0 ? [] : candidates.all().slice(0, rank)
  const shortened = passedOver.filter(
    (candidate) => smallestOption(measure, request, candidate).min <= hold.amount + hold.room
  )
  return {
    first,
    hasOthers: rank + 1 < candidates.size || shortened.length > 0,
    others: () => [...candidates.all().slice(rank + 1), ...shortened]
  }
}

/** When every circuit is open, the first to close is waited for if that is soon; otherwise the best candidate is tried. */
const waitUntilClosed = (deps: DispatchDeps, call: Call): number => {
  const untilMillis = Math.min(call.admitted.ranked.openUntilMillis ?? 0, endsAtMillis(deps, call))
  const waitMillis = untilMillis - deps.timers.now()
  return waitMillis <= maxWaitMillis ? waitMillis : 0
}

const closedFirst = (
  deps: DispatchDeps,
  candidates: Arr.NonEmptyReadonlyArray<Candidate>
): Arr.NonEmptyReadonlyArray<Candidate> => {
  const [open, closed] = Arr.partition(candidates, (candidate) => isClosed(deps, candidate))
  const ordered = [...closed, ...open]
  return Arr.isNonEmptyReadonlyArray(ordered) ? ordered : candidates
}

const isClosed = ({ health, timers }: DispatchDeps, { credential, model }: Candidate): boolean =>
  health.of(model, credential?.id).openUntilMillis <= timers.now()

/** When the call ends at the latest. */
export const endsAtMillis = ({ deadlines }: DispatchDeps, { admitted }: Pick<Call, "admitted">): number =>
  admitted.startedAtMillis + totalMillis(deadlines, admitted.holdOptions.maxOutputTokens)

const decideOf = (deps: DispatchDeps, call: Call) =>
  decide({
    maxAttempts: deps.maxAttempts,
    remainingMillis: () => endsAtMillis(deps, call) - deps.timers.now(),
    allows: (candidate, isRetry) =>
      (!isRetry && isClosed(deps, candidate)) || deps.retryBudget.mayRetry(candidate.model)
  })

/** One attempt, with enough held for it. */
const attempted = (
  deps: DispatchDeps,
  call: Call,
  candidate: Candidate,
  isOnly: boolean,
  until: AttemptOptions["until"]
): Effect.Effect<Opened, AttemptFailure> => {
  const missing = unheld(call, candidate)
  if (missing === undefined) return openAttempt(deps, call, candidate, isOnly, until)
  if (!call.mayAskFor(missing)) return Effect.fail(new Unaffordable({ candidate }))
  const extended = deps.ledger.extend(call.hold, missing)
  return Effect.matchEffect(Spans.span(call.isTraced, "gateway.ledger.extend", Spans.noAttributes, extended), {
    onFailure: (error) => {
      call.unextended(error, missing)
      return Effect.fail(new Unaffordable({ candidate }))
    },
    onSuccess: (hold) => {
      call.extended(hold)
      // the ledger may have taken longer than the call has left
      if (endsAtMillis(deps, call) > deps.timers.now()) return openAttempt(deps, call, candidate, isOnly, until)
      const { providerId } = candidate.model
      return Effect.fail(new ProviderError({ providerId, reason: { _tag: "RequestTimeout" } }))
    }
  })
}

const openAttempt = (
  deps: DispatchDeps,
  call: Call,
  candidate: Candidate,
  isOnly: boolean,
  until: AttemptOptions["until"]
): Effect.Effect<Opened, ProviderError> => {
  const { credential, effort, model } = candidate
  const { request, requestId } = call.admitted
  const { abortReason } = call
  if (abortReason !== undefined) {
    return Effect.fail(new ProviderError({ providerId: model.providerId, reason: abortReason }))
  }
  const output = outputLimit(call, candidate)
  const isLast = isOnly || areAllAttempted(deps.maxAttempts, [...call.attempts.map((before) => before.model), model.id])
  const attempt = call.attempt(candidate, output)
  return open(deps, call, {
    attempt,
    call: {
      requestId,
      model,
      request,
      effort,
      maxOutputTokens: output.maxTokens,
      dropped: candidate.dropped,
      credential,
      span: call.isTraced ? deps.spans.current(call.admitted) : undefined
    },
    deadlines: forCandidate(deps.deadlines, candidate, request),
    endsAtMillis: endsAtMillis(deps, call),
    acceptEmpty: isLast,
    until
  })
}

/**
 * The cap that can be paid for in the end: by what is held and what is left beside it, since the hold of a stream is extended
 * while its content comes. Where output cannot be counted as it comes, in a non-streaming response or while a model reasons,
 * it is what the hold pays for: a call could otherwise use many times what it holds.
 */
const outputLimit = ({ admitted, hold }: Call, candidate: Candidate): OutputLimit => {
  const { measure, request } = admitted
  const full = Estimate.outputCap(request, candidate, measure)
  const affordable = (amount: number): number =>
    Estimate.affordableOutputTokens(microUsd(Math.min(amount, Number.MAX_SAFE_INTEGER)), measure, candidate, full)
  const inTheEnd = affordable(hold.amount + hold.room)
  const isCounted = request.stream && !willReason(candidate, request)
  return {
    maxTokens: isCounted ? inTheEnd : affordable(hold.amount),
    fullTokens: full,
    isUnaffordable: inTheEnd < full
  }
}

/** What has to be held for the candidate, where that is more than is held. */
const unheld = ({ admitted, hold }: Call, candidate: Candidate): HoldOption | undefined => {
  if (candidate === admitted.ranked.candidates.at(admitted.holdOptions.candidateOf(hold.option))) return undefined
  const option = smallestOption(admitted.measure, admitted.request, candidate)
  return (option.typical ?? option.max) <= hold.amount ? undefined : option
}

const ended = (call: Call, failed: Arr.NonEmptyReadonlyArray<CandidateFailed>): CallFailure => {
  const failure = toCallFailure(failed, call.attempts, call.skipped)
  const last = failed.findLast((one) => one.error._tag === "ProviderError")?.error
  if (last?._tag === "ProviderError") call.failed(last)
  return failure
}
