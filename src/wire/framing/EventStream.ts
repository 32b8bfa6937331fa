import { isUtf8 } from "node:buffer"
import { crc32 } from "node:zlib"

/** One message of an AWS event stream (`application/vnd.amazon.eventstream`). */
export interface EventStreamMessage {
  readonly headers: Headers
  readonly payload: Uint8Array
}

export type Headers = Readonly<Record<string, HeaderValue>>

export type HeaderValue =
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "byte" | "short" | "integer"; readonly value: number }
  | { readonly type: "long"; readonly value: bigint }
  | { readonly type: "binary"; readonly value: Uint8Array }
  | { readonly type: "string"; readonly value: string }
  /** Milliseconds since the epoch. */
  | { readonly type: "timestamp"; readonly value: bigint }
  /** 32 hexadecimal digits in groups, in lower case. */
  | { readonly type: "uuid"; readonly value: string }

export interface EventStreamReader {
  /** Returns the rule that the bytes violate; later bytes are ignored. */
  readonly push: (bytes: Uint8Array) => string | undefined
  /** A truncated message is a violation too, since a message carries its length. */
  readonly end: () => string | undefined
}

export interface EventStreamBounds {
  readonly messageBytes: number
}

/** Far above any valid event, and small enough for memory. */
export const bounds: EventStreamBounds = { messageBytes: 1024 * 1024 }

/** Total length, length of the headers, and the checksum of both. */
const preludeBytes = 12
const checksumBytes = 4

/** Reads messages however the bytes are split, and verifies both checksums of each message. */
export const reader = (
  onMessage: (message: EventStreamMessage) => void,
  limits: EventStreamBounds = bounds
): EventStreamReader => {
  const prelude = new Uint8Array(preludeBytes)
  let message = prelude
  let filled = 0
  let violation: string | undefined

  const complete = (whole: Uint8Array): string | undefined => {
    const read = decode(whole)
    if (typeof read === "string") return read
    onMessage(read)
    return undefined
  }

  const take = (bytes: Uint8Array): string | undefined => {
    let at = 0
    while (at < bytes.length) {
      if (filled === 0 && bytes.length - at >= preludeBytes) {
        const length = lengthIn(bytes.subarray(at, at + preludeBytes), limits)
        if (typeof length === "string") return length
        if (bytes.length - at >= length) {
          const broken = complete(bytes.subarray(at, at + length))
          if (broken !== undefined) return broken
          at += length
          continue
        }
      }
      const piece = bytes.subarray(at, at + message.length - filled)
      message.set(piece, filled)
      filled += piece.length
      at += piece.length
      if (filled < message.length) return undefined
      if (message === prelude) {
        const length = lengthIn(prelude, limits)
        if (typeof length === "string") return length
        message = new Uint8Array(length)
        message.set(prelude)
      } else {
        const whole = message
        message = prelude
        filled = 0
        const broken = complete(whole)
        if (broken !== undefined) return broken
      }
    }
    return undefined
  }

  return {
    push: (bytes) => {
      if (violation !== undefined) return violation
      violation = take(bytes)
      return violation
    },
    end: () => violation ?? (filled === 0 ? undefined : "an event stream that ends inside a message")
  }
}

export const write = (headers: Headers, payload: Uint8Array): Uint8Array => {
  const names = Buffer.concat(Object.entries(headers).map(([name, value]) => headerBytes(name, value)))
  const bytes = Buffer.alloc(preludeBytes + names.length + payload.length + checksumBytes)
  bytes.writeUInt32BE(bytes.length, 0)
  bytes.writeUInt32BE(names.length, 4)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8)
  bytes.set(names, preludeBytes)
  bytes.set(payload, preludeBytes + names.length)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, bytes.length - checksumBytes)), bytes.length - checksumBytes)
  return bytes
}

/** The length of the message with this prelude. */
const lengthIn = (prelude: Uint8Array, { messageBytes }: EventStreamBounds): number | string => {
  const view = viewOf(prelude)
  if (crc32(prelude.subarray(0, 8)) !== view.getUint32(8)) return "an event stream prelude with a wrong checksum"
  const length = view.getUint32(0)
  if (length > messageBytes) return `an event of more than ${messageBytes} bytes`
  return length < preludeBytes + view.getUint32(4) + checksumBytes
    ? "an event stream message that is too short"
    : length
}

