import type { RequestId } from "../domain/Ids.ts"

/** The request's uuid without dashes, from which all ids of the response are formed. */
export const hexOf = (requestId: RequestId): string =>
  requestId.slice(0, 8) +
  requestId.slice(9, 13) +
  requestId.slice(14, 18) +
  requestId.slice(19, 23) +
  requestId.slice(24)
