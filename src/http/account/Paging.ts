import * as Effect from "effect/Effect"
import { cursorOf, type ListName, type Page } from "../../wire/account/Page.ts"

/**
 * A page of rows that `find` reads newest first: at most `max` of them, those whose id is less than `before`. It is asked for one
 * row more than the page has.
 */
export const page = <Row extends { readonly id: string }, Id extends string, A, E, R>(
  list: ListName,
  { cursor, limit }: { readonly limit: number; readonly cursor?: string | undefined },
  id: (text: string) => Id,
  find: (max: number, before: Id | undefined) => Effect.Effect<ReadonlyArray<Row>, E, R>,
  itemOf: (row: Row) => A
): Effect.Effect<Page<A>, E, R> =>
  Effect.map(find(limit + 1, cursor === undefined ? undefined : id(cursor)), (rows) => {
    const last = rows[limit - 1]
    const hasMore = rows.length > limit && last !== undefined
    return {
      items: rows.slice(0, limit).map(itemOf),
      has_more: hasMore,
      next_cursor: hasMore ? cursorOf(list, last.id) : null
    }
  })

/** The item that reaches it is the last of its page: what is more would hold the event loop. */
const maxPageCharacters = 1_000_000

/** How a list is read whose items may be large. */
export interface LargeItems<Row> {
  /** So many rows are read by one statement: of the largest ones, about 2 MB. */
  readonly atOnce: number
  /** Of the large columns. */
  readonly charactersOf: (row: Row) => number
}

/** As `page`, bounded by characters too. `find` may return fewer rows than it is asked for; where it returns none, the list ends. */
export const pageOfLarge = <Row extends { readonly id: string }, Id extends string, A, E, R>(
  list: ListName,
  { cursor, limit }: { readonly limit: number; readonly cursor?: string | undefined },
  id: (text: string) => Id,
  find: (max: number, before: Id | undefined) => Effect.Effect<ReadonlyArray<Row>, E, R>,
  itemOf: (row: Row) => A,
  { atOnce, charactersOf }: LargeItems<Row>
): Effect.Effect<Page<A>, E, R> =>
  Effect.gen(function* () {
    const items: Array<A> = []
    let characters = 0
    let last = cursor
    while (true) {
      const isFull = items.length >= limit || characters >= maxPageCharacters
      const rows = yield* find(
        isFull ? 1 : Math.min(atOnce, limit - items.length),
        last === undefined ? undefined : id(last)
      )
      if (rows.length === 0) return { items, has_more: false, next_cursor: null }
      for (const row of rows) {
        if (last !== undefined && (items.length >= limit || characters >= maxPageCharacters)) {
          return { items, has_more: true, next_cursor: cursorOf(list, last) }
        }
        items.push(itemOf(row))
        characters += charactersOf(row)
        last = row.id
      }
    }
  })

/** Of lists of patterns; `null` where there is none. */
export const charactersIn = (...lists: ReadonlyArray<ReadonlyArray<string> | null>): number =>
  lists.reduce((sum, list) => sum + (list ?? []).reduce((inner, { length }) => inner + length, 0), 0)
