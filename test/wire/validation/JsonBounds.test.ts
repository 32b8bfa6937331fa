import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { marksOf, maxDepth, parse, tooDeep } from "../../../src/wire/validation/JsonBounds.ts"

describe("the bounds of JSON", () => {
  it("count brackets, names and values outside of strings", () => {
    expect(marksOf('{"a,:[":[1,"\\\\",{"b":"\\"{"}]}')).toBe(3 + 2 + 2)
    expect(marksOf(`["${"x".repeat(100)}\\"[[[", 1]`)).toBe(2)
  })

  it("refuse what is nested too deep before it is parsed", () => {
    expect(marksOf("[".repeat(maxDepth))).toBe(maxDepth)
    expect(marksOf("[".repeat(maxDepth + 1))).toBe(tooDeep)
    expect(parse(`${"[".repeat(maxDepth + 1)}${"]".repeat(maxDepth + 1)}`)).toBeUndefined()
  })

  it("do not count what is side by side as nested", () => {
    expect(marksOf(`[${"[],".repeat(maxDepth)}{}]`)).toBe(2 + 2 * maxDepth)
    expect(parse(`[${"{},".repeat(maxDepth)}[]]`)).toHaveLength(maxDepth + 1)
  })

  it("end the count once there are too many marks", () => {
    expect(marksOf(`[${"1,".repeat(1_000)}1]`, 10)).toBe(11)
    expect(parse("[1,2,3]", 2)).toBeUndefined()
  })

  it("change no value within them, but that integers that no number holds exactly are bigints", () => {
    const numbers = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value, (_, one) => (typeof one === "bigint" ? Number(one) : one)))
    const isSame = (value: unknown): void => {
      expect(numbers(parse(JSON.stringify(value)))).toEqual(numbers(value))
    }
    isSame([-(2 ** 53), { a: 2 ** 60 }])
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 8 }), isSame))
  })
})
