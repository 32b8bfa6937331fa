import type { Usage } from "../../src/domain/Usage.ts"
import type { LedgerCall } from "../../src/testing/doubles/MemoryLedger.ts"
import { type NamedCall, namedViolations } from "./NamedCalls.ts"
import { type SimulatedDatabase, silenceMillis } from "./SimulatedDatabase.ts"
import type { SimulatedNode } from "./SimulatedNode.ts"
import type { SimulatedAttempt } from "./SimulatedProviders.ts"
import type { Absence, ClientCall } from "./Simulation.ts"

/** What a client has seen of its call; nothing when its process was stopped. */
export type Outcome =
  | {
      readonly _tag: "Complete"
      readonly costMicroUsd: number
      /** The hold of a stream could not be extended: what was streamed until then is the response. */
      readonly isCappedByFunds: boolean
    }
  | { readonly _tag: "Failed"; readonly code: string }
  | { readonly _tag: "Left" }
  /** With the response of an earlier run. */
  | { readonly _tag: "Replayed" }
  | { readonly _tag: "Died"; readonly defect: string }

export interface Evidence {
  readonly calls: ReadonlyArray<ClientCall>
  readonly named: ReadonlyArray<NamedCall>
  readonly database: SimulatedDatabase
  readonly absences: ReadonlyArray<Absence>
  readonly nodes: ReadonlyArray<SimulatedNode>
}

/** A settlement that waits in memory is written within this time after the database is back. */
const writeMillis = 20_000

/** Compares what clients, providers and ledger know of each call once everything has come to rest. */
export const verify = ({ absences, calls, database, named, nodes }: Evidence): ReadonlyArray<string> => [
  ...calls.flatMap((call) => {
    const row = database.call(call.requestId)
    return callViolations(call, row).map((violation) => `${call.requestId}: ${violation}: ${described(call, row)}`)
  }),
  ...namedViolations(named, database),
  ...database.expired.flatMap(({ atMillis, callId, nodeId }) =>
    wasAbsent(absences, nodeId, atMillis) ? [] : [`${callId}: the hold of a living node has expired`]
  ),
  ...nodes.flatMap((node) =>
    node.isStopped || node.admitted === 0 ? [] : [`${node.id}: ${node.admitted} requests are never released`]
  )
]

const callViolations = (call: ClientCall, row: LedgerCall | undefined): ReadonlyArray<string> => {
  const { attempts, node, outcome } = call
  const violations: Array<string> = []
  if (outcome?._tag === "Died") violations.push("a defect")
  if (attempts.length > 0 && row === undefined) violations.push("dispatched without a hold")
  if (row?.state === "held") violations.push("its hold was never closed")
  if (!node.isStopped && attempts.some(({ isOpen }) => isOpen())) violations.push("an upstream was never closed")
  if (!node.isStopped && outcome === undefined) violations.push("its client has heard nothing")
  if (row === undefined || row.state === "held") return violations
  violations.push(...priceViolations(row))
  if (row.charged > row.amount) violations.push("charged above its hold")
  // who bears a call that ended after its hold had expired is checked by the expiry
  if (row.state === "expired") return row.charged > 0 ? [...violations, "expired and charged"] : violations
  if (outcome?._tag === "Failed" && row.charged > 0) violations.push("failed and charged")
  if (outcome?._tag === "Complete") {
    const last = attempts.at(-1)
    if (outcome.isCappedByFunds) {
      if (row.charged > maxEstimated(attempts)) violations.push("capped and charged more than a complete response")
    } else if (last?.endsWell !== true) violations.push("complete without a complete response")
    else if (row.charged !== last.fullCostMicroUsd) violations.push("not charged what it cost")
    if (outcome.costMicroUsd !== row.charged) violations.push("told another cost")
  }
  if (outcome?._tag === "Left" && row.charged > maxEstimated(attempts)) {
    violations.push("left and charged more than a complete response")
  }
  return violations
}

/** Its charge follows from what is recorded: its usage and the prices of its admission, and the usage of its failed attempts. */
const priceViolations = ({
  absorbed,
  amount,
  caller,
  charged,
  settlement,
  state
}: LedgerCall): ReadonlyArray<string> => {
  const violations: Array<string> = []
  const record = settlement?.record
  if (record === undefined || state === "expired") return violations
  const lost = record.failedUsage.reduce((sum, attempt) => sum + (attempt?.cost ?? 0), 0)
  const due = record.usage === null || record.prices === null ? 0 : costAt(record.prices, record.usage)
  if (state === "settled" && charged !== Math.min(due, amount)) violations.push("not what its record comes to")
  if (state === "cancelled" && charged > due) violations.push("more than its record comes to")
  if (state === "settled" && caller.billingMode === "managed" && absorbed !== due - charged + lost) {
    violations.push("what failed attempts cost is not written off")
  }
  return violations
}

/** Counted apart from the gateway, from the text of the record. */
const costAt = (prices: string, { inputTokens, outputTokens }: Usage): number => {
  const { input, output } = JSON.parse(prices)
  return Number((BigInt(inputTokens) * BigInt(input) + BigInt(outputTokens) * BigInt(output) + 999_999n) / 1_000_000n)
}

/** What a stream without its end is charged is estimated from what was streamed. */
const estimateFactor = 1.6

const maxEstimated = (attempts: ReadonlyArray<SimulatedAttempt>): number =>
  Math.ceil(estimateFactor * Math.max(0, ...attempts.map(({ fullCostMicroUsd }) => fullCostMicroUsd)))

const wasAbsent = (absences: ReadonlyArray<Absence>, nodeId: string, atMillis: number): boolean =>
  absences.some(
    (absence) =>
      absence.nodeId === nodeId &&
      (absence.kind === "killed" || absence.untilMillis - absence.fromMillis >= silenceMillis - writeMillis) &&
      absence.fromMillis <= atMillis &&
      atMillis <= absence.untilMillis + writeMillis
  )

const described = ({ attempts, node, outcome }: ClientCall, row: LedgerCall | undefined): string =>
  JSON.stringify({
    outcome,
    node: node.id,
    attempts: attempts.map(({ call, endsWell, fullCostMicroUsd, usage }) => ({
      model: call.model.id,
      cap: call.maxOutputTokens,
      endsWell,
      fullCostMicroUsd,
      input: usage.inputTokens,
      output: usage.outputTokens
    })),
    row:
      row === undefined ? null : { state: row.state, amount: row.amount, charged: row.charged, absorbed: row.absorbed }
  })
