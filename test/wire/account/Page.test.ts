import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { cursorOf, PageParameters, page } from "../../../src/wire/account/Page.ts"

const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`
const decode = Schema.decodeUnknownEither(PageParameters)

/** A list of `length` rows as a store reads it: newest first, at most `max`, those before `before`. */
const listOf = (length: number) => (max: number, before: string | undefined) =>
  Effect.succeed(
    Array.from({ length }, (_, at) => ({ id: idOf(length - at) }))
      .filter(({ id }) => before === undefined || id < before)
      .slice(0, max)
  )

const read = (length: number, parameters: { readonly limit: number; readonly cursor?: string }) =>
  page(
    parameters,
    (id) => id,
    listOf(length),
    ({ id }) => id
  )

describe("pages", () => {
  it.effect("together are the list, each item once, whatever the limit", () =>
    Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.integer({ min: 0, max: 60 }),
          FastCheck.integer({ min: 1, max: 25 }),
          async (length, limit) => {
            const items: Array<string> = []
            let parameters: Parameters<typeof read>[1] | undefined = { limit }
            while (parameters !== undefined) {
              const found: Effect.Effect.Success<ReturnType<typeof read>> = await Effect.runPromise(
                read(length, parameters)
              )
              expect(found.has_more).toBe(found.next_cursor !== null)
              expect(found.items.length).toBeLessThanOrEqual(limit)
              items.push(...found.items)
              const next = Either.getOrThrow(decode({ limit: String(limit), cursor: found.next_cursor ?? undefined }))
              parameters = found.has_more && next.cursor !== undefined ? { limit, cursor: next.cursor } : undefined
            }
            expect(items).toEqual(Array.from({ length }, (_, at) => idOf(length - at)))
          }
        )
      )
    )
  )

  it("end without a cursor where the last page is full", () => {
    expect(Effect.runSync(read(2, { limit: 2 }))).toEqual({
      items: [idOf(2), idOf(1)],
      has_more: false,
      next_cursor: null
    })
  })

  it("have 20 items by default and 100 at most", () => {
    expect(Either.getOrThrow(decode({}))).toEqual({ limit: 20 })
    expect(Either.getOrThrow(decode({ limit: "100" }))).toEqual({ limit: 100 })
    for (const limit of ["0", "101", "-1", "1.5", "x", ""])
      expect([limit, Either.isLeft(decode({ limit }))]).toEqual([limit, true])
  })

  it("begin where a cursor says, which is no id and nothing else", () => {
    const cursor = cursorOf(idOf(7))
    expect(cursor).toMatch(/^[\w-]{22}$/)
    expect(Either.getOrThrow(decode({ cursor })).cursor).toBe(idOf(7))
    for (const wrong of ["", "x", idOf(7), `${cursor}A`, cursor.slice(1), `${cursor.slice(1)}=`]) {
      expect([wrong, Either.isLeft(decode({ cursor: wrong }))]).toEqual([wrong, true])
    }
  })
})
