import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { InvalidRequest } from "../../domain/GatewayError.ts"
import { nextTurn } from "../../domain/NextTurn.ts"
import { maxBytesInOneTurn } from "../../wire/framing/LargeBody.ts"
import * as JsonBounds from "../../wire/validation/JsonBounds.ts"
import { type ParsedJson, Parsing } from "../../wire/validation/LongStrings.ts"

/** Inline images make large bodies; no valid request is larger. */
const maxBytes = 20 * 1024 * 1024

const invalid = (code: InvalidRequest["code"], message: string) => new InvalidRequest({ code, message, param: null })
const tooLarge = (limitBytes: number) =>
  invalid("request_too_large", `The body is larger than ${limitBytes / 1024 / 1024} MiB.`)

export interface RequestBody extends ParsedJson {
  readonly bytes: Buffer
}

/** Reads the request's JSON value: one read, one parse, with all bounds checked. */
export const read = (
  request: IncomingMessage,
  limitBytes: number = maxBytes
): Effect.Effect<RequestBody, InvalidRequest> => {
  const fault = contentHeaderError(request, limitBytes)
  return fault === undefined ? received(request, limitBytes) : Effect.fail(fault)
}

/** The same for a body that comes as a stream, from whatever server. */
export const readStream = <E>(
  request: { readonly headers: ContentHeaders; readonly stream: Stream.Stream<Uint8Array, E> },
  limitBytes: number = maxBytes
): Effect.Effect<RequestBody, InvalidRequest> => {
  const fault = contentHeaderError(request, limitBytes)
  if (fault !== undefined) return Effect.fail(fault)
  const parts: Array<Uint8Array> = []
  let total = 0
  return Stream.runForEach(request.stream, (part) => {
    total += part.length
    if (total > limitBytes) return Effect.fail(tooLarge(limitBytes))
    parts.push(part)
    return Effect.void
  }).pipe(
    Effect.mapError((error) => (error instanceof InvalidRequest ? error : unreadable)),
    Effect.flatMap(() => bodyOf(Buffer.concat(parts)))
  )
}

const unreadable = invalid("invalid_value", "The body could not be read.")

interface ContentHeaders {
  readonly "content-type"?: string | undefined
  readonly "content-encoding"?: string | undefined
  readonly "content-length"?: string | undefined
}

const contentHeaderError = (
  request: { readonly headers: ContentHeaders },
  limitBytes: number
): InvalidRequest | undefined => {
  const type = request.headers["content-type"]
  if (type === undefined || !isJsonInUtf8(type)) {
    const sent = type === undefined ? "no content-type was sent" : `the content-type is '${shown(type)}'`
    return invalid("unsupported_content_type", `The body must be application/json in UTF-8; ${sent}.`)
  }
  const encoding = request.headers["content-encoding"]
  if (encoding !== undefined) {
    return invalid("unsupported_content_type", "Content-Encoding is not supported: send the body unencoded.")
  }
  return Number(request.headers["content-length"] ?? 0) > limitBytes ? tooLarge(limitBytes) : undefined
}

/** A part of the client's own text; node has checked that it is printable. */
const shown = (type: string): string => (type.length > 100 ? `${type.slice(0, 100)}…` : type)

/** `application/json`, with no parameter but a charset; parsed by hand, since the header may be long and full of spaces. */
const isJsonInUtf8 = (contentType: string): boolean => {
  if (contentType === "application/json") return true
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
 * Has no canceller: a client that disconnects during the body closes the response, and then no more data events come.
 */
const received = (request: IncomingMessage, limitBytes: number): Effect.Effect<RequestBody, InvalidRequest> =>
  Effect.async((resume) => {
    const parts: Array<Buffer> = []
    let total = 0
    const onData = (part: Buffer) => {
      total += part.length
      if (total > limitBytes) {
        request.off("data", onData)
        request.off("end", onEnd)
        resume(Effect.fail(tooLarge(limitBytes)))
      } else parts.push(part)
    }
    const onEnd = () => {
      const [only] = parts
      resume(bodyOf(parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)))
    }
    request.on("data", onData)
    request.on("end", onEnd)
  })

const bodyOf = (bytes: Buffer): Effect.Effect<RequestBody, InvalidRequest> => {
  const text = withoutByteOrderMark(bytes)
  return bytes.length <= maxBytesInOneTurn
    ? Exit.flatMap(longStringsOf(text), (longStrings) => parsed(bytes, new Parsing(text, longStrings)))
    : Effect.gen(function* () {
        yield* nextTurn
        const parsing = new Parsing(text, yield* longStringsOf(text))
        do yield* nextTurn
        while (parsing.more(maxBytesInOneTurn))
        return yield* parsed(bytes, parsing)
      })
}

const withoutByteOrderMark = (bytes: Buffer): Buffer =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

/** Checks the encoding and the bounds; the text may still be invalid JSON. */
const longStringsOf = (text: Buffer): Exit.Exit<ReadonlyArray<number>, InvalidRequest> => {
  if (!isUtf8(text)) return Exit.fail(invalid("invalid_utf8", "The body is not valid UTF-8."))
  const { longStrings, marks } = JsonBounds.boundsOf(text)
  if (marks === JsonBounds.tooDeep) return Exit.fail(tooDeep)
  return marks > JsonBounds.maxMarks ? Exit.fail(tooMany) : Exit.succeed(longStrings)
}

const parsed = (bytes: Buffer, parsing: Parsing): Exit.Exit<RequestBody, InvalidRequest> => {
  try {
    const { json, literals } = parsing.end()
    return Exit.succeed({ bytes, json, literals })
  } catch (error) {
    return Exit.fail(
      invalid(
        "invalid_json",
        `The body is not valid JSON${error instanceof SyntaxError ? positionIn(error.message) : ""}.`
      )
    )
  }
}

/** The parser's message quotes the body, so only the position is passed on. It has none at the end, or for a short text. */
const positionIn = (message: string): string => {
  if (message === "Unexpected end of JSON input") return ": it is empty or ends too early"
  const position = / JSON at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  return position === undefined ? "" : ` (at position ${position})`
}

const tooDeep = invalid("invalid_json", `The body is nested deeper than ${JsonBounds.maxDepth} levels.`)
const tooMany = invalid(
  "request_too_large",
  `The body has more than ${JsonBounds.maxMarks} names, values and brackets.`
)
