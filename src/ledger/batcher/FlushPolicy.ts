/** When the batcher writes, and how much of its queues one statement takes. */

/** A statement with more rows than this is no faster and keeps its scopes locked. */
export const maxPerStatement = 256

/** Kept responses are up to 1 MiB each: a statement takes no more of them than it can write within its time limit. */
export const maxKeptBytes = 8 * 1024 * 1024

export interface QueueState {
  /** A statement is running. */
  readonly writing: boolean
  /** Settlements wait for their next attempt after a failed batch. */
  readonly retrying: boolean
  readonly closing: boolean
  readonly reservations: number
  readonly settlements: number
  /** The oldest settlement has been in a batch that failed, so it may be what the database rejects. */
  readonly suspect: boolean
  /** While settlements are suspect, the next statement takes settlements, not reservations. */
  readonly settlementsNext: boolean
  /** Batches with settlements that failed since the last one was written. */
  readonly failures: number
  readonly maxSettlements: number
  /** Someone waits until the settlements are written. */
  readonly awaited: boolean
  /** The settlements have waited for their time. */
  readonly late: boolean
  /** Reservations wait for the money that the settlements release. */
  readonly wanted: boolean
  /** The reservations get what they ask for, whatever the settlements release; never while a statement is running. */
  readonly ample: boolean
}

/** FlushLater: within the time that a settlement waits for others to be written with. */
export type Action = "FlushNow" | "FlushLater" | "Wait" | "Idle"

export interface BatchSize {
  readonly settlements: number
  readonly reservations: number
  /** The settlements wait for more, though they could be written: whoever is refused is decided again with them. */
  readonly isPutOff: boolean
}

export const afterSettle = (queue: QueueState): Action => {
  if (queue.writing || queue.retrying) return "Wait"
  return queue.wanted || queue.closing || queue.settlements >= maxPerStatement ? "FlushNow" : "FlushLater"
}

export const afterBatch = (queue: QueueState): Action => {
  if (queue.reservations > 0) return "FlushNow"
  if (queue.settlements === 0) return "Idle"
  if (queue.retrying) return "Wait"
  return areDue(queue) ? "FlushNow" : "FlushLater"
}

const areDue = ({ awaited, closing, failures, late, maxSettlements, settlements }: QueueState): boolean =>
  closing || failures > 0 || awaited || late || settlements >= maxSettlements

/**
 * Suspect settlements and reservations take turns, so that no reservation fails for a settlement. Settlements that reservations can
 * do without wait until they are more: of one call after the other, each would cost as much as the reservation that it is written with.
 */
export const batchSize = (queue: QueueState): BatchSize => {
  const maySettle = !queue.retrying && (!queue.suspect || queue.settlementsNext || queue.reservations === 0)
  const mayPutOff = queue.ample && !queue.wanted && !areDue(queue)
  const isPutOff = mayPutOff && maySettle && queue.settlements > 0 && queue.reservations > 0
  const settlements = maySettle && !isPutOff ? Math.min(queue.settlements, queue.maxSettlements) : 0
  const mayReserve = !queue.suspect || settlements === 0
  return { settlements, reservations: mayReserve ? Math.min(queue.reservations, maxPerStatement) : 0, isPutOff }
}

/** As many of the first `count` settlements as keep at most `maxKeptBytes`; at least one, so that the queue goes on. */
export const withinKeptBytes = (count: number, keptBytes: (index: number) => number): number => {
  let bytes = 0
  for (let taken = 0; taken < count; taken++) {
    bytes += keptBytes(taken)
    if (bytes > maxKeptBytes && taken > 0) return taken
  }
  return count
}
