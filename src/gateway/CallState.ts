import {
  type Attempt,
  type AttemptUse,
  type CallError,
  type CallStatus,
  type Cost,
  cost,
  type FailedUsage,
  noCost
} from "../domain/Call.ts"
import type { Candidate } from "../domain/Candidate.ts"
import { type MicroUsd, microUsd, zero } from "../domain/Money.ts"
import { costOf, type PriceTerms, servedTerms } from "../domain/Prices.ts"
import type { FailureFacts, ProviderError } from "../domain/ProviderError.ts"
import { completionTokens, noDetails, type Usage, usage } from "../domain/Usage.ts"
import * as Estimate from "../ledger/Estimate.ts"
import type { ExtendError, Hold, HoldOption } from "../ledger/Ledger.ts"
import { type Admitted, callable } from "./Admission.ts"
import { ResponseTally } from "./ResponseTally.ts"

/** An attempt that is not over. */
export interface RunningAttempt {
  readonly candidate: Candidate
  readonly output: OutputLimit
  readonly startedAtMillis: number
  readonly tally: ResponseTally
}

/** How long an answer may be. */
export interface OutputLimit {
  /** The cap that is sent to the provider. */
  readonly maxTokens: number
  /** What request and model allow. */
  readonly fullTokens: number
  /** The account cannot pay for what request and model allow. */
  readonly isUnaffordable: boolean
}

/** What a call costs: `actual` may lie above the hold, `cost` is what the customer pays. */
export interface Charge {
  readonly actual: MicroUsd
  readonly cost: Cost
}

export type Phase =
  /** No attempt is running: before the first one, and between two. */
  | { readonly _tag: "Waiting" }
  /** Nothing has reached the client: another candidate may still be tried. */
  | { readonly _tag: "Attempting"; readonly attempt: RunningAttempt }
  /** Content has reached the client: this attempt is the call's last. */
  | { readonly _tag: "Streaming"; readonly attempt: RunningAttempt }
  | Ended

/** The first of these is final. `attempt` is the last one, where it has a part in the ending. */
export type Ended =
  | { readonly _tag: "Complete"; readonly attempt: RunningAttempt; readonly charge: Charge }
  | { readonly _tag: "Failed"; readonly status: CallStatus; readonly error: CallError }
  /** The client has left, or a limit of the gateway has ended the call: charged as far as it got. */
  | {
      readonly _tag: "Cancelled"
      readonly status: CallStatus
      readonly error: CallError | null
      readonly attempt: RunningAttempt | undefined
      readonly charge: Charge
    }

/** Everything that changes during a call; each function below is one step from a state to the next. */
export interface CallState {
  readonly admitted: Admitted
  /** What is held for the call now; a dearer candidate may have extended it. */
  readonly hold: Hold
  /** The ledger may hold more: its answer to the last extension is lost. */
  readonly mayHoldMore: boolean
  /** A hold of so much, or more, was refused, or could not be asked for (then 0): it is not asked for again. */
  readonly refusedMicroUsd: number
  /** Attempts that are over, in order. */
  readonly attempts: ReadonlyArray<Attempt>
  /** By position of `attempts`, as in the call's record. */
  readonly failedUsage: ReadonlyArray<FailedUsage | null>
  /** By position of `attempts`. */
  readonly attemptUses: ReadonlyArray<AttemptUse>
  /** Ids of the models that were skipped because the money for them could not be held, in order. */
  readonly unaffordable: ReadonlyArray<string>
  readonly firstContentAtMillis: number | null
  readonly phase: Phase
}

export const held = (admitted: Admitted, hold: Hold): CallState => ({
  admitted,
  hold,
  mayHoldMore: false,
  refusedMicroUsd: Number.POSITIVE_INFINITY,
  attempts: [],
  failedUsage: [],
  attemptUses: [],
  unaffordable: dearerThan(admitted, hold.option),
  firstContentAtMillis: null,
  phase: { _tag: "Waiting" }
})

const none: ReadonlyArray<string> = []

/** The candidates before the one whose hold was granted. */
const dearerThan = (admitted: Admitted, option: number): ReadonlyArray<string> => {
  const index = admitted.holdOptions.candidateOf(option)
  return index === 0
    ? none
    : callable(admitted.ranked)
        .all()
        .slice(0, index)
        .map(({ model }) => model.id)
}

export const extended = (state: CallState, hold: Hold): CallState => ({ ...state, hold, mayHoldMore: false })

/** A refusal leaves the hold as it was; an extension that nothing is heard of may have been written. */
export const unextended = (state: CallState, error: ExtendError, { min }: HoldOption): CallState => ({
  ...state,
  mayHoldMore: state.mayHoldMore || (error._tag === "StoreUnavailable" && error.isUnwritten !== true),
  refusedMicroUsd: error._tag === "InsufficientFunds" ? Math.min(min, state.refusedMicroUsd) : 0
})

