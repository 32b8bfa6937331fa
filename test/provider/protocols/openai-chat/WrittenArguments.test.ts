import * as fc from "fast-check"
import { expect, it } from "vitest"
import { WrittenArguments } from "../../../../src/provider/protocols/openai-chat/WrittenArguments.ts"

const whole = (...pieces: ReadonlyArray<string>): boolean => {
  const written = new WrittenArguments()
  let isWhole = false
  for (const piece of pieces) {
    written.text += piece
    isWhole = written.isWhole
  }
  return isWhole
}

it("arguments are whole exactly when their object has ended, however they are cut", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, place) => {
      const text = JSON.stringify(value)
      const at = place % text.length
      expect(whole(text.slice(0, at))).toBe(false)
      expect(whole(text.slice(0, at), text.slice(at))).toBe(true)
      expect(whole(text, " \n")).toBe(true)
      expect(whole(text, "{")).toBe(false)
    })
  )
  expect([whole(""), whole("1"), whole('"}"'), whole('{"a":"}"'), whole('{"a":"\\"}"}')]).toEqual([
    false,
    false,
    false,
    false,
    true
  ])
})
