// Promise: Event streams are exact.
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Sse from "../../../src/wire/framing/Sse.ts"

const read = (pieces: Iterable<Uint8Array>, limits?: Sse.SseBounds) => {
  const events: Array<Sse.SseEvent> = []
  const reader = Sse.reader((event) => events.push(event), limits)
  let violation: Sse.SseViolation | undefined
  for (const piece of pieces) violation = reader.push(piece)
  return { events, violation }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Cuts the bytes at the given places, however they fall. */
const cut = (whole: Uint8Array, places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const at = [0, ...[...places].map((place) => place % (whole.length + 1)).sort((a, b) => a - b), whole.length]
  return at.slice(1).map((end, n) => whole.subarray(at[n], end))
}

const message = (data: string) => ({ event: "message", data })

describe("the reader follows the standard", () => {
  const table: ReadonlyArray<readonly [string, string, ReadonlyArray<Sse.SseEvent>]> = [
    ["LF", "data: a\n\ndata: b\n\n", [message("a"), message("b")]],
    ["CR", "data: a\r\rdata: b\r\r", [message("a"), message("b")]],
    ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", [message("a"), message("b")]],
    ["mixed line ends", "data: a\r\n\ndata: b\n\r\n", [message("a"), message("b")]],
    ["several data lines", "data: a\ndata:b\ndata\n\n", [message("a\nb\n")]],
    [
      "several data lines that end in CRLF",
      "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n",
      [message("a\nb"), message("c")]
    ],
    ["several data lines that end in CR", "data: a\rdata: b\r\rdata: c\r\r", [message("a\nb"), message("c")]],
    ["one blank after the colon only", "data:  a\n\n", [message(" a")]],
    ["a BOM at the start", "\uFEFFdata: a\n\n", [message("a")]],
    ["a BOM later is a character", "data: a\n\n\uFEFFdata: b\n\n", [message("a")]],
    [
      "an event name, for one event",
      "event: error\ndata: a\n\ndata: b\n\n",
      [{ event: "error", data: "a" }, message("b")]
    ],
    ["comments, id, retry and unknown fields", ": c\nid: 1\nretry: 5\nfoo: x\ndata: a\n\n", [message("a")]],
    ["no data, no event", "event: x\n\n: only\n\ndata: a\n\n", [message("a")]],
    ["empty data is an event", "data\n\n", [message("")]],
    ["an unfinished event is discarded", "data: a\n\ndata: b\n", [message("a")]],
    ["a field name with a blank is unknown", "data : a\n\n data: b\n\n", []],
    ["text of several bytes", "data: ü€😀\u2028\n\n", [message("ü€😀\u2028")]]
  ]
  for (const [name, text, events] of table) {
    it(name, () => {
      const whole = bytes(text)
      expect(read([whole]).events).toEqual(events)
      for (let place = 0; place <= whole.length; place++) expect(read(cut(whole, [place])).events).toEqual(events)
      expect(read(Array.from(whole, (byte) => Uint8Array.of(byte))).events).toEqual(events)
    })
  }
})

const lines = fc.array(
  fc.oneof(
    fc.constantFrom("data", "data:", "data: x", "event: e", ":", "", "id: 1", "data: ü€😀", "\uFEFFdata: z"),
    fc.string({ unit: "grapheme", maxLength: 8 })
  ),
  { maxLength: 30 }
)
const stream = fc
  .tuple(lines, fc.array(fc.constantFrom("\n", "\r", "\r\n"), { minLength: 30, maxLength: 30 }))
  .map(([each, ends]) => each.map((line, n) => line.replace(/[\r\n]/g, "") + ends[n]).join(""))

describe("properties", () => {
  it("any split of the bytes gives the same events", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (text, places) => {
        const whole = bytes(text)
        expect(read(cut(whole, places))).toEqual(read([whole]))
      }),
      { numRuns: 500 }
    )
  })

  it("what is written is read back, whatever text is in it", () => {
    const hostile = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\r",
        "\n",
        "\r\n\r\n",
        "\u2028",
        "\u2029",
        "\u0085",
        "data: [DONE]\n\n",
        "\n\nevent: error\ndata: {}\n\n",
        "\uFEFF"
      )
    )
    fc.assert(
      fc.property(fc.array(hostile), fc.array(fc.nat(), { maxLength: 6 }), (texts, places) => {
        const value = { content: texts.join("") }
        const frame = Sse.write(value) + Sse.heartbeat + Sse.write(value, "error") + Sse.done
        expect(frame.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(frame.split("\n").length)
        const { events } = read(cut(bytes(frame), places))
        expect(events.map((event) => event.event)).toEqual(["message", "error", "message"])
        expect(events.slice(0, 2).map((event): unknown => JSON.parse(event.data))).toEqual([
          JSON.parse(JSON.stringify(value)),
          JSON.parse(JSON.stringify(value))
        ])
        expect(events[2]?.data).toBe("[DONE]")
      })
    )
  })
})

describe("bytes that are not UTF-8", () => {
  it("end the reading after the events of earlier reads, and nothing of them becomes text", () => {
    for (const invalid of [[0xff], [0xc3, 0x28], [0xe2, 0x82, 0x0a], [0xed, 0xa0, 0x80]]) {
      const pieces = [bytes("data: before\n\ndata: "), Uint8Array.from(invalid), bytes("\n\ndata: after\n\n")]
      const { events, violation } = read(pieces)
      expect(violation?._tag).toBe("InvalidUtf8")
      expect(events).toEqual([message("before")])
    }
  })

  it("do not take away the events before them, wherever the reads cut them", () => {
    const whole = Uint8Array.from([
      ...bytes("data: ü€\n\ndata: 😀\r\rdata: x"),
      0xe2,
      0x82,
      ...bytes("\n\ndata: after\n\n")
    ])
    for (let place = 0; place <= whole.length; place++) {
      expect(read(cut(whole, [place]))).toMatchObject({
        events: [message("ü€"), message("😀")],
        violation: { _tag: "InvalidUtf8" }
      })
    }
  })

  it("are none where a read cuts a character, and the character U+FFFD is one like any other", () => {
    const whole = bytes("data: ü€😀\ufffd\n\n")
    expect(read(Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual({
      events: [message("ü€😀\ufffd")],
      violation: undefined
    })
  })
})

describe("bounds", () => {
  const limits = { eventLength: 100 }

  it("an event that is too large ends the reading, wherever the reads cut it", () => {
    for (const text of [`data: ${"x".repeat(100)}\n\n`, `: ${"x".repeat(200)}`, "data: y\n".repeat(20)]) {
      for (const size of [1, 7, 1000]) {
        const whole = bytes(`data: before\n\n${text}data: after\n\n`)
        const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, n) =>
          whole.subarray(n * size, (n + 1) * size)
        )
        const { events, violation } = read(pieces, limits)
        expect(violation?._tag).toBe("EventTooLarge")
        expect(events).toEqual([message("before")])
      }
    }
  })

  it("a line that never ends is too large as soon as it is longer than an event may be", () => {
    const piece = bytes("x".repeat(10))
    const within = Array.from({ length: 10 }, () => piece)
    expect(read(within, limits).violation).toBeUndefined()
    expect(read([...within, bytes("x")], limits).violation?._tag).toBe("EventTooLarge")
  })

  it("many events of the largest size are fine one after the other", () => {
    const { violation } = read([bytes(`data: ${"x".repeat(92)}\n\n`.repeat(9))], limits)
    expect(violation).toBeUndefined()
  })
})
