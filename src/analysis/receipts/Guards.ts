import type { Arm } from "../../domain/HoldOut.ts"
import { type EProcess, eValue, next, start } from "../evidence/EProcess.ts"

/**
 * What must not become more frequent by a change. `errors`: a call of the conversation failed. `retries`: a call of it was
 * cancelled, or asked again with a prompt no longer than the one before. `feedback`: by how much its grades are below the best.
 */
export const guards = ["errors", "retries", "feedback"] as const
export type Guard = (typeof guards)[number]

/** A conversation of either arm: 0 is good and 1 is bad. */
export interface Guarded {
  readonly arm: Arm
  readonly value: number
}

/** Conversations from before the change, of the same kind. */
export interface Before {
  readonly conversations: number
  /** Of their values. */
  readonly sum: number
}

export interface GuardEvidence {
  readonly conversations: Readonly<Record<Arm, number>>
  /** Mean value of each arm, and of the conversations before; `null` without any. */
  readonly mean: Readonly<Record<Arm | "before", number | null>>
  /** Evidence that the treated conversations are worse. */
  readonly eValue: number
}

/** The evidence at which a change is reverted: a harmless change comes to it in one of 20 experiments at most. */
export const revertAt = 20

/** Less is not told from none: one failed call must not revert a change. */
const minRate = 0.02
/** The held-out conversations count as much as the ones before as soon as there are so many of them. */
const heldOutWeight = 4

/**
 * Bets, conversation by conversation, that treated ones are worse than those without the change: the ones held out so far and the ones
 * before. A bet is fair where their rate is known; it is taken one standard error higher, and never lower than that of the ones held
 * out alone, so that what has changed for all conversations counts as harm less often: where errors rise from 2 to 10 % in both arms,
 * with a tenth held out, half of the changes are reverted (without that rate nearly all).
 */
export const evidenceOf = (before: Before, values: ReadonlyArray<Guarded>): GuardEvidence => {
  const count = { treated: 0, held_out: 0 }
  const sum = { treated: 0, held_out: 0 }
  let process: EProcess = start(1)
  for (const { arm, value } of values) {
    if (arm === "treated") {
      const rate = rateOf(before, { conversations: count.held_out, sum: sum.held_out })
      process = next(process, (value - rate) / rate)
    }
    count[arm] += 1
    sum[arm] += value
  }
  return {
    conversations: count,
    mean: {
      treated: meanOf(sum.treated, count.treated),
      held_out: meanOf(sum.held_out, count.held_out),
      before: meanOf(before.sum, before.conversations)
    },
    eValue: eValue(process)
  }
}

const meanOf = (sum: number, count: number): number | null => (count === 0 ? null : sum / count)

const rateOf = (before: Before, heldOut: Before): number => {
  const count = before.conversations + heldOut.conversations
  const mean = (before.sum + heldOut.sum + 0.5) / (count + 1)
  const high = mean + Math.sqrt((mean * (1 - mean)) / (count + 1))
  const alone = (heldOut.sum + heldOutWeight * mean) / (heldOut.conversations + heldOutWeight)
  return Math.min(1, Math.max(minRate, high, alone))
}

/** Evidence of all guards together: of several that may each be wrong by chance, the mean is wrong no more often. */
export const combined = (values: ReadonlyArray<number>): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
