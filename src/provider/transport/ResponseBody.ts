import { isUtf8 } from "node:buffer"
import type { ProviderFailure } from "../../domain/ProviderError.ts"
import type { ProviderCall } from "../Provider.ts"
import { one } from "../protocols/shared/Errors.ts"
import type { Protocol, ResponseHeaders, Step } from "../protocols/shared/Protocol.ts"

/** Reads a response body. Any result but `incomplete` ends the attempt. */
export interface ResponseBodyReader {
  readonly push: (bytes: Uint8Array) => Step
  readonly end: () => Step
}

const maxErrorBodyBytes = 64 * 1024

/**
 * Chooses the reader of a successful response by what it begins with: servers and proxies send JSON in place of a stream (often an
 * error), and either of them under another content type.
 */
export const answerBody = (
  protocol: Protocol,
  call: ProviderCall,
  headers: ResponseHeaders
): ResponseBodyReader | ProviderFailure => {
  const encoding = one(headers["content-encoding"]) ?? "identity"
  if (encoding.toLowerCase() !== "identity") return { _tag: "BadResponse", detail: "an encoded answer" }
  const type = (one(headers["content-type"]) ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""
  const isStream = type === protocol.stream.mediaType || (type === "" && call.request.stream)
  if (isStream || type === "" || type === "application/json" || type.endsWith("+json"))
    return new RecognizedBody(protocol, call, isStream ? "stream" : "json")
  return new RecognizedBody(protocol, call, undefined)
}

type Shape = "stream" | "json"

/** Reads a response as what its first character says it is, else as what its content type says. */
class RecognizedBody implements ResponseBodyReader {
  private reader: ResponseBodyReader | undefined
  private readonly protocol: Protocol
  private readonly call: ProviderCall
  private readonly declared: Shape | undefined

  constructor(protocol: Protocol, call: ProviderCall, declared: Shape | undefined) {
    this.protocol = protocol
    this.call = call
    this.declared = declared
  }

  push(bytes: Uint8Array): Step {
    if (this.reader !== undefined) return this.reader.push(bytes)
    const start = startOf(bytes)
    if (start === bytes.length) return incomplete
    const shape = shapeOf(bytes[start], this.protocol) ?? this.declared
    if (shape === undefined) return unrecognized
    this.reader =
      shape === "json" ? new NonStreamingBody(this.protocol, this.call) : this.protocol.stream.open(this.call)
    return this.reader.push(start === 0 ? bytes : bytes.subarray(start))
  }

  end(): Step {
    if (this.reader !== undefined) return this.reader.end()
    return this.declared === "stream" ? this.protocol.stream.open(this.call).end() : unrecognized
  }
}

const unrecognized: Step = {
  events: [],
  progress: { _tag: "BadResponse", detail: "an answer that is neither JSON nor a stream" }
}

/** The first byte that is neither white space nor of a byte order mark, which no reader needs. */
const startOf = (bytes: Uint8Array): number => {
  let at = 0
  while (at < bytes.length && ignored.has(bytes[at] ?? 0)) at++
  return at
}
const ignored: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])

/** Lines of server-sent events begin with a colon or the name of a field; frames of AWS, of any valid length, with a zero. */
const shapeOf = (first: number | undefined, { stream }: Protocol): Shape | undefined => {
  const character = String.fromCharCode(first ?? 0)
  if (character === "{" || character === "[") return "json"
  return (stream.mediaType === "text/event-stream" ? ":deir" : "\u0000").includes(character) ? "stream" : undefined
}

const incomplete: Step = { events: [], progress: "incomplete" }

const byteOrderMark = 0xfeff

const joined = (parts: ReadonlyArray<Uint8Array>): Buffer => {
  const [only] = parts
  return parts.length === 1 && Buffer.isBuffer(only) ? only : Buffer.concat(parts)
}

const textOf = (bytes: Buffer): string => {
  const text = bytes.toString("utf8")
  return text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text
}

class NonStreamingBody implements ResponseBodyReader {
  private readonly parts: Array<Uint8Array> = []
  private readonly protocol: Protocol
  private readonly call: ProviderCall

  constructor(protocol: Protocol, call: ProviderCall) {
    this.protocol = protocol
    this.call = call
  }

  push(bytes: Uint8Array): Step {
    this.parts.push(bytes)
    return incomplete
  }

  end(): Step {
    const bytes = joined(this.parts)
    return isUtf8(bytes) ? this.protocol.nonStreaming(this.call, textOf(bytes)) : notUtf8
  }
}

const notUtf8: Step = { events: [], progress: { _tag: "BadResponse", detail: "an answer that is not UTF-8" } }

/** The beginning of an error response; the rest is not waited for. Its text only explains the status, so invalid UTF-8 passes. */
export class ErrorBody implements ResponseBodyReader {
  private readonly parts: Array<Uint8Array> = []
  private size = 0
  private readonly classify: (body: string) => ProviderFailure

  constructor(classify: (body: string) => ProviderFailure) {
    this.classify = classify
  }

  push(bytes: Uint8Array): Step {
    this.size += bytes.length
    if (this.size > maxErrorBodyBytes) return this.end()
    this.parts.push(bytes)
    return incomplete
  }

  end(): Step {
    return { events: [], progress: this.classify(textOf(joined(this.parts))) }
  }
}
