import { crc32 } from "node:zlib"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as EventStream from "../../../src/wire/framing/EventStream.ts"

const read = (pieces: Iterable<Uint8Array>, limits?: EventStream.EventStreamBounds) => {
  const messages: Array<EventStream.EventStreamMessage> = []
  const reader = EventStream.reader((message) => messages.push(message), limits)
  let violation: string | undefined
  for (const piece of pieces) violation = reader.push(piece)
  return { messages, violation, end: reader.end() }
}

const cut = (whole: Uint8Array, places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const at = [0, ...[...places].map((place) => place % (whole.length + 1)).sort((a, b) => a - b), whole.length]
  return at.slice(1).map((end, n) => whole.subarray(at[n], end))
}

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "utf8"))
const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"))

/** The vectors that every AWS SDK tests against. */
const published = {
  empty: hex("00000010 00000000 05c248eb 7d98c8ff"),
  payloadOnly: hex("0000001d 00000000 fd528c5a 7b27666f6f273a27626172277d c36539 36"),
  oneString: hex(
    "0000003d 00000020 07fd8396 0c636f6e74656e742d74797065 07 0010 6170706c69636174696f6e2f6a736f6e 7b27666f6f273a27626172277d 8d9c08b1"
  ),
  oneInteger: hex("0000002d 00000010 41c424b8 0a6576656e742d74797065 04 0000a00c 7b27666f6f273a27626172277d 36f4 80a0"),
  wrongPrelude: hex("0000001d 00000000 fd528c5b 7b27666f6f273a27626172277d c3653936"),
  wrongMessage: hex("0000001d 00000000 fd528c5a 7b27666f6f273a27626172277d c3653937")
}
const payload = bytes("{'foo':'bar'}")

describe("the published vectors", () => {
  it("are read", () => {
    expect(read([published.empty]).messages).toEqual([{ headers: {}, payload: new Uint8Array() }])
    expect(read([published.payloadOnly]).messages).toEqual([{ headers: {}, payload }])
    expect(read([published.oneString]).messages).toEqual([
      { headers: { "content-type": { type: "string", value: "application/json" } }, payload }
    ])
    expect(read([published.oneInteger]).messages).toEqual([
      { headers: { "event-type": { type: "integer", value: 40972 } }, payload }
    ])
  })

  it("are written", () => {
    expect(Buffer.from(EventStream.write({}, new Uint8Array()))).toEqual(Buffer.from(published.empty))
    expect(Buffer.from(EventStream.write({}, payload))).toEqual(Buffer.from(published.payloadOnly))
    const headers = { "content-type": { type: "string", value: "application/json" } } as const
    expect(Buffer.from(EventStream.write(headers, payload))).toEqual(Buffer.from(published.oneString))
  })

  it("with a wrong checksum are refused, and nothing after them is read", () => {
    expect(read([published.wrongPrelude, published.empty])).toMatchObject({
      messages: [],
      violation: expect.stringContaining("prelude")
    })
    expect(read([published.wrongMessage, published.empty])).toMatchObject({
      messages: [],
      violation: expect.stringContaining("message with a wrong checksum")
    })
  })
})

const int = (bits: number) => fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 })
const header: fc.Arbitrary<EventStream.HeaderValue> = fc.oneof(
  fc.boolean().map((value) => ({ type: "boolean", value }) as const),
  int(8).map((value) => ({ type: "byte", value }) as const),
  int(16).map((value) => ({ type: "short", value }) as const),
  int(32).map((value) => ({ type: "integer", value }) as const),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({ type: "long", value }) as const),
  fc.uint8Array({ maxLength: 20 }).map((value) => ({ type: "binary", value: Uint8Array.from(value) }) as const),
  fc.string({ unit: "grapheme", maxLength: 20 }).map((value) => ({ type: "string", value }) as const),
  fc.bigInt({ min: 0n, max: 2n ** 50n }).map((value) => ({ type: "timestamp", value }) as const),
  fc.uuid().map((value) => ({ type: "uuid", value }) as const)
)
const message = fc.record({
  headers: fc.dictionary(fc.stringMatching(/^[:a-z][a-z-]{0,11}$/), header, { maxKeys: 5, noNullPrototype: true }),
  payload: fc.uint8Array({ maxLength: 200 }).map((value) => Uint8Array.from(value))
})

describe("messages", () => {
  it("come back as they were written, however their bytes are cut", () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), fc.array(fc.nat(), { maxLength: 30 }), (messages, places) => {
        const whole = Buffer.concat(messages.map(({ headers, payload }) => EventStream.write(headers, payload)))
        const expected = { messages, violation: undefined, end: undefined }
        expect(read(cut(whole, places))).toEqual(expected)
        expect(read(Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(expected)
      })
    )
  })

  it("do not change with the buffer that they came in", () => {
    const whole = Buffer.from(EventStream.write({}, payload))
    const { messages } = read([whole])
    whole.fill(0)
    expect(messages).toEqual([{ headers: {}, payload }])
  })

  it("with any byte changed are not read", () => {
    const whole = EventStream.write({ ":event-type": { type: "string", value: "x" } }, payload)
    for (let at = 0; at < whole.length; at++) {
      const changed = Uint8Array.from(whole)
      changed[at] = (changed[at] ?? 0) ^ 1
      const { messages, violation, end } = read([changed])
      expect(messages).toEqual([])
      expect(violation ?? end).toBeDefined()
    }
  })

  it("that are cut are a fault at the end", () => {
    const whole = EventStream.write({}, payload)
    expect(read([whole]).end).toBeUndefined()
    for (let length = 1; length < whole.length; length++)
      expect(read([whole.subarray(0, length)]).end).toContain("ends inside a message")
  })

  const withHeaders = (headers: Uint8Array) => {
    const bare = Buffer.from(EventStream.write({}, headers))
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32BE(bare.length, 0)
    lengths.writeUInt32BE(headers.length, 4)
    return EventStream.write({}, headers).length === bare.length ? relabelled(lengths, headers) : bare
  }

  it("whose headers say more than is there are refused", () => {
    for (const headers of ["05 61", "01 61 07 00ff 61", "01 61 04 0000", "01 61 0a", "01 61 07 00"]) {
      expect(read([withHeaders(hex(headers))]).violation).toContain("headers that cannot be read")
    }
  })

  it("whose headers are not UTF-8 are refused", () => {
    expect(read([withHeaders(hex("01 61 07 0001 62"))]).messages).toEqual([
      { headers: { a: { type: "string", value: "b" } }, payload: new Uint8Array() }
    ])
    for (const headers of ["01 ff 00", "01 61 07 0001 ff", "01 61 07 0002 c328"]) {
      expect(read([withHeaders(hex(headers))]).violation).toContain("headers that cannot be read")
    }
  })
})

/** A message whose payload is declared to be headers, with right checksums. */
const relabelled = (lengths: Buffer, headers: Uint8Array): Uint8Array => {
  const crc = (data: Uint8Array): Buffer => {
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(crc32(data))
    return sum
  }
  const head = Buffer.concat([lengths, crc(lengths), headers])
  return Buffer.concat([head, crc(head)])
}

describe("bounds", () => {
  const limits = { messageBytes: 40 }

  it("a message at the bound passes, a longer one is refused by its prelude alone", () => {
    expect(read([EventStream.write({}, new Uint8Array(24))], limits).violation).toBeUndefined()
    const long = EventStream.write({}, new Uint8Array(25))
    expect(read([long.subarray(0, 12)], limits).violation).toContain("more than 40 bytes")
  })
})
