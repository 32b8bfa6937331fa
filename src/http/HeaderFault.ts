import type { IncomingMessage } from "node:http"
import { InvalidRequest } from "../domain/GatewayError.ts"

/** Headers that node would merge or choose among, where anything but exactly one is an attempt at confusion. */
const single = ["host", "authorization", "content-type", "content-length", "transfer-encoding"]
/** Most headers are told apart from these by their length alone. */
const lengths: ReadonlySet<number> = new Set(single.map((name) => name.length))

/** What node's parser lets through and we do not: doubled headers that matter, and absolute or odd targets. */
export const headerFault = (request: IncomingMessage): InvalidRequest | undefined => {
  /** A bit for each of them. */
  let seen = 0
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const raw = request.rawHeaders[at] ?? ""
    if (!lengths.has(raw.length)) continue
    const place = single.indexOf(raw.toLowerCase())
    if (place < 0) continue
    if ((seen & (1 << place)) !== 0) return fault(`The header ${single[place]} was sent more than once.`)
    seen |= 1 << place
  }
  if (request.httpVersion !== "1.1" && request.httpVersion !== "1.0") return fault("The HTTP version has to be 1.1.")
  const coding = request.headers["transfer-encoding"]
  if (coding !== undefined && request.httpVersion === "1.0") {
    return fault("Transfer-Encoding does not exist in HTTP/1.0.")
  }
  if (coding !== undefined && coding.toLowerCase() !== "chunked") return fault("Transfer-Encoding has to be chunked.")
  return request.url?.startsWith("/") === true ? undefined : fault("The request target has to be a path.")
}

const fault = (message: string) => new InvalidRequest({ code: "invalid_value", message, param: null })
