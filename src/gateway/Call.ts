import type { CallObserver, EndedAttempt, FailedAttempt, NextStep } from "../domain/CallObserver.ts"
import type { Candidate } from "../domain/Candidate.ts"
import type { ChatEvent } from "../domain/ChatEvent.ts"
import type { Entry } from "../domain/FifoQueue.ts"
import type { MicroUsd } from "../domain/Money.ts"
import type { ProviderError, ProviderFailure } from "../domain/ProviderError.ts"
import type { RouterMetadata, SkippedCandidate } from "../domain/RouterMetadata.ts"
import type { TimersShape } from "../domain/Timers.ts"
import type { Usage } from "../domain/Usage.ts"
import type { ExtendError, Hold, HoldOption, Settlement } from "../ledger/Ledger.ts"
import type { Admitted } from "./Admission.ts"
import * as CallState from "./CallState.ts"
import { metadataOf, settlementOf, skippedOf } from "./Settlement.ts"

/** The upstream that an attempt has open. */
export interface OpenUpstream {
  /** Closes it silently; idempotent. */
  readonly close: () => void
  /** Ends the attempt as if its provider had failed with this. */
  readonly fail: (reason: ProviderFailure) => void
}

export interface CallDeps {
  readonly timers: TimersShape
  readonly observer: Required<CallObserver>
}

/** What a complete response says about its call. */
export interface CompleteFacts {
  readonly usage: Usage
  readonly metadata: RouterMetadata
}

/** What one answer has used at the route that has given it. */
export interface CompleteAnswer {
  readonly candidate: Candidate
  readonly usage: Usage
  /** It ended at its cap. */
  readonly isCut: boolean
}

/** A defect of the gateway: it costs the customer nothing. */
const internalError = { code: "internal_error", message: "The gateway failed unexpectedly." }

/**
 * One running call, the only owner of its state and of its open upstream. Every change of state passes through here, and
 * here alone the observers (health, metrics, logs) hear of it.
 */
export class Call {
  readonly admitted: Admitted
  /** The application has set a tracer: the steps of the call are recorded as spans. */
  readonly isTraced: boolean
  /** Among the running calls; set by whoever keeps them. */
  entry: Entry<Call> | undefined
  private readonly deps: CallDeps
  private state: CallState.CallState
  private upstream: OpenUpstream | undefined
  private aborted: ProviderFailure | undefined
  /** The last failed attempt, until it is known what follows it. */
  private undecided: Omit<FailedAttempt, "next"> | undefined

  constructor(deps: CallDeps, admitted: Admitted, hold: Hold, isTraced: boolean) {
    this.deps = deps
    this.admitted = admitted
    this.isTraced = isTraced
    this.state = CallState.held(admitted, hold)
    deps.observer.admitted(admitted)
  }

  get hold(): Hold {
    return this.state.hold
  }

  get attempts(): CallState.CallState["attempts"] {
    return this.state.attempts
  }

  get skipped(): ReadonlyArray<SkippedCandidate> {
    return skippedOf(this.state)
  }

  extended(hold: Hold): void {
    this.state = CallState.extended(this.state, hold)
  }

  unextended(error: ExtendError, option: HoldOption): void {
    this.state = CallState.unextended(this.state, error, option)
  }

  /** The ledger has not refused as much before: else each of many candidates would be one more statement. */
  mayAskFor({ min }: HoldOption): boolean {
    return min < this.state.refusedMicroUsd
  }

  /** The complete answer; `undefined` where there is none. */
  get answer(): CompleteAnswer | undefined {
    const { phase } = this.state
    if (phase._tag !== "Complete") return undefined
    const { candidate, tally } = phase.attempt
    return {
      candidate,
      usage: CallState.usageOf(this.state, phase.attempt),
      isCut: tally.finished?.reason === "length"
    }
  }

  /** What the call would cost if its client left now. */
  costSoFar(attempt: CallState.RunningAttempt): MicroUsd {
    return CallState.costSoFar(this.state, attempt)
  }

  attempt(candidate: Candidate, output: CallState.OutputLimit): CallState.RunningAttempt {
    const attempt = CallState.attemptOf(candidate, output, this.deps.timers.now())
    this.state = CallState.attemptStarted(this.state, attempt)
    this.deps.observer.attemptStarted(this.admitted, candidate.model)
    return attempt
  }

