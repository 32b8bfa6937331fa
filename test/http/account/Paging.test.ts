import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fc from "effect/FastCheck"
import { ArrayFormatter } from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"
import { page, pageOfLarge } from "../../../src/http/account/Paging.ts"
import { ChatModelsParameters, ConversationParameters } from "../../../src/wire/account/Chat.ts"
import { CatalogParameters } from "../../../src/wire/account/Models.ts"
import { type Page, PageParameters } from "../../../src/wire/account/Page.ts"

const idOf = (number: number): string => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`
const decode = Schema.decodeUnknownEither(PageParameters("projects"))

interface Row {
  readonly id: string
  readonly characters: number
}

/** Newest first, each with so many characters. */
const rowsOf = (sizes: ReadonlyArray<number>): ReadonlyArray<Row> =>
  sizes.map((characters, at) => ({ id: idOf(sizes.length - at), characters }))

const idsOf = (rows: ReadonlyArray<Row>) => rows.map(({ id }) => id)

/** A list as a store reads it: at most `max`, those before `before`. */
const listOf = (rows: ReadonlyArray<Row>) => (max: number, before: string | undefined) =>
  Effect.succeed(rows.filter(({ id }) => before === undefined || id < before).slice(0, max))

type Parameters = Pick<PageParameters, "cursor" | "limit">
type Read = (parameters: Parameters) => Page<string>

const small =
  (rows: ReadonlyArray<Row>): Read =>
  (parameters) =>
    Effect.runSync(
      page(
        "projects",
        parameters,
        (id) => id,
        listOf(rows),
        ({ id }) => id
      )
    )

const large =
  (rows: ReadonlyArray<Row>, atOnce = 3): Read =>
  (parameters) =>
    Effect.runSync(
      pageOfLarge(
        "projects",
        parameters,
        (id) => id,
        listOf(rows),
        ({ id }) => id,
        { atOnce, charactersOf: ({ characters }) => characters }
      )
    )

/** Page after page, each from the cursor of the one before it. */
const pagesOf = (read: Read, limit: number): ReadonlyArray<ReadonlyArray<string>> => {
  const pages: Array<ReadonlyArray<string>> = []
  let parameters: Parameters | undefined = { limit }
  while (parameters !== undefined) {
    const found = read(parameters)
    expect(found.has_more).toBe(found.next_cursor !== null)
    pages.push(found.items)
    const next = Either.getOrThrow(decode({ limit: String(limit), cursor: found.next_cursor ?? undefined }))
    parameters = found.has_more ? next : undefined
  }
  return pages
}

const lengths = fc.integer({ min: 0, max: 60 })
const limits = fc.integer({ min: 1, max: 25 })

describe("pages", () => {
  it("together are the list, each item once, whatever the limit", () => {
    fc.assert(
      fc.property(lengths, limits, (length, limit) => {
        const rows = rowsOf(Array.from({ length }, () => 1))
        const pages = pagesOf(small(rows), limit)
        expect(pages.flat()).toEqual(idsOf(rows))
        expect(pages).toHaveLength(Math.max(1, Math.ceil(length / limit)))
      })
    )
  })

  it("end without a cursor where the last page is full", () => {
    for (const read of [small, large]) {
      expect(read(rowsOf([1, 1]))({ limit: 2 })).toEqual({
        items: [idOf(2), idOf(1)],
        has_more: false,
        next_cursor: null
      })
    }
  })
})

describe("a cursor that is none of its list", () => {
  const lists = {
    PageParameters: PageParameters("projects"),
    CatalogParameters,
    ConversationParameters,
    ChatModelsParameters
  }
  const cursors = ["", "x", "nonsense", "bm90", "W10", "WzEsMl0", "W251bGwsbnVsbF0", "é", "a".repeat(2_000)]
  it.each(Object.entries(lists))("is named as such, whatever the cursors of the list are made of: %s", (name, list) => {
    const decodeList = Schema.decodeUnknownEither(list as Schema.Schema<unknown, object>)
    const project_id = name === "ChatModelsParameters" ? idOf(1) : undefined
    for (const cursor of cursors) {
      const issues = Either.flip(decodeList({ cursor, project_id })).pipe(
        Either.map(ArrayFormatter.formatErrorSync),
        Either.getOrThrow
      )
      // the other issue is that the parameter is not left out
      expect([cursor, issues.filter(({ _tag }) => _tag !== "Type")]).toEqual([
        cursor,
        [{ _tag: "Transformation", path: ["cursor"], message: "not a next_cursor of this list" }]
      ])
    }
  })
})

describe("pages of large items", () => {
  it("together are the list, in pages that are as full as limit and characters let them", () => {
    const sizes = fc.array(fc.constantFrom(0, 1, 400_000, 600_000, 2_000_000), { maxLength: 20 })
    fc.assert(
      fc.property(sizes, limits, fc.integer({ min: 1, max: 5 }), (all, limit, atOnce) => {
        const rows = rowsOf(all)
        const charactersIn = (ids: ReadonlyArray<string>) =>
          rows.reduce((sum, { characters, id }) => (ids.includes(id) ? sum + characters : sum), 0)
        const pages = pagesOf(large(rows, atOnce), limit)
        expect(pages.flat()).toEqual(idsOf(rows))
        for (const [at, ids] of pages.entries()) {
          expect(ids.length).toBeLessThanOrEqual(limit)
          expect(charactersIn(ids.slice(0, -1))).toBeLessThan(1_000_000)
          if (at < pages.length - 1) expect(ids.length === limit || charactersIn(ids) >= 1_000_000).toBe(true)
        }
      })
    )
  })

  it("read no more rows by one statement than they are to, and the one row that tells whether more follow", () => {
    const rows = rowsOf([1, 1, 1, 1, 1])
    const asked: Array<number> = []
    const find = (max: number, before: string | undefined) => {
      asked.push(max)
      return listOf(rows)(max, before)
    }
    Effect.runSync(
      pageOfLarge(
        "projects",
        { limit: 4 },
        (id) => id,
        find,
        ({ id }) => id,
        { atOnce: 3, charactersOf: () => 1 }
      )
    )
    expect(asked).toEqual([3, 1, 1])
  })
})