export const unaffordable = (state: CallState, { model }: Candidate): CallState =>
  state.unaffordable.includes(model.id) ? state : { ...state, unaffordable: [...state.unaffordable, model.id] }

export const attemptOf = (candidate: Candidate, output: OutputLimit, now: number): RunningAttempt => ({
  candidate,
  output,
  startedAtMillis: now,
  tally: new ResponseTally()
})

export const attemptStarted = (state: CallState, attempt: RunningAttempt): CallState =>
  state.phase._tag === "Waiting" ? { ...state, phase: { _tag: "Attempting", attempt } } : state

/** Before any content: the call waits for its next attempt. */
export const attemptFailed = (state: CallState, error: ProviderError, now: number): CallState => {
  const { phase } = state
  return phase._tag === "Attempting"
    ? unpaid(state, phase.attempt, error.facts, error.callError, now, { _tag: "Waiting" })
    : state
}

export const contentReceived = (state: CallState, now: number): CallState =>
  state.phase._tag === "Attempting"
    ? { ...state, firstContentAtMillis: now, phase: { _tag: "Streaming", attempt: state.phase.attempt } }
    : state

/** The response of this attempt is complete. */
export const completed = (state: CallState, attempt: RunningAttempt, now: number): CallState => {
  if (isEnded(state)) return state
  const charge = chargeOf(state, attempt)
  const record = recordOf(attempt, "success", null, charge.cost, now)
  return over(state, attempt, record, usageOf(state, attempt), null, { _tag: "Complete", attempt, charge })
}

/** The call has finally failed; an attempt that was running has failed with it. */
export const failed = (
  state: CallState,
  facts: Pick<FailureFacts, "isBilled"> & { readonly status: CallStatus },
  error: CallError,
  now: number
): CallState => {
  if (isEnded(state)) return state
  const phase = { _tag: "Failed", status: facts.status, error } as const
  const running = runningAttempt(state)
  return running === undefined ? { ...state, phase } : unpaid(state, running, facts, error, now, phase)
}

/** The client has left; an attempt that was running is charged as far as it got. */
export const cancelled = (state: CallState, now: number): CallState => stopped(state, "cancelled", null, now)

/** A limit of the gateway's own has ended the call: it costs what it would if the client had left. */
export const limited = (state: CallState, status: CallStatus, error: CallError, now: number): CallState =>
  stopped(state, status, error, now)

const stopped = (state: CallState, status: CallStatus, error: CallError | null, now: number): CallState => {
  if (isEnded(state)) return state
  const attempt = runningAttempt(state)
  if (attempt === undefined) {
    return { ...state, phase: { _tag: "Cancelled", attempt, charge: { actual: zero, cost: noCost }, status, error } }
  }
  const { cost } = chargeOf(state, attempt)
  // an extension of the hold may still be on its way to the ledger: what the client sees is all that is charged
  const charge: Charge = { actual: microUsd(cost.amount_microusd), cost }
  const used = cost.amount_microusd > 0 ? usageOf(state, attempt) : null
  const record = recordOf(attempt, status, error, cost, now)
  return over(state, attempt, record, used, null, { _tag: "Cancelled", attempt, charge, status, error })
}

/** An attempt that the provider or the gateway has failed: its customer pays nothing. */
const unpaid = (
  state: CallState,
  attempt: RunningAttempt,
  facts: Pick<FailureFacts, "isBilled"> & { readonly status: CallStatus },
  error: CallError,
  now: number,
  phase: Phase
): CallState => {
  const absorbed = failedUsageOf(state, attempt, facts)
  const record = recordOf(attempt, facts.status, error, noCost, now)
  return over(state, attempt, record, absorbed?.usage ?? null, absorbed, phase)
}

/** The attempt is over; `absorbed` is what it has used and nobody pays for. */
const over = (
  state: CallState,
  attempt: RunningAttempt,
  record: Attempt,
  usage: Usage | null,
  absorbed: FailedUsage | null,
  phase: Phase
): CallState => ({
  ...state,
  attempts: [...state.attempts, record],
  failedUsage: [...state.failedUsage, absorbed],
  attemptUses: [...state.attemptUses, attemptUse(attempt, usage)],
  phase
})

const attemptUse = (attempt: RunningAttempt, used: Usage | null): AttemptUse => ({
  startedAtMillis: attempt.startedAtMillis,
  usage: used,
  isReported: used !== null && isReportBelieved(attempt),
  dropped: attempt.candidate.dropped
})

/** What the call would cost if its client left now. */
export const costSoFar = (state: CallState, attempt: RunningAttempt): MicroUsd => {
  const { prices } = attempt.candidate.model
  return prices === null ? zero : costOf(prices, usageOf(state, attempt), termsOf(attempt))
}

