import type { RequestId } from "../domain/Ids.ts"

/** The request's uuid without dashes, from which all ids of the response are formed. */
export const hexOf = (requestId: RequestId): string =>
  requestId.slice(0, 8) +
  requestId.slice(9, 13) +
  requestId.slice(14, 18) +
  requestId.slice(19, 23) +
  requestId.slice(24)

const idPattern =
  /^(?:chatcmpl-|resp_|msg_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

/** The uuid of a request: `chatcmpl-<hex>`, `resp_<hex>` and `msg_<hex>` are it without hyphens; `undefined` for any other text. */
export const requestIdOf = (given: string): string | undefined =>
  idPattern.exec(given)?.slice(1).join("-").toLowerCase()
