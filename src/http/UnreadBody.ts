// @effect-diagnostics globalTimers:off
import type { IncomingMessage, ServerResponse } from "node:http"

/** Up to here the rest of a refused body is read and dropped, and the connection goes on. */
const maxKeptBytes = 64 * 1024
/** A refused body that is longer or slower than this is cut off: about the largest body that is allowed, on a slow line. */
const maxDroppedBytes = 20 * 1024 * 1024
const maxDroppingMillis = 10_000

/** What is left of the body is announced, and so little that the connection is worth more. */
export const isSmall = (request: IncomingMessage): boolean =>
  Number(request.headers["content-length"] ?? Number.NaN) <= maxKeptBytes

/**
 * Ends an answer, whole but for its end, once the client has sent all of its body: a connection that is closed before is
 * reset, and a client that still writes would see the reset instead of the answer.
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
