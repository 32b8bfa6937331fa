import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { buckets, featuresOf, maxTextLength } from "../../../src/routing/quality/Features.ts"

const copied = (text: string) => {
  const { buckets: found, counts, shape, size } = featuresOf(text)
  return { found: [...found.slice(0, size)], counts: [...counts.slice(0, size)], shape: [...shape] }
}

describe("The features of a text", () => {
  it("are the same for the same text, whatever was read before", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), fc.string({ maxLength: 6_000 }), (text, other) => {
        const before = copied(text)
        featuresOf(other)
        expect(copied(text)).toEqual(before)
      })
    )
  })

  it("are within their bounds for any text: each bucket once, every number of the shape from 0 to about 1", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ maxLength: 9_000 }), fc.string({ unit: "binary", maxLength: 500 })), (text) => {
        const { counts, found, shape } = copied(text)
        expect(new Set(found).size).toBe(found.length)
        expect(found.every((bucket) => bucket >= 0 && bucket < buckets)).toBe(true)
        expect(counts.every((count) => count >= 1)).toBe(true)
        expect(shape.every((value) => value >= 0 && value <= 1.2)).toBe(true)
      })
    )
  })

  it("of a long text are those of its beginning and its end", () => {
    const middle = "zebra quagga ".repeat(2_000)
    const long = `Translate this. ${middle} What is the sum?`
    const { found } = copied(long)
    expect(found.length).toBeLessThan(maxTextLength)
    expect(copied(`${long.slice(0, 5_000)}${middle}${long.slice(5_000)}`).found.sort()).toEqual(found.sort())
    expect(featuresOf(long).shape.at(-1)).toBe(1)
  })

  it("do not depend on the case of letters or on the width of gaps, but for the shape", () => {
    expect(copied("Sort   the LIST").found).toEqual(copied("sort the list").found)
    expect(copied("sort the lists").found).not.toEqual(copied("sort the list").found)
  })
})
