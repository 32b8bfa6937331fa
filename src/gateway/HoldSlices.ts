import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { type MicroUsd, microUsd } from "../domain/Money.ts"
import { highestOutputRate } from "../domain/Prices.ts"
import type { TimersShape } from "../domain/Timers.ts"
import * as Estimate from "../ledger/Estimate.ts"
import type { HoldOption, LedgerShape } from "../ledger/Ledger.ts"
import type { Call } from "./Call.ts"
import type { RunningAttempt } from "./CallState.ts"

export interface HoldSlicesDeps {
  readonly ledger: LedgerShape
  readonly timers: TimersShape
  readonly fork: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
}

/** What the hold says to the next piece of a stream. */
export type Verdict =
  | "covered"
  /** All of it is used; whether there is more is being decided. */
  | "waiting"
  /** All of it is used, and there is no more. */
  | "exhausted"
  /** It could not be extended, for a reason that is nobody's refusal: `defect`. */
  | "died"

/** The next slice is asked for when this part of the hold is used, so that the stream seldom has to wait for it. */
const askAtPart = 0.75
/** No character has more likely tokens, and checking is not free: the estimate is taken again after so many at least. */
const maxTokensPerCharacter = 2
const minCharactersBetween = 64
/** A ledger that could not be asked is asked again no sooner than this. */
const askAgainMillis = 1_000
/**
 * A provider counts exactly, the estimate here does not: an answer that the money has capped is ended only where it is
 * longer than this many times its cap, which is then beyond doubt.
 */
const maxPartOfCap = 1.5

/**
 * Extends the hold of one streamed response while its content comes: a call without a client's cap holds a share of what it
 * may cost in the end. At most one extension is under way; the stream waits for it only when all that is held is used. A ledger that
 * cannot be asked has refused nobody: the stream goes on, up to the cap that was sent, and is held for once the ledger answers again.
 */
export class HoldSlices {
  private extension: Fiber.RuntimeFiber<void> | undefined
  /** The amount at which the ledger has last refused to extend the hold, and what was used of it then. */
  private refused: { readonly amount: MicroUsd; readonly used: MicroUsd } | undefined
  /** Since the ledger could not be asked: when it is asked again. */
  private asksAgainAtMillis: number | undefined
  private checksAtCharacters = 0
  /** Of an extension: the call ends with it. */
  defect: unknown
  private waiting: (() => void) | undefined
  private readonly deps: HoldSlicesDeps
  private readonly call: Call
  private readonly attempt: RunningAttempt

  constructor(deps: HoldSlicesDeps, call: Call, attempt: RunningAttempt) {
    this.deps = deps
    this.call = call
    this.attempt = attempt
  }

  /** After each piece: whether the hold covers what has been streamed. */
  check(): Verdict {
    const { characters } = this.attempt.tally
    if (characters < this.checksAtCharacters) return "covered"
    if (this.defect !== undefined) return "died"
    const used = this.call.costSoFar(this.attempt)
    const slice = this.nextSlice(used)
    if (slice === undefined) return this.checkCap()
    if (used >= askAtPart * this.call.hold.amount) this.ask(slice, used)
    if (used < this.call.hold.amount) {
      this.checksAtCharacters = characters + this.charactersUntil(used)
      return "covered"
    }
    if (this.asksAgainAtMillis !== undefined) {
      const verdict = this.checkCap()
      this.checksAtCharacters = characters + minCharactersBetween
      return verdict
    }
    return this.extension === undefined ? "exhausted" : "waiting"
  }

  /** All that the output cap may cost is held, or what there is for it cannot be asked. */
  private checkCap(): Verdict {
    const { output, tally } = this.attempt
    if (!output.isUnaffordable) {
      this.checksAtCharacters = Number.POSITIVE_INFINITY
      return "covered"
    }
    const left = maxPartOfCap * output.maxTokens - tally.tokens
    if (left <= 0) return "exhausted"
    this.checksAtCharacters =
      tally.characters + Math.max(minCharactersBetween, Math.floor(left / maxTokensPerCharacter))
    return "covered"
  }

  /** Calls back once the extension that a "waiting" stream waits for is decided. */
  decided(run: () => void): void {
    if (this.extension === undefined) run()
    else this.waiting = run
  }

  /** At the end of a complete response: what it costs is held, up to its output cap and as far as there is money. `undefined`: nothing is to be done. */
  settled(): Effect.Effect<void> | undefined {
    const { extension } = this
    if (extension !== undefined) {
      return Effect.flatMap(Fiber.await(extension), () => this.settled() ?? Effect.void)
    }
    if (this.defect !== undefined) return Effect.die(this.defect)
    const cost = this.call.costSoFar(this.attempt)
    const { amount } = this.call.hold
    const most = this.nextSlice(cost)?.max
    if (cost <= amount || most === undefined || this.isAway()) return undefined
    return this.extended({ max: microUsd(Math.min(cost, most)), min: amount, typical: null }, cost)
  }

  private nextSlice(used: MicroUsd): HoldOption | undefined {
    const { candidate, output } = this.attempt
    return Estimate.sliceOption(this.call.hold.amount, used, this.call.admitted.measure, candidate, output.maxTokens)
  }

  /** The ledger could not be asked just now. */
  private isAway(): boolean {
    return this.asksAgainAtMillis !== undefined && this.deps.timers.now() < this.asksAgainAtMillis
  }

  /** Asked once at three quarters of a hold, and again when it is used up, or when the ledger could not be asked. */
  private ask(slice: HoldOption, used: MicroUsd): void {
    const { amount } = this.call.hold
    if (this.extension !== undefined || this.isAway()) return
    if (this.refused?.amount === amount && (used < amount || this.refused.used >= amount)) return
    const extension = this.deps.fork(this.extended(slice, used))
    this.extension = extension
    extension.addObserver((exit) => {
      if (Exit.isFailure(exit)) this.defect = Cause.squash(exit.cause)
      this.extension = undefined
      this.checksAtCharacters = 0
      const { waiting } = this
      this.waiting = undefined
      waiting?.()
    })
  }

  private extended(option: HoldOption, used: MicroUsd): Effect.Effect<void> {
    return Effect.match(this.deps.ledger.extend(this.call.hold, option), {
      onFailure: (error) => {
        this.call.unextended(error, option)
        const isRefused = error._tag === "InsufficientFunds"
        if (isRefused) this.refused = { amount: this.call.hold.amount, used }
        this.asksAgainAtMillis = isRefused ? undefined : this.deps.timers.now() + askAgainMillis
      },
      onSuccess: (hold) => {
        this.asksAgainAtMillis = undefined
        this.call.extended(hold)
      }
    })
  }

  /** Characters that may come before the hold has to be looked at again. */
  private charactersUntil(used: MicroUsd): number {
    const { amount } = this.call.hold
    const next = used < askAtPart * amount ? askAtPart * amount : amount
    const { model, terms } = this.attempt.candidate
    const rate = model.prices === null ? 0 : highestOutputRate(model.prices, Number.POSITIVE_INFINITY, terms)
    const perToken = Math.max(1, rate) / 1_000_000
    return Math.max(minCharactersBetween, Math.floor((next - used) / perToken / maxTokensPerCharacter))
  }
}