/** Decides the prices of the attempt, once it has been served. */
export const termsOf = ({ candidate, tally }: RunningAttempt): PriceTerms =>
  servedTerms(candidate.terms, tally.servedTier)

/** The answer was shorter than request and model allow, because of insufficient funds. */
export const isCappedByFunds = ({ output, tally }: RunningAttempt): boolean =>
  output.isUnaffordable ||
  tally.isCutByFunds ||
  (tally.finished?.reason === "length" && output.maxTokens < output.fullTokens)

export const isEnded = ({ phase }: CallState): boolean =>
  phase._tag === "Complete" || phase._tag === "Failed" || phase._tag === "Cancelled"

export const runningAttempt = ({ phase }: CallState): RunningAttempt | undefined =>
  phase._tag === "Attempting" || phase._tag === "Streaming" ? phase.attempt : undefined

/** Usage as the provider has reported it, and as estimated here for what has come since, or for everything. */
export const usageOf = ({ admitted }: CallState, attempt: RunningAttempt): Usage => {
  const { audioTokens, tokens, unreportedTokens, usage: reported } = attempt.tally
  if (reported === undefined) {
    const inputAudioTokens = admitted.measure.audioTokens
    return usage({
      inputTokens: Estimate.likelyTokensWithMedia(admitted.measure, attempt.candidate.model.imageTokens),
      outputTokens: tokens,
      ...(inputAudioTokens + audioTokens > 0 && { details: { inputAudioTokens, outputAudioTokens: audioTokens } })
    })
  }
  if (!isWithinCap(attempt, reported)) {
    // what it has counted of the prompt is not in doubt
    const { inputAudioTokens } = reported.details
    return {
      ...reported,
      outputTokens: tokens,
      reasoningTokens: 0,
      details: { ...noDetails, inputAudioTokens, outputAudioTokens: audioTokens }
    }
  }
  return unreportedTokens === 0 ? reported : { ...reported, outputTokens: reported.outputTokens + unreportedTokens }
}

/** No model generates more than the cap that it was sent: a report of more output is an error of the provider. */
const isWithinCap = ({ output }: RunningAttempt, reported: Usage): boolean =>
  completionTokens(reported) <= output.maxTokens

const isReportBelieved = (attempt: RunningAttempt): boolean =>
  attempt.tally.usage !== undefined && isWithinCap(attempt, attempt.tally.usage)

/**
 * A complete response costs its usage. A cancelled one costs its prompt and what was streamed; where nothing was streamed,
 * its prompt unless the provider cannot bill it.
 */
const chargeOf = (state: CallState, attempt: RunningAttempt): Charge => {
  const { candidate, tally } = attempt
  const { prices } = candidate.model
  const isComplete = tally.finished !== undefined
  const isUsed = isComplete || state.firstContentAtMillis !== null || billsPrompt(attempt)
  const actual = prices === null || !isUsed ? zero : costOf(prices, usageOf(state, attempt), termsOf(attempt))
  if (actual === 0 && !isComplete) return { actual, cost: noCost }
  const isReported = isReportBelieved(attempt) && tally.unreportedTokens === 0
  const isExact = isComplete && isReported && state.admitted.caller.billingMode === "managed"
  return { actual, cost: cost(Math.min(actual, state.hold.amount), isExact ? "charged" : "estimated") }
}

/** Not before the request was sent, not after it was refused, and not where the provider is documented not to charge for it. */
const billsPrompt = ({ candidate, tally }: RunningAttempt): boolean =>
  candidate.model.billsAbortedCalls && !tally.isUnbillable

/** As reported, else what was streamed and the prompt; without a response, the prompt of a request that was taken on. */
const failedUsageOf = (
  state: CallState,
  attempt: RunningAttempt,
  { isBilled }: Pick<FailureFacts, "isBilled">
): FailedUsage | null => {
  const { candidate, tally } = attempt
  const { prices } = candidate.model
  const isUsed = tally.usage !== undefined || tally.characters > 0 || (isBilled && billsPrompt(attempt))
  if (!isUsed) return null
  const used = usageOf(state, attempt)
  return { usage: used, cost: prices === null ? zero : costOf(prices, used, termsOf(attempt)) }
}

const recordOf = (
  { candidate, startedAtMillis }: RunningAttempt,
  status: CallStatus,
  error: CallError | null,
  attemptCost: Cost,
  now: number
): Attempt => ({
  provider: candidate.model.providerId,
  model: candidate.model.id,
  status,
  error,
  cost: attemptCost,
  latency_ms: toTenths(now - startedAtMillis)
})

/** Milliseconds to a tenth, as they are shown. */
export const toTenths = (millis: number): number => Math.round(millis * 10) / 10
