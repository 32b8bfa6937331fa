import { lockNotAvailable, sqlStateOf } from "../sql/DatabaseError.ts"

/**
 * Why the database has not written. `Rejected`: the statement itself; it will be rejected again. `Contended`: another transaction
 * was in the way, or the statement took too long; the next one may be written. `Outage`: everything else, and a server that was
 * not reached.
 */
export type WriteFailure = "Rejected" | "Contended" | "Outage"

export const writeFailureOf = (cause: unknown): WriteFailure => {
  const state = sqlStateOf(cause)
  if (state === undefined) return "Outage"
  if (rejectingClasses.has(state.slice(0, 2))) return "Rejected"
  return isContended(state) ? "Contended" : "Outage"
}

/**
 * Whether the statement may have been written all the same, since its response was lost. A pooler that has lost its connection
 * to the server says so with a state of its own, and a server can end between the commit and the response.
 */
export const isUncertain = (cause: unknown): boolean => {
  const state = sqlStateOf(cause)
  return state === undefined || lostStates.some((start) => state.startsWith(start))
}

/** Connection exceptions, the end of a server, system errors and internal ones. */
const lostStates = ["08", "57P", "58", "XX"]

/**
 * Classes of SQLSTATE that are about the data. Class 42 is not among them: the statement is always the same, so a table, function or
 * privilege that is missing is missing for all settlements, and they must still be written once it is there.
 */
const rejectingClasses = new Set(["21", "22", "23", "54", "P0"])

const rolledBack = "40"
const queryCanceled = "57014"

const isContended = (state: string): boolean =>
  state.startsWith(rolledBack) || state === lockNotAvailable || state === queryCanceled
