// @effect-diagnostics globalTimers:off
import type { IncomingMessage, ServerResponse } from "node:http"

/** Up to this size the rest of a rejected body is read and discarded, and the connection is kept. */
const maxKeptBytes = 64 * 1024
/** A rejected body that is longer or slower than this is cut off: about the maximum body size on a slow connection. */
const maxDroppedBytes = 20 * 1024 * 1024
const maxDroppingMillis = 10_000

/**
 * There is no body, or its length is known and small enough for it to be read for the sake of the connection. What follows a
 * request without a version may be anything.
 */
export const isSmall = ({ headers, httpVersionMajor }: IncomingMessage): boolean => {
  const hasBody = headers["transfer-encoding"] !== undefined || httpVersionMajor < 1
  return Number(headers["content-length"] ?? (hasBody ? Number.NaN : 0)) <= maxKeptBytes
}

/**
 * Ends a written response once the client has sent all of its body: closing the connection earlier would reset it, and a client
 * that still writes would see the reset instead of the response.
 */
export const endAfter = (request: IncomingMessage, response: ServerResponse): void => {
  let left = maxDroppedBytes
  const end = (): void => {
    clearTimeout(timer)
    request.off("data", drop)
    request.off("close", end)
    response.end()
  }
  const drop = (part: Buffer): void => {
    left -= part.length
    if (left < 0) end()
  }
  const timer = setTimeout(end, maxDroppingMillis)
  request.on("data", drop)
  request.once("end", end)
  request.once("close", end)
  request.resume()
}