  /** The money for the candidate could not be held: it is skipped. */
  unaffordable(candidate: Candidate): void {
    this.state = CallState.unaffordable(this.state, candidate)
  }

  /** Another candidate may follow, unless the end of the whole call is what has ended the attempt. */
  attemptFailed(error: ProviderError): void {
    if (error.facts.isOwnLimit && !error.facts.mayFallBack) this.failed(error)
    else this.change(CallState.attemptFailed(this.state, error, this.deps.timers.now()), error)
  }

  /** What follows the last failed attempt, if that is not known yet. */
  decided(next: NextStep): void {
    const failed = this.undecided
    if (failed === undefined) return
    this.undecided = undefined
    this.deps.observer.attemptFailed(this.admitted, { ...failed, next })
  }

  /** The first content is about to reach the client: no other candidate is tried from here on. */
  contentReceived(): void {
    this.state = CallState.contentReceived(this.state, this.deps.timers.now())
  }

  received(attempt: CallState.RunningAttempt, event: ChatEvent): void {
    attempt.tally.add(event)
    this.deps.observer.chunk(this.admitted, event)
  }

  /** `deliver` writes the end of the response. The call is complete only if that does not throw. */
  complete<A>(attempt: CallState.RunningAttempt, deliver: (facts: CompleteFacts) => A): A {
    const now = this.deps.timers.now()
    const next = CallState.completed(this.state, attempt, now)
    const delivered = deliver({
      usage: CallState.usageOf(next, attempt),
      metadata: metadataOf(next, attempt, now)
    })
    this.change(next, null)
    return delivered
  }

  failed(error: ProviderError): void {
    const { facts } = error
    const now = this.deps.timers.now()
    const next = facts.isOwnLimit
      ? CallState.limited(this.state, facts.status, error.callError, now)
      : CallState.failed(this.state, facts, error.callError, now)
    this.change(next, error)
  }

  died(): void {
    // what was reported or streamed is known; whether a request was sent at all is not
    const facts = { status: "error", isBilled: false } as const
    this.change(CallState.failed(this.state, facts, internalError, this.deps.timers.now()), null)
  }

  /** Why no other attempt is to be started. */
  get abortReason(): ProviderFailure | undefined {
    return this.aborted
  }

  /** Takes over what the running attempt has open; it is closed when the call ends, at the latest. */
  own(upstream: OpenUpstream): void {
    this.upstream = upstream
    if (this.aborted !== undefined) upstream.fail(this.aborted)
  }

  /** The upstream closes by itself: the call has nothing open any more. */
  disown(): void {
    this.upstream = undefined
  }

  /** Fails the attempt that is running now, and any that would follow. */
  abort(reason: ProviderFailure): void {
    this.aborted = reason
    this.upstream?.fail(reason)
  }

  /** Closes what is open and answers what is to be settled. */
  end(): Settlement {
    this.upstream?.close()
    this.upstream = undefined
    const now = this.deps.timers.now()
    this.change(CallState.cancelled(this.state, now), null)
    this.decided({ _tag: "GiveUp" })
    const settlement = settlementOf(this.state, now)
    this.deps.observer.settled(this.admitted, settlement.record)
    return settlement
  }

  private change(next: CallState.CallState, error: ProviderError | null): void {
    const before = this.state
    this.state = next
    const record = next.attempts[before.attempts.length]
    const attempt = CallState.runningAttempt(before)
    if (record === undefined || attempt === undefined) return
    const ended: EndedAttempt = {
      model: attempt.candidate.model,
      record,
      error,
      credentialId: attempt.candidate.credential?.id ?? null,
      usage: usedBy(next, attempt),
      finishReason: attempt.tally.finished?.reason ?? null,
      servedModel: attempt.tally.servedModel ?? null,
      firstContentMillis:
        next.firstContentAtMillis === null ? null : next.firstContentAtMillis - attempt.startedAtMillis
    }
    this.deps.observer.attemptEnded(this.admitted, ended)
    if (error === null) return
    this.undecided = { ...ended, error, number: next.attempts.length }
    if (CallState.isEnded(next)) this.decided({ _tag: "GiveUp" })
  }
}

/** What is known of the usage of an attempt that is over. */
const usedBy = (state: CallState.CallState, attempt: CallState.RunningAttempt): Usage | null =>
  state.phase._tag === "Complete" || state.phase._tag === "Cancelled"
    ? CallState.usageOf(state, attempt)
    : (state.failedUsage.at(-1)?.usage ?? null)
