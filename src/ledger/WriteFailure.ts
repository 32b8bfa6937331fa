import { sqlStateOf } from "../sql/DatabaseError.ts"

/**
 * Why the database has not written. `Rejected`: the statement itself; it will be rejected again. `Contended`: another transaction
 * was in the way, or the statement took too long; the next one may be written. `Outage`: everything else, and a server that was
 * not reached.
 */
export type WriteFailure = "Rejected" | "Contended" | "Outage"

export const writeFailureOf = (cause: unknown): WriteFailure => {
  const state = sqlStateOf(cause)
  if (state === undefined || state === insufficientPrivilege) return "Outage"
  if (rejectingClasses.has(state.slice(0, 2))) return "Rejected"
  return isContended(state) ? "Contended" : "Outage"
}

/** A row that another transaction has locked was waited for too long. */
export const lockNotAvailable = "55P03"

/** Classes of SQLSTATE that are about the data and the statement, not about the server's state. */
const rejectingClasses = new Set(["21", "22", "23", "42", "54", "P0"])

/** In a rejecting class, but privileges can be granted again, and the batch must still be written then. */
const insufficientPrivilege = "42501"

const rolledBack = "40"
const queryCanceled = "57014"

const isContended = (state: string): boolean =>
  state.startsWith(rolledBack) || state === lockNotAvailable || state === queryCanceled
