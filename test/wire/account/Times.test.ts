import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { sentTimestamp } from "../../../src/wire/account/Times.ts"

const decode = Schema.decodeUnknownOption(sentTimestamp("a time"))
const encode = Schema.encodeSync(sentTimestamp("a time"))

describe("a time that is sent", () => {
  it.each([
    ["2026-01-31T08:00:00Z", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31T08:00:00.1234567Z", "2026-01-31T08:00:00.123Z"],
    ["2026-01-31t08:00:00z", "2026-01-31T08:00:00.000Z"],
    ["2028-02-29T23:30:00-01:00", "2028-03-01T00:30:00.000Z"],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"]
  ])("%s is read, and answered as %s", (text, answered) => {
    expect(encode(Option.getOrThrow(decode(text)))).toBe(answered)
  })

  it.each([
    "1",
    "2026",
    "2026-01-31",
    "Jan 31 2026",
    "2026-01-31T08:00:00",
    "2026-01-31T08:00Z",
    "2026-01-31T24:00:00Z",
    "2026-01-31T25:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "0000-12-31T23:59:59Z",
    "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    "-271821-04-20T00:00:00Z",
    "+275760-09-13T00:00:00Z",
    ""
  ])("%s is none", (text) => {
    expect(decode(text)).toEqual(Option.none())
  })
})
