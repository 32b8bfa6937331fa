import * as Effect from "effect/Effect"
import type * as ParseResult from "effect/ParseResult"
import { decodeCount } from "./Rows.ts"

/**
 * Runs a statement that deletes a bounded number of rows, and returns it as `count`, until it has deleted none. Returns how many
 * all of them have: one statement that deletes any number may take longer than a statement may.
 */
export const deleteInPortions = <E, R>(
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>
): Effect.Effect<number, E | ParseResult.ParseError, R> =>
  Effect.iterate(
    { deleted: 0, last: 1 },
    {
      while: ({ last }) => last > 0,
      body: ({ deleted }) =>
        Effect.map(Effect.flatMap(statement, decodeCount), ([{ count }]) => ({ deleted: deleted + count, last: count }))
    }
  ).pipe(Effect.map(({ deleted }) => deleted))
