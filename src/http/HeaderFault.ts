import type { IncomingMessage } from "node:http"
import { InvalidRequest } from "../domain/GatewayError.ts"

/** Headers that node would merge or choose among, where anything but exactly one is an attempt at confusion. */
const single: ReadonlySet<string> = new Set([
  "host",
  "authorization",
  "content-type",
  "content-length",
  "transfer-encoding"
])

/** What node's parser lets through and we do not: doubled headers that matter, and absolute or odd targets. */
export const headerFault = (request: IncomingMessage): InvalidRequest | undefined => {
  const seen = new Set<string>()
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at]?.toLowerCase() ?? ""
    if (!single.has(name)) continue
    if (seen.has(name)) return fault(`The header ${name} was sent more than once.`)
    seen.add(name)
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
