import type { Reversal } from "./PaymentStore.ts"

const microUsdPerCent = 10_000

export const microUsdOf = (cents: number): number => cents * microUsdPerCent

export interface Move extends Reversal {
  readonly targetMicroUsd: number
}

/** Differs between all moves of a reversal: its target only rises until more of its refunds have failed. */
export const sourceOf = ({ failedCents, id, targetMicroUsd }: Move): string =>
  failedCents === 0 ? `${id}:${targetMicroUsd}` : `${id}:${targetMicroUsd}:${failedCents}`

/**
 * Stripe does not say whether later totals of a charge have a refund that has failed. The highest total less all that have failed
 * is never too much, and the refunds that are known one by one make up for what it lacks.
 */
const wantedCents = ({ amountCents, failedCents, isReinstated, refundedCents }: Reversal): number =>
  isReinstated ? 0 : Math.max(amountCents - failedCents, refundedCents)

/**
 * What the journal should have of each reversal and does not, credits first. Together they pay back no more than the payment:
 * what one of them has already keeps its place.
 */
export const movesOf = (paidMicroUsd: number, reversals: ReadonlyArray<Reversal>): ReadonlyArray<Move> => {
  const wanted = (reversal: Reversal) => microUsdOf(wantedCents(reversal))
  const kept = (reversal: Reversal) => Math.min(reversal.appliedMicroUsd, wanted(reversal))
  let left = paidMicroUsd - reversals.reduce((sum, reversal) => sum + kept(reversal), 0)
  return reversals
    .map((reversal) => {
      const more = Math.min(left, wanted(reversal) - kept(reversal))
      left -= more
      return { ...reversal, targetMicroUsd: kept(reversal) + more }
    })
    .filter(({ appliedMicroUsd, targetMicroUsd }) => targetMicroUsd !== appliedMicroUsd)
    .sort((a, b) => Number(a.targetMicroUsd > a.appliedMicroUsd) - Number(b.targetMicroUsd > b.appliedMicroUsd))
}
