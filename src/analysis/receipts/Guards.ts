import type { Arm } from "../../domain/HoldOut.ts"
import { eValue } from "../evidence/EProcess.ts"

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

/** What a change may do: it turns so many of the good conversations bad. Each is a bet of its own. */
const effects = [0.05, 0.1, 0.2, 0.4, 0.8]
/** Of what is bad without the change: less is not told from none. */
const minRate = 0.01
const maxRate = 0.99
/** Conversations from before count as so many held-out ones at most: what was true then may have changed for all. */
const maxBeforeWeight = 20

/**
 * Bets, comparison by comparison, that treated conversations are worse than the ones held out at the same time. Each comparison has the
 * conversations since the last one, as soon as there are some of both arms. What has changed for all of them, such as an outage, is in
 * both arms and earns no bet anything: with equal rates in the arms, whatever they are, a comparison is expected to multiply a bet by 1 at most
 * (Turner, Ly and Grünwald: Generic E-Variables for Exact Sequential k-Sample Tests). The rate from before only says which bets to make.
 */
export const evidenceOf = (before: Before, values: ReadonlyArray<Guarded>): GuardEvidence => {
  const count = { treated: 0, held_out: 0 }
  const sum = { treated: 0, held_out: 0 }
  let logs: ReadonlyArray<number> = effects.map(() => 0)
  let compared: Before = { conversations: 0, sum: 0 }
  let waiting = noneCompared()
  for (const { arm, value } of values) {
    count[arm] += 1
    sum[arm] += value
    waiting[arm].push(value)
    if (waiting.treated.length === 0 || waiting.held_out.length === 0) continue
    const rate = rateOf(before, compared)
    logs = logs.map((log, at) => log + gainOf(waiting, rate, rate + (1 - rate) * (effects[at] ?? 0)))
    compared = { conversations: count.held_out, sum: sum.held_out }
    waiting = noneCompared()
  }
  return {
    conversations: count,
    mean: {
      treated: meanOf(sum.treated, count.treated),
      held_out: meanOf(sum.held_out, count.held_out),
      before: meanOf(before.sum, before.conversations)
    },
    eValue: eValue({ logs })
  }
}

/** Values of either arm that are compared with each other. */
type Comparison = Readonly<Record<Arm, Array<number>>>
const noneCompared = (): Comparison => ({ treated: [], held_out: [] })

/** The logarithm of what a bet on these rates is multiplied by: their likelihood, by that of one rate for both arms. */
const gainOf = ({ held_out, treated }: Comparison, heldOutRate: number, treatedRate: number): number => {
  const both = treated.length + held_out.length
  const rate = (treated.length * treatedRate + held_out.length * heldOutRate) / both
  const gain = (values: ReadonlyArray<number>, own: number) =>
    values.reduce((total, value) => total + Math.log1p(((own - rate) * (value - rate)) / (rate * (1 - rate))), 0)
  return gain(treated, treatedRate) + gain(held_out, heldOutRate)
}

const meanOf = (sum: number, count: number): number | null => (count === 0 ? null : sum / count)

/** What is expected of the next ones that are held out. */
const rateOf = (before: Before, heldOut: Before): number => {
  const weight = Math.min(maxBeforeWeight, before.conversations)
  const known = (meanOf(before.sum, before.conversations) ?? 0) * weight + heldOut.sum
  return Math.min(maxRate, Math.max(minRate, known / Math.max(1, weight + heldOut.conversations)))
}

/** Evidence of all guards together: of several that may each be wrong by chance, the mean is wrong no more often. */
export const combined = (values: ReadonlyArray<number>): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length
