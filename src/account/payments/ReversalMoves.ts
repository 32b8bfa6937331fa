import type { Reversal } from "./PaymentStore.ts"

const microUsdPerCent = 10_000

export const microUsdOf = (cents: number): number => cents * microUsdPerCent

export interface Move extends Reversal {
  readonly targetMicroUsd: number
}

/**
 * What the journal should have of each reversal and does not, credits first. Together they pay back no more than the payment:
 * what one of them has already keeps its place, so that each only rises until it is reinstated.
 */
export const movesOf = (paidMicroUsd: number, reversals: ReadonlyArray<Reversal>): ReadonlyArray<Move> => {
  const wanted = ({ amountCents, isReinstated }: Reversal) => (isReinstated ? 0 : microUsdOf(amountCents))
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
