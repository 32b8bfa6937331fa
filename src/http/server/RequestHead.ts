import type { IncomingMessage } from "node:http"
import { InvalidRequest } from "../../domain/GatewayError.ts"

/** Headers that node would merge or choose among; duplicates of them are rejected against request smuggling. */
const single = ["host", "authorization", "content-type", "content-length", "transfer-encoding"]
/** Lengths of these names; a different length excludes most headers without a comparison. */
const lengths: ReadonlySet<number> = new Set(single.map((name) => name.length))

/** The bit of `host`. */
const hostSeen = 1 << single.indexOf("host")

/** Rejects requests that node's parser accepts: duplicates of the headers above, a missing host, and targets that are not paths. */
export const requestHeadError = (request: IncomingMessage): InvalidRequest | undefined => {
  /** One bit for each header of `single`. */
  let seen = 0
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const raw = request.rawHeaders[at] ?? ""
    if (!lengths.has(raw.length)) continue
    const place = single.indexOf(raw.toLowerCase())
    if (place < 0) continue
    if ((seen & (1 << place)) !== 0) return fault(`The header ${single[place]} was sent more than once.`)
    seen |= 1 << place
  }
  if (request.httpVersion !== "1.1" && request.httpVersion !== "1.0") return fault("The HTTP version must be 1.1.")
  if ((seen & hostSeen) === 0 && request.httpVersion === "1.1") return fault("The header host is required.")
  const { expect } = request.headers
  if (expect !== undefined && expect.toLowerCase() !== "100-continue") return fault("Expect must be 100-continue.")
  const coding = request.headers["transfer-encoding"]
  if (coding !== undefined && request.httpVersion === "1.0") {
    return fault("Transfer-Encoding does not exist in HTTP/1.0.")
  }
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return fault("Transfer-Encoding must be chunked.")
  return request.url?.startsWith("/") === true ? undefined : fault("The request target must be a path.")
}

const fault = (message: string) => new InvalidRequest({ code: "invalid_value", message, param: null })
