import { isDeepStrictEqual } from "node:util"

/** Whether a record is already what a patch makes of it: nothing is then written, neither the record nor a row of the audit log. */
export const isUnchanged = <A extends object>(record: A, patch: Partial<A>): boolean =>
  isDeepStrictEqual({ ...record, ...patch }, { ...record })
