import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { cursorOf, PageParameters } from "../../../src/wire/account/Page.ts"

const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`
const decode = Schema.decodeUnknownEither(PageParameters("projects"))

describe("pages", () => {
  it("have 20 items by default and 100 at most", () => {
    expect(Either.getOrThrow(decode({}))).toEqual({ limit: 20 })
    expect(Either.getOrThrow(decode({ limit: "100" }))).toEqual({ limit: 100 })
    for (const limit of ["0", "101", "-1", "1.5", "x", ""])
      expect([limit, Either.isLeft(decode({ limit }))]).toEqual([limit, true])
  })

  it("begin where a cursor says, which is no id and nothing else", () => {
    const cursor = cursorOf("projects", idOf(7))
    expect(cursor).toMatch(/^[\w-]+$/)
    expect(Either.getOrThrow(decode({ cursor })).cursor).toBe(idOf(7))
    for (const wrong of [
      "",
      "x",
      idOf(7),
      cursorOf("audit", idOf(7)),
      `${cursor}A`,
      cursor.slice(1),
      `${cursor.slice(1)}=`
    ]) {
      expect([wrong, Either.isLeft(decode({ cursor: wrong }))]).toEqual([wrong, true])
    }
  })
})