const decode = (whole: Uint8Array): EventStreamMessage | string => {
  const view = viewOf(whole)
  const end = whole.length - checksumBytes
  if (crc32(whole.subarray(0, end)) !== view.getUint32(end)) return "an event stream message with a wrong checksum"
  const payloadAt = preludeBytes + view.getUint32(4)
  const headers = decodeHeaders(whole.subarray(preludeBytes, payloadAt))
  return headers === undefined
    ? "event stream headers that cannot be read"
    : { headers, payload: copyOf(whole.subarray(payloadAt, end)) }
}

const decodeHeaders = (bytes: Uint8Array): Headers | undefined => {
  const headers: Record<string, HeaderValue> = {}
  const view = viewOf(bytes)
  let at = 0
  while (at < bytes.length) {
    const valueAt = at + 1 + view.getUint8(at) + 1
    const length = valueAt <= bytes.length ? valueLength(view, valueAt) : undefined
    if (length === undefined || valueAt + length > bytes.length) return undefined
    const name = text(bytes.subarray(at + 1, valueAt - 1))
    const value = decodeValue(view.getUint8(valueAt - 1), viewOf(bytes.subarray(valueAt, valueAt + length)))
    if (name === undefined || value === undefined) return undefined
    headers[name] = value
    at = valueAt + length
  }
  return headers
}

/** The length of the header value at this offset, including its length field. */
const valueLength = (view: DataView, at: number): number | undefined => {
  const type = view.getUint8(at - 1)
  if (type !== 6 && type !== 7) return fixedLengths[type]
  return at + 2 <= view.byteLength ? 2 + view.getUint16(at) : undefined
}

/** By type: true, false, byte, short, integer, long, binary, string, timestamp, uuid. */
const fixedLengths: ReadonlyArray<number | undefined> = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]

const decodeValue = (type: number, view: DataView): HeaderValue | undefined => {
  switch (type) {
    case 0:
    case 1:
      return { type: "boolean", value: type === 0 }
    case 2:
      return { type: "byte", value: view.getInt8(0) }
    case 3:
      return { type: "short", value: view.getInt16(0) }
    case 4:
      return { type: "integer", value: view.getInt32(0) }
    case 5:
      return { type: "long", value: view.getBigInt64(0) }
    case 6:
      return { type: "binary", value: copyOf(bytesOf(view).subarray(2)) }
    case 7: {
      const value = text(bytesOf(view).subarray(2))
      return value === undefined ? undefined : { type: "string", value }
    }
    case 8:
      return { type: "timestamp", value: view.getBigInt64(0) }
    case 9:
      return { type: "uuid", value: grouped(Buffer.from(bytesOf(view)).toString("hex")) }
    default:
      return undefined
  }
}

const headerBytes = (name: string, header: HeaderValue): Buffer => {
  const nameBytes = Buffer.from(name, "utf8")
  return Buffer.concat([Buffer.of(nameBytes.length), nameBytes, valueBytes(header)])
}

const valueBytes = (header: HeaderValue): Buffer => {
  switch (header.type) {
    case "boolean":
      return Buffer.of(header.value ? 0 : 1)
    case "byte":
      return sized(2, 1, (bytes) => bytes.writeInt8(header.value, 1))
    case "short":
      return sized(3, 2, (bytes) => bytes.writeInt16BE(header.value, 1))
    case "integer":
      return sized(4, 4, (bytes) => bytes.writeInt32BE(header.value, 1))
    case "long":
      return sized(5, 8, (bytes) => bytes.writeBigInt64BE(header.value, 1))
    case "binary":
      return counted(6, Buffer.from(header.value))
    case "string":
      return counted(7, Buffer.from(header.value, "utf8"))
    case "timestamp":
      return sized(8, 8, (bytes) => bytes.writeBigInt64BE(header.value, 1))
    case "uuid":
      return Buffer.concat([Buffer.of(9), Buffer.from(header.value.replaceAll("-", ""), "hex")])
  }
}

const sized = (type: number, length: number, fill: (bytes: Buffer) => void): Buffer => {
  const bytes = Buffer.alloc(1 + length)
  bytes[0] = type
  fill(bytes)
  return bytes
}

const counted = (type: number, value: Buffer): Buffer =>
  Buffer.concat([sized(type, 2, (bytes) => bytes.writeUInt16BE(value.length, 1)), value])

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const bytesOf = (view: DataView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength)

/** Copies bytes that belong to the socket. (`slice` of a Buffer does not copy.) */
const copyOf = (bytes: Uint8Array): Uint8Array => new Uint8Array(bytes)

const text = (bytes: Uint8Array): string | undefined => (isUtf8(bytes) ? new TextDecoder().decode(bytes) : undefined)

const grouped = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
