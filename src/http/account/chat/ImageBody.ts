import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import { maxImageBytes } from "../../../chat/Images.ts"
import { InvalidRequest } from "../../../domain/GatewayError.ts"

/** The bytes of a body that is an image, whatever its type is said to be; counted while they come. */
export const read = (request: IncomingMessage): Effect.Effect<Buffer, InvalidRequest> =>
  Effect.async((resume) => {
    if (Number(request.headers["content-length"] ?? 0) > maxImageBytes) return resume(tooLarge)
    const parts: Array<Buffer> = []
    let total = 0
    const onData = (part: Buffer): void => {
      total += part.length
      if (total <= maxImageBytes) {
        parts.push(part)
        return
      }
      request.off("data", onData)
      request.off("end", onEnd)
      resume(tooLarge)
    }
    const onEnd = (): void => resume(Effect.succeed(Buffer.concat(parts)))
    request.on("data", onData)
    request.on("end", onEnd)
  })

const tooLarge = Effect.fail(
  new InvalidRequest({ code: "request_too_large", message: "The image is larger than 10 MiB.", param: null })
)
