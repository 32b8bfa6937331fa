import { expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { parseExactly, writeExactly } from "../../src/domain/ExactJson.ts"

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

it("integers of 64 bits come back with every digit, wherever they are", () => {
  for (const text of [
    "9223372036854775807",
    "-9223372036854775808",
    '{"seed":9007199254740993,"s":"9007199254740993","a":[1,9223372036854775807,{"x":-9007199254740993}]}',
    '{"9223372036854775807":"\\"9223372036854775807","b":9223372036854775807}'
  ]) {
    expect(writeExactly(parseExactly(text))).toBe(text)
  }
  fc.assert(
    fc.property(fc.array(int64), fc.string(), (numbers, name) => {
      const text = `{${JSON.stringify(`x${name}`)}:[${numbers.join(",")}]}`
      expect(writeExactly(parseExactly(text))).toBe(text)
    })
  )
})

it("the shortest integer that a number cannot hold is found at every place", () => {
  for (let before = 0; before < 40; before++) {
    const text = `["${"x".repeat(before)}",9007199254740993]`
    expect(writeExactly(parseExactly(text))).toBe(text)
  }
})

it("everything else is read and written as JSON always is", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      expect(writeExactly(parseExactly(text))).toBe(text)
      expect(writeExactly(value)).toBe(text)
    })
  )
  for (const text of [
    "9007199254740991",
    "9007199254740993.0",
    "9.007199254740993e15",
    "92233720368547758080",
    "9223372036854775808",
    '"9223372036854775807"',
    '{"a":"1234567890123456789","b":"\\\\"}'
  ]) {
    expect(parseExactly(text)).toEqual(JSON.parse(text))
  }
  for (const text of ["", "{", '{"a":9223372036854775807', "[9223372036854775807x]", "1234567890123456789 1"]) {
    expect(() => parseExactly(text)).toThrow(SyntaxError)
  }
})

it("a text that looks like a mark of an integer stays a text", () => {
  const text = '{"a":9223372036854775807,"b":"int64:1","c":"00000000000000000000000000000000123"}'
  expect(writeExactly(parseExactly(text))).toBe(text)
})
