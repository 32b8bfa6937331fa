import type { PastReceipts, Receipt } from "../../wire/account/Receipt.ts"
import type { ExperimentRow } from "./ExperimentStore.ts"
import { revertAt } from "./Guards.ts"
import { pastReceipts, realisedOverEstimated } from "./Measurement.ts"

/** An experiment as the answers of the account API show it. */
export const receiptOf = (row: ExperimentRow): Receipt => {
  const { measurement } = row
  return {
    experiment_id: row.id,
    state: row.state,
    reason: row.reason,
    share: row.share,
    started_at: row.startedAt,
    ends_at: row.endsAt,
    ended_at: row.endedAt,
    measured_at: row.measuredAt,
    conversations: measurement?.conversations ?? { treated: 0, held_out: 0, before: 0 },
    cost_per_conversation_microusd: {
      treated: amountOf(measurement?.costPerConversation.treated),
      held_out: amountOf(measurement?.costPerConversation.held_out)
    },
    saved_per_conversation_microusd: amountOf(measurement?.saved?.perConversation),
    saved_at_least_microusd: flooredOf(measurement?.saved?.atLeast),
    estimated_per_conversation_microusd: amountOf(measurement?.estimatedPerConversation),
    realised_over_estimated: measurement === null ? null : fractionOf(realisedOverEstimated(measurement)),
    guards: (measurement?.guards ?? []).map(({ before, eValue, guard, held_out, treated }) => ({
      guard,
      treated: fractionOf(treated),
      held_out: fractionOf(held_out),
      before: fractionOf(before),
      e_value: evidenceOf(eValue)
    })),
    e_value: evidenceOf(measurement?.eValue ?? 1),
    revert_at_e_value: revertAt
  }
}

/** What the final experiments of a project have come to. */
export const pastReceiptsOf = (rows: ReadonlyArray<ExperimentRow>): PastReceipts => {
  const { n, realisedOverEstimated } = pastReceipts(
    rows.flatMap(({ measurement }) => (measurement === null ? [] : [measurement]))
  )
  return { n, realised_over_estimated: fractionOf(realisedOverEstimated) }
}

/** More says nothing more. */
const maxEvidence = 1_000_000

const evidenceOf = (value: number): number => rounded(Math.min(maxEvidence, value))
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000
const fractionOf = (value: number | null): number | null => (value === null ? null : rounded(value))
const amountOf = (value: number | null | undefined): number | null => (value == null ? null : Math.round(value))
const flooredOf = (value: number | null | undefined): number | null => (value == null ? null : Math.floor(value))
