import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as ParseResult from "effect/ParseResult"
import { decodeCount } from "./Rows.ts"

/** Leaves the embedded database, which does one thing at a time, to calls. */
export const pauseBetweenPortions = Duration.millis(100)
const maxRowsPerStatement = 500

/**
 * Deletes the rows of a table that meet the condition, except those that are locked at the moment. Not for a transaction, which
 * would last as long as all portions and the pauses between them.
 */
export const deleteWhere = (
  sql: SqlClient,
  table: string,
  condition: Fragment
): Effect.Effect<number, SqlError | ParseResult.ParseError> =>
  deleteInPortions(
    sql`with gone as (
        delete from ${sql(table)} where ctid = any(array(
          select ctid from ${sql(table)} where ${condition} limit ${maxRowsPerStatement} for update skip locked))
        returning 1
      )
      select count(*)::int as count from gone`,
    pauseBetweenPortions
  )

/**
 * Runs a statement that deletes a bounded number of rows, and returns it as `count`, until it has deleted none. Returns how many
 * all of them have: one statement that deletes any number may take longer than a statement may.
 */
export const deleteInPortions = <E, R>(
  statement: Effect.Effect<ReadonlyArray<unknown>, E, R>,
  pause: Duration.Duration = Duration.zero
): Effect.Effect<number, E | ParseResult.ParseError, R> =>
  Effect.iterate(
    { deleted: 0, last: 1 },
    {
      while: ({ last }) => last > 0,
      body: ({ deleted }) =>
        Effect.flatMap(statement, decodeCount).pipe(
          Effect.delay(deleted > 0 ? pause : Duration.zero),
          Effect.map(([{ count }]) => ({ deleted: deleted + count, last: count }))
        )
    }
  ).pipe(Effect.map(({ deleted }) => deleted))
