import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { InvalidRequest } from "../domain/GatewayError.ts"

/** Inline images make large bodies; nothing sensible is larger. */
const maxBytes = 20 * 1024 * 1024
const maxDepth = 64
/**
 * Names, values and brackets: parsing costs time by them, not by bytes, and nothing else runs meanwhile. The most messages
 * that are allowed have a third of it.
 */
const maxMarks = 300_000

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
  if (type === undefined || !/^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i.test(type)) {
    return invalid("unsupported_content_type", "The body has to be application/json in UTF-8.")
  }
  const encoding = request.headers["content-encoding"]
  if (encoding !== undefined) {
    return invalid("unsupported_content_type", "A Content-Encoding is not supported: send the body as it is.")
  }
  return Number(request.headers["content-length"] ?? 0) > maxBytes ? tooLarge : undefined
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
      resume(parse(parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)))
    }
    request.on("data", onData)
    request.on("end", onEnd)
  })

const utf8 = new TextDecoder("utf-8", { fatal: true })

const parse = (body: Buffer): Exit.Exit<Body, InvalidRequest> => {
  let text: string
  try {
    text = utf8.decode(body)
  } catch {
    return Exit.fail(invalid("invalid_utf8", "The body is not valid UTF-8."))
  }
  const excess = excessOf(body)
  if (excess !== undefined) return Exit.fail(excess)
  try {
    return Exit.succeed({ bytes: body, json: JSON.parse(text) as unknown })
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

const tooDeep = invalid("invalid_json", `The body is nested deeper than ${maxDepth} levels.`)
const tooMany = invalid("request_too_large", `The body has more than ${maxMarks} names, values and brackets.`)

/**
 * One pass over the bytes: what is outside strings. Valid JSON or not, it never recurses. A long string is jumped over by
 * a native search: most of a large body is text.
 */
const excessOf = (body: Buffer): InvalidRequest | undefined => {
  let depth = 0
  let marks = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]
    if (byte === quote) at = endOfString(body, at + 1)
    else if (byte === 0x7b || byte === 0x5b) {
      marks++
      depth++
      if (depth > maxDepth) return tooDeep
    } else if (byte === 0x7d || byte === 0x5d) depth--
    else if (byte === 0x2c || byte === 0x3a) marks++
  }
  return marks > maxMarks ? tooMany : undefined
}

const quote = 0x22
const backslash = 0x5c
/** Up to here a look at each byte is cheaper than a native search. */
const shortString = 48

/** The place of the quote that ends the string, or of the body's end. */
const endOfString = (body: Buffer, start: number): number => {
  const near = Math.min(start + shortString, body.length)
  let at = start
  for (; at < near; at++) {
    if (body[at] === backslash) at++
    else if (body[at] === quote) return at
  }
  for (let end = body.indexOf(quote, at); end >= 0; end = body.indexOf(quote, end + 1)) {
    let escapes = end
    while (escapes > at && body[escapes - 1] === backslash) escapes--
    if ((end - escapes) % 2 === 0) return end
  }
  return body.length
}
