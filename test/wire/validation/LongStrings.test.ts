import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { boundsOf, longBytes, marksOf, maxMarks, tooDeep } from "../../../src/wire/validation/JsonBounds.ts"
import { Parsing } from "../../../src/wire/validation/LongStrings.ts"
import { awkwardJson, withOddEscapes } from "../../support/LongTexts.ts"

const parsed = (text: string) => {
  const bytes = Buffer.from(text)
  return new Parsing(bytes, boundsOf(bytes).longStrings).end()
}
const literalsOf = (text: string): ReadonlyArray<string> =>
  (parsed(text).literals?.take() ?? []).map(({ utf8 }) => Buffer.from(utf8).toString())

const longText = (character: string): string => character.repeat(9_000)
/** Where a parser has found an error, as its message says it. */
const messageOf = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    return String(error)
  }
  return "none"
}

describe("a client's JSON with long strings", () => {
  it("is parsed to the value that JSON.parse makes of it, and its literals to the strings in it", () => {
    fc.assert(
      fc.property(awkwardJson, fc.constantFrom(undefined, 1, "\t"), fc.boolean(), (value, indent, isOdd) => {
        const plain = JSON.stringify([value], null, indent)
        const text = isOdd ? withOddEscapes(plain) : plain
        const { json, literals } = parsed(text)
        expect(JSON.stringify(json)).toBe(JSON.stringify(JSON.parse(text)))
        for (const { utf8, value: one } of literals?.take() ?? []) {
          expect(JSON.parse(Buffer.from(utf8).toString())).toBe(one)
          expect(plain).toContain(JSON.stringify(one))
        }
      }),
      { numRuns: 300 }
    )
  })

  it("has the same bounds in bytes as in characters", () => {
    fc.assert(
      fc.property(awkwardJson, fc.integer({ min: 0, max: 70 }), (value, levels) => {
        const text = "[".repeat(levels) + JSON.stringify(value) + "]".repeat(levels)
        expect(boundsOf(Buffer.from(text)).marks).toBe(marksOf(text))
      })
    )
    expect(boundsOf(Buffer.from("[".repeat(100))).marks).toBe(tooDeep)
    expect(boundsOf(Buffer.from(`[${"1,".repeat(2 * maxMarks)}1]`)).marks).toBe(maxMarks + 1)
  })

  it("gives the literals in their order, with their quotes", () => {
    const [a, b] = [longText("a"), longText("語")]
    expect(literalsOf(JSON.stringify({ one: [a, "short"], two: { three: b } }))).toEqual([`"${a}"`, `"${b}"`])
    expect(literalsOf(JSON.stringify(a))).toEqual([`"${a}"`])
  })

  it("gives none where they are short, where they are few, where they are names", () => {
    const short = "a".repeat(longBytes - 3)
    expect(literalsOf(JSON.stringify(Array.from({ length: 30 }, () => short)))).toEqual([])
    expect(literalsOf(JSON.stringify(Array.from({ length: 30 }, () => `${short}a`)))).toHaveLength(30)
    expect(literalsOf(JSON.stringify([`${short}a`]))).toEqual([])
    expect(literalsOf(`{"${longText("a")}" \n:1}`)).toEqual([])
  })

  it("gives none that are much longer than their text needs", () => {
    const escaped = `"${"\\u8a9e".repeat(2_000)}"`
    expect(parsed(`[${escaped}]`)).toEqual({ json: ["語".repeat(2_000)], literals: undefined })
    expect(literalsOf(`["${"\\n".repeat(500)}${longText("a")}"]`)).toHaveLength(1)
  })

  it("gives none with half of a surrogate pair, in either case of the escape, and those with a whole pair", () => {
    const long = longText("a")
    for (const half of ["\\ud83d", "\\uD83D", "\\ude00", "\\uDE00\\uD83D"]) {
      expect(parsed(`["${long}${half}"]`)).toEqual({ json: JSON.parse(`["${long}${half}"]`), literals: undefined })
    }
    for (const whole of ["\\ud83d\\ude00", "\\\\ud83d"]) {
      expect(literalsOf(`["${long}${whole}"]`)).toEqual([`"${long}${whole}"`])
    }
  })

  it("keeps the last of two members with one name, and every digit of an integer beside it", () => {
    const [a, b] = [longText("a"), longText("b")]
    const { json } = parsed(`{"x":"${a}","x":"${b}","id":9007199254740993}`)
    expect(json).toEqual({ x: b, id: 9007199254740993n })
  })

  it("has what is no mark in its strings as it was sent", () => {
    const marks = Array.from({ length: 20 }, (_, index) => `00000000-0000-4000-8000-000000000000${index}`)
    expect(parsed(JSON.stringify([longText("a"), ...marks])).json).toEqual([longText("a"), ...marks])
  })

  it("names the position of an error in the whole text", () => {
    const long = JSON.stringify(longText("a"))
    for (const text of [
      `[${long},]`,
      `[${long}`,
      `[${long} ${long}]`,
      `["${longText("a")}\n"]`,
      `["${longText("a")}\\q"]`,
      `["${longText("a")}`,
      `["${longText("a")}\\`,
      `["${longText("a")}\\"`,
      `{${long}}`,
      `[1,\ufeff${long}]`
    ]) {
      expect(messageOf(() => parsed(text))).toBe(messageOf(() => JSON.parse(text)))
      expect(messageOf(() => parsed(text))).toContain("SyntaxError")
    }
  })

  it("is parsed in steps to the same value", () => {
    const value = Array.from({ length: 20 }, (_, index) => ({ text: String(index) + longText("a") }))
    const bytes = Buffer.from(JSON.stringify(value))
    const stepped = (json: Buffer): number => {
      const parsing = new Parsing(json, boundsOf(json).longStrings)
      let steps = 1
      while (parsing.more(20_000)) steps++
      expect(parsing.end().json).toEqual(value)
      return steps
    }
    expect(stepped(bytes)).toBe(7)
    const invalid = Buffer.from(JSON.stringify(value).replace("a", "\\q"))
    expect(() => stepped(invalid)).toThrow(SyntaxError)
  })

  it("gives its literals once", () => {
    const { literals } = parsed(JSON.stringify([longText("a")]))
    expect(literals?.take()).toHaveLength(1)
    expect(literals?.take()).toEqual([])
  })
})
