import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { InvalidRequest } from "../domain/GatewayError.ts"
import * as JsonBounds from "../wire/JsonBounds.ts"
import { maxBytesInOneTurn, yieldIfLarge } from "../wire/LargeBody.ts"

/** Inline images make large bodies; nothing sensible is larger. */
const maxBytes = 20 * 1024 * 1024

const invalid = (code: InvalidRequest["code"], message: string) => new InvalidRequest({ code, message, param: null })
const tooLarge = invalid("request_too_large", `The body is larger than ${maxBytes / 1024 / 1024} MiB.`)

export interface Body {
  readonly bytes: Buffer
  readonly json: unknown
}

/** The request's JSON value: one read, one parse, every bound checked on the way. */
export const read = (request: IncomingMessage): Effect.Effect<Body, InvalidRequest> => {
  const fault = headerFault(request)
  return fault === undefined ? received(request) : Effect.fail(fault)
}

const headerFault = (request: IncomingMessage): InvalidRequest | undefined => {
  const type = request.headers["content-type"]
  if (type === undefined || !isJsonInUtf8(type)) {
    return invalid("unsupported_content_type", "The body has to be application/json in UTF-8.")
  }
  const encoding = request.headers["content-encoding"]
  if (encoding !== undefined) {
    return invalid("unsupported_content_type", "A Content-Encoding is not supported: send the body as it is.")
  }
  return Number(request.headers["content-length"] ?? 0) > maxBytes ? tooLarge : undefined
}

/** `application/json`, with no parameter but a charset; taken apart by hand, since it may be long and full of blanks. */
const isJsonInUtf8 = (contentType: string): boolean => {
  const [type, ...parameters] = contentType.toLowerCase().split(";")
  if (type?.trim() !== "application/json") return false
  if (parameters.at(-1)?.trim() === "") parameters.pop()
  const [charset] = parameters
  if (charset === undefined) return true
  const [name, value, ...more] = charset.split("=")
  const isUtf8 = value?.trim() === "utf-8" || value?.trim() === '"utf-8"'
  return parameters.length === 1 && name?.trim() === "charset" && isUtf8 && more.length === 0
}

/**
 * Not to be cancelled: a client that leaves in mid-body is seen by the response's close, and then nothing comes any more.
 */
const received = (request: IncomingMessage): Effect.Effect<Body, InvalidRequest> =>
  Effect.async((resume) => {
    const parts: Array<Buffer> = []
    let total = 0
    const onData = (part: Buffer) => {
      total += part.length
      if (total > maxBytes) {
        request.off("data", onData)
        request.off("end", onEnd)
        resume(Effect.fail(tooLarge))
      } else parts.push(part)
    }
    const onEnd = () => {
      const [only] = parts
      resume(bodyOf(parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)))
    }
    request.on("data", onData)
    request.on("end", onEnd)
  })

const utf8 = new TextDecoder("utf-8", { fatal: true })

const bodyOf = (bytes: Buffer): Effect.Effect<Body, InvalidRequest> =>
  bytes.length <= maxBytesInOneTurn
    ? Exit.flatMap(textOf(bytes), (text) => parsed(bytes, text))
    : Effect.gen(function* () {
        yield* yieldIfLarge(bytes.length)
        const text = yield* textOf(bytes)
        yield* yieldIfLarge(bytes.length)
        return yield* parsed(bytes, text)
      })

/** Within the bounds, but perhaps not JSON. */
const textOf = (bytes: Buffer): Exit.Exit<string, InvalidRequest> => {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return Exit.fail(invalid("invalid_utf8", "The body is not valid UTF-8."))
  }
  const marks = JsonBounds.marksOf(text)
  if (marks === JsonBounds.tooDeep) return Exit.fail(tooDeep)
  return marks > JsonBounds.maxMarks ? Exit.fail(tooMany) : Exit.succeed(text)
}

const parsed = (bytes: Buffer, text: string): Exit.Exit<Body, InvalidRequest> => {
  try {
    return Exit.succeed({ bytes, json: JSON.parse(text) as unknown })
  } catch (error) {
    return Exit.fail(
      invalid(
        "invalid_json",
        `The body is not valid JSON${error instanceof SyntaxError ? positionIn(error.message) : ""}.`
      )
    )
  }
}

/** The parser's message quotes the body; only the position is passed on. */
const positionIn = (message: string): string => {
  const position = /position (\d+)/.exec(message)?.[1]
  return position === undefined ? "" : ` (at position ${position})`
}

const tooDeep = invalid("invalid_json", `The body is nested deeper than ${JsonBounds.maxDepth} levels.`)
const tooMany = invalid(
  "request_too_large",
  `The body has more than ${JsonBounds.maxMarks} names, values and brackets.`
)
