import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fc from "fast-check"
import * as Body from "../../../src/http/server/Body.ts"

const maxLevels = 64

const requestOf = (text: string | Buffer): IncomingMessage => {
  const request = new IncomingMessage(new Socket())
  request.headers["content-type"] = "application/json"
  request.push(Buffer.from(text))
  request.push(null)
  return request
}

const read = (text: string | Buffer) => Effect.either(Effect.map(Body.read(requestOf(text)), ({ json }) => json))

const nested = (levels: number, inner: string): string => "[".repeat(levels) + inner + "]".repeat(levels)

/** Text that is hard on whoever looks for the end of a string: quotes, backslashes and brackets, short and long. */
const awkward = fc
  .array(fc.constantFrom('"', "\\", "[", "{", "}", "]", "x", '\\"', "\\\\", "ü", "\n"), { maxLength: 200 })
  .map((parts) => parts.join(""))

describe("the body of a request", () => {
  it.effect("is refused when it is nested deeper than the limit, and only then, whatever its strings contain", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(awkward, { maxLength: 5 }),
          fc.integer({ min: 60, max: 68 }),
          async (texts, levels) => {
            const inner = JSON.stringify({ texts })
            const result = await Effect.runPromise(read(nested(levels - 2, inner)))
            expect(result._tag).toBe(levels > maxLevels ? "Left" : "Right")
          }
        )
      )
    )
  )

  it.effect("is the very value that was sent", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.array(awkward, { maxLength: 5 }), async (texts) => {
          const result = await Effect.runPromise(read(JSON.stringify(texts)))
          expect(result).toMatchObject({ _tag: "Right", right: texts })
        })
      )
    )
  )

  it.effect("may end in the middle of a string without being searched forever", () =>
    Effect.gen(function* () {
      for (const text of ['["', `["${"x".repeat(100)}`, `["${"x".repeat(100)}\\`, `["${"x".repeat(100)}\\"`]) {
        expect(yield* read(text)).toMatchObject({ _tag: "Left", left: { code: "invalid_json" } })
      }
    })
  )

  it.effect("is refused with the position of what is wrong, or as one that ends too early", () =>
    Effect.gen(function* () {
      const messages = [
        ["", ": it is empty or ends too early"],
        [" \n", ": it is empty or ends too early"],
        ['{"model":', ": it is empty or ends too early"],
        ["nope", ""],
        ["at position 5", ""],
        ["{'model':1}", " (at position 1)"],
        ["{} {}", " (at position 3)"]
      ] as const
      for (const [text, reason] of messages) {
        const message = `The body is not valid JSON${reason}.`
        expect(yield* read(text)).toMatchObject({ _tag: "Left", left: { code: "invalid_json", message } })
      }
    })
  )

  it.effect("may begin with one byte order mark", () =>
    Effect.gen(function* () {
      for (const long of ["x", "x".repeat(20_000)]) {
        expect(yield* read(`\ufeff["${long}"]`)).toEqual(Either.right([long]))
        expect(yield* read(`\ufeff\ufeff["${long}"]`)).toMatchObject({ _tag: "Left", left: { code: "invalid_json" } })
        expect(yield* read(`["${long}"\ufeff]`)).toMatchObject({ _tag: "Left", left: { code: "invalid_json" } })
      }
    })
  )

  it.effect("is UTF-8, also in its long strings", () =>
    Effect.gen(function* () {
      for (const long of ["x", "x".repeat(20_000)]) {
        const bytes = Buffer.from(`["${long}?"]`)
        bytes[bytes.indexOf("?")] = 0xe9
        expect(yield* read(bytes)).toMatchObject({ _tag: "Left", left: { code: "invalid_utf8" } })
      }
    })
  )

  it.effect("may have blanks and a charset in its content type, and no other parameter", () =>
    Effect.gen(function* () {
      const typed = (type: string) => {
        const request = requestOf("{}")
        request.headers["content-type"] = type
        return Effect.either(Body.read(request))
      }
      const blanks = " ".repeat(8_000)
      for (const type of [
        "application/json",
        "Application/JSON ;",
        'application/json; charset="UTF-8"',
        `application/json${blanks};${blanks}charset =${blanks}utf-8${blanks};${blanks}`
      ]) {
        expect((yield* typed(type))._tag).toBe("Right")
      }
      for (const type of [
        "text/json",
        "application/json;;",
        "application/json; charset=latin1",
        "application/json; charset=utf-8; a=b",
        `application/json${blanks}x`
      ]) {
        expect(yield* typed(type)).toMatchObject({ _tag: "Left", left: { code: "unsupported_content_type" } })
      }
    })
  )

  it.effect("lets other work run between the steps over a large one", () =>
    Effect.promise(async () => {
      let turns = 0
      let isOver = false
      const count = (): void => {
        turns++
        if (!isOver) setImmediate(count)
      }
      const texts = Array.from({ length: 30 }, () => "x".repeat(100 * 1024))
      const reading = Effect.runPromise(read(JSON.stringify(texts)))
      setImmediate(count)
      expect(await reading).toEqual(Either.right(texts))
      isOver = true
      expect(turns).toBeGreaterThan(10)
    })
  )
})
