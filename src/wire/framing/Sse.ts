import { isUtf8 } from "node:buffer"
import { writeExactly } from "../../domain/ExactJson.ts"

/** One server-sent event. `event` is `message` unless the stream names another. */
export interface SseEvent {
  readonly event: string
  readonly data: string
}

/** An event without data: some servers send one to keep the connection alive. */
export const isBlank = ({ data }: SseEvent): boolean => !/\S/.test(data)

/** The rule that the bytes violate; the events before it have come, later bytes are ignored. */
export interface SseViolation {
  readonly _tag: "EventTooLarge" | "InvalidUtf8"
  readonly detail: string
}

export interface SseReader {
  readonly push: (bytes: Uint8Array) => SseViolation | undefined
}

export interface SseBounds {
  /** UTF-16 units since the last blank line, comments included. */
  readonly eventLength: number
}

/** Far above any valid event, and small enough for memory. */
export const bounds: SseBounds = { eventLength: 1024 * 1024 }

/**
 * Reads server-sent events as the WHATWG defines them: lines end in CR, LF or CRLF wherever the reads cut them, one BOM at
 * the very start is dropped, several data lines join with LF, comments, `id` and `retry` are ignored, and an event without
 * its blank line is discarded. Invalid UTF-8 is a violation, where the standard has replacement characters: text would be lost.
 */
export const reader = (onEvent: (event: SseEvent) => void, limits: SseBounds = bounds): SseReader => {
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let line = ""
  let afterCr = false
  let event = ""
  let data: string | undefined
  let eventLength = 0
  let violation: SseViolation | undefined
  /** The beginning of a character that the last read has cut. */
  let cutCharacter: Uint8Array = none

  /** `undefined` for bytes that no character has; one that the read cuts comes with the next. */
  const decoded = (bytes: Uint8Array): string | undefined => {
    try {
      return decoder.decode(bytes, { stream: true })
    } catch {
      return undefined
    }
  }

  const field = (text: string): void => {
    const colon = text.indexOf(":")
    if (colon === 0) return
    const name = colon === -1 ? text : text.slice(0, colon)
    if (name !== "data" && name !== "event") return
    const value = colon === -1 ? "" : text.slice(text.charCodeAt(colon + 1) === space ? colon + 2 : colon + 1)
    if (name === "event") event = value
    else data = data === undefined ? value : `${data}\n${value}`
  }

  const blank = (): void => {
    const [name, text] = [event, data]
    event = ""
    data = undefined
    if (text !== undefined) onEvent({ event: name === "" ? "message" : name, data: text })
  }

  const read = (text: string): SseViolation | undefined => {
    let from = 0
    let nextCr = text.indexOf("\r")
    for (;;) {
      if (afterCr && from < text.length) {
        afterCr = false
        if (text.charCodeAt(from) === lf) from++
      }
      if (nextCr !== -1 && nextCr < from) nextCr = text.indexOf("\r", from)
      const nextLf = text.indexOf("\n", from)
      const end = nextLf === -1 || (nextCr !== -1 && nextCr < nextLf) ? nextCr : nextLf
      if (end === -1) break
      const rest = text.slice(from, end)
      const whole = line === "" ? rest : line + rest
      line = ""
      from = end + 1
      if (text.charCodeAt(end) === cr) afterCr = true
      eventLength += whole.length + 1
      if (eventLength > limits.eventLength) break
      if (whole === "") {
        eventLength = 0
        blank()
      } else field(whole)
    }
    if (eventLength <= limits.eventLength) line += text.slice(from)
    return eventLength + line.length > limits.eventLength
      ? { _tag: "EventTooLarge", detail: `an event of more than ${limits.eventLength} characters` }
      : undefined
  }

  return {
    push: (bytes) => {
      if (violation !== undefined) return violation
      const text = decoded(bytes)
      const whole = cutCharacter.length === 0 ? bytes : Buffer.concat([cutCharacter, bytes])
      if (text === undefined) violation = read(validLines(whole)) ?? notUtf8
      else {
        cutCharacter = cutEnd(whole)
        violation = read(text)
      }
      return violation
    }
  }
}

const notUtf8: SseViolation = { _tag: "InvalidUtf8", detail: "an event stream that is not UTF-8" }

/** The text of the lines before the first that is not UTF-8. */
const validLines = (bytes: Uint8Array): string => {
  let end = 0
  for (const [at, byte] of bytes.entries()) {
    if (byte !== lf && byte !== cr) continue
    if (!isUtf8(bytes.subarray(end, at + 1))) break
    end = at + 1
  }
  return Buffer.from(bytes.subarray(0, end)).toString("utf8")
}

/** The bytes at the end that begin a character without ending it: at most 3. */
const cutEnd = (bytes: Uint8Array): Uint8Array => {
  for (let length = 1; length <= 3; length++) {
    const byte = bytes[bytes.length - length] ?? 0
    if (byte < 0x80) break
    if (byte >= 0xc0) return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > length ? bytes.slice(-length) : none
  }
  return none
}
const none = new Uint8Array(0)

/** The only writer of events: the data is one line of JSON, the name is one of `EventName`. */
export const write = (value: unknown, event?: EventName): string => writeJson(writeExactly(value), event)

/** The same for a value that is written as JSON already. */
export const writeJson = (json: string, event?: EventName): string =>
  event === undefined ? `data: ${inOneLine(json)}\n\n` : `event: ${event}\ndata: ${inOneLine(json)}\n\n`

/** Written after success only, since clients treat it as success. */
export const done = "data: [DONE]\n\n"

/** A comment that keeps the connection alive. */
export const heartbeat = ": keep-alive\n\n"

/** The event names of the gateway; a closed set, so that external text cannot become an event name. */
export type EventName =
  | "error"
  | "ping"
  | `message_${"start" | "delta" | "stop"}`
  | `content_block_${"start" | "delta" | "stop"}`
  | `response.${"created" | "queued" | "in_progress" | "completed" | "failed" | "incomplete"}`
  | `response.${"output_item" | "content_part" | "reasoning_summary_part"}.${"added" | "done"}`
  | "response.output_text.annotation.added"
  | `response.${TextOf}.${"delta" | "done"}`

type TextOf =
  | "output_text"
  | "refusal"
  | "reasoning_text"
  | "reasoning_summary_text"
  | "function_call_arguments"
  | "custom_tool_call_input"

const lf = 10
const cr = 13
const space = 32

/** JSON escapes CR and LF. The other characters end a line for clients that split text instead of bytes. */
export const oneLine = (value: unknown): string => inOneLine(writeExactly(value))

const inOneLine = (json: string): string =>
  json.replace(/[\u0085\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
