import { expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { JsonEnd } from "../../../src/wire/messages/JsonEnd.ts"

it("finds the end of an object at its last character, however it is cut", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.integer({ min: 1, max: 9 }), (value, size) => {
      const json = JSON.stringify(value)
      const end = new JsonEnd()
      for (let at = 0; at < json.length; at += size) {
        expect(end.isReached).toBe(false)
        end.add(json.slice(at, at + size))
      }
      expect(end.isReached).toBe(true)
    })
  )
})
