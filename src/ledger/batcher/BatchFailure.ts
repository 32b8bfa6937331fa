import { zero } from "../../domain/Money.ts"
import type { BatchReservation, BatchSettlement } from "../LedgerStore.ts"
import { maxPerStatement } from "./FlushPolicy.ts"

/** What a failed batch means for each of its reservations and settlements, and for the batches after it. */

const firstRetryMillis = 50
const maxRetryMillis = 1_000
/** Half of a batch is written at a time after more failures in a row than this: to be done within the statement's time limit. */
const failuresBeforeHalving = 3
/** The same for a rejected statement: to find the row that the database rejects. */
const rejectionsBeforeHalving = 1
/** A batch that fails after this long is taken as a database outage: waiting reservations fail too instead of being tried. */
const outageMillis = 2_000

/** Failures since settlements were last written. */
export interface FailureState {
  readonly failures: number
  /** Settlements up to this sequence number have been in a batch that failed. */
  readonly suspectThrough: number
  readonly maxSettlements: number
}

export const noFailures: FailureState = { failures: 0, suspectThrough: 0, maxSettlements: maxPerStatement }

export interface FailedBatch {
  readonly reservations: number
  readonly settlements: number
  /** Sequence number of its last settlement. */
  readonly lastSequence: number
  /** The same statement will fail again. A defect counts as such. */
  readonly rejected: boolean
}

/** What becomes of the settlements of a failed batch. RejectOne: the batch was one settlement, and the database rejects it. */
export type SettlementsAction =
  | { readonly _tag: "Retry"; readonly afterMillis: number }
  | { readonly _tag: "RejectOne" }

export const afterWrite = ({ maxSettlements, suspectThrough }: FailureState): FailureState => ({
  failures: 0,
  suspectThrough,
  maxSettlements: Math.min(maxPerStatement, maxSettlements * 2)
})

/** Of a batch with settlements; one of reservations only changes nothing. */
export const afterFailure = (
  state: FailureState,
  batch: FailedBatch
): { readonly state: FailureState; readonly action: SettlementsAction } => {
  const failures = state.failures + 1
  const repeated = failures > (batch.rejected ? rejectionsBeforeHalving : failuresBeforeHalving)
  const failed: FailureState = { ...state, failures, suspectThrough: batch.lastSequence }
  if (repeated && batch.rejected && batch.settlements === 1 && batch.reservations === 0) {
    return { state: failed, action: { _tag: "RejectOne" } }
  }
  return {
    state: repeated ? { ...failed, maxSettlements: Math.max(1, Math.ceil(batch.settlements / 2)) } : failed,
    action: { _tag: "Retry", afterMillis: retryMillis(failures, batch.rejected) }
  }
}

/** Time does not cure a rejected statement; only a server in trouble recovers with time. */
const retryMillis = (failures: number, rejected: boolean): number =>
  Math.min(rejected ? firstRetryMillis : firstRetryMillis * 2 ** Math.min(failures - 1, 10), maxRetryMillis)

export const isOutage = (elapsedMillis: number): boolean => elapsedMillis >= outageMillis

/** The hold of a failed reservation may exist, and nobody will settle it. A failed extension leaves the hold as it was. */
export const needsVoid = (reservation: BatchReservation, uncertain: boolean): boolean =>
  uncertain && !reservation.extends

/** What is tried next in place of a rejected settlement. */
export interface Reduced {
  readonly settlement: BatchSettlement
  readonly without: "log row" | "kept response" | "charge"
}

/**
 * First without its log row, the likeliest cause of the rejection, then without the response that it keeps, then without its charge,
 * so that the money is not held any longer; then not at all (`undefined`): the hold expires with its process.
 */
export const afterRejection = (settlement: BatchSettlement): Reduced | undefined => {
  if (settlement.record !== null) return { settlement: { ...settlement, record: null }, without: "log row" }
  if (settlement.kept !== undefined) return { settlement: { ...settlement, kept: undefined }, without: "kept response" }
  if (settlement.state === "void") return undefined
  return { settlement: { ...settlement, state: "void", actual: zero }, without: "charge" }
}

/** For the log: what an operator needs to make up for what was left out. */
export const figuresOf = ({ actual, callId, caller, record, state }: BatchSettlement) => ({
  callId,
  accountId: caller.accountId,
  projectId: caller.projectId,
  keyId: caller.keyId,
  billingMode: caller.billingMode,
  state,
  costMicroUsd: actual,
  ...(record === null
    ? {}
    : { provider: record.provider, model: record.model, status: record.status, usage: record.usage })
})

/** After a settlement was left out, the batches that failed with it say nothing about the others. */
export const afterDrop = (state: FailureState): FailureState => ({ ...state, failures: 0 })
