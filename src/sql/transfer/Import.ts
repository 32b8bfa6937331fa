import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { lockMigrations, migrations } from "../Migrations.ts"
import { checksum, Header, rowOf, Trailer } from "./Format.ts"
import { type Table, tables } from "./Tables.ts"
import { TransferFailed } from "./TransferFailed.ts"

/** Rows of one table that are written by one statement, and about how many characters at most. */
const maxRows = 500
const maxCharacters = 4_000_000

/**
 * Writes the lines of a dump into a database that is migrated and has no rows, all or none, and returns the number of rows. Fails
 * with `TransferFailed` when the dump is cut, changed or from another version, or when the database has rows.
 */
export const importFrom = <E, R>(
  lines: Stream.Stream<string, E, R>
): Effect.Effect<number, SqlError | TransferFailed | E, SqlClient | R> =>
  Effect.flatMap(SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`set local statement_timeout = 0`
        // no node starts meanwhile, and none that runs writes
        yield* lockMigrations
        const all = yield* tables
        yield* sql.unsafe(`lock table ${all.map(({ name }) => `"${name}"`).join(", ")} in exclusive mode`)
        yield* requireEmpty(sql, all)
        for (const { hasOneRow, name } of all) {
          yield* sql.unsafe(`alter table "${name}" disable trigger user`)
          if (hasOneRow) yield* sql.unsafe(`delete from "${name}"`)
        }
        const rows = yield* writeRows(sql, all, lines)
        for (const { identities, name } of all) {
          yield* sql.unsafe(`alter table "${name}" enable trigger user`)
          for (const column of identities) {
            yield* sql.unsafe(`select setval(pg_get_serial_sequence('"${name}"', '${column}'),
              greatest(1, (select max("${column}") from "${name}")), exists (select from "${name}"))`)
          }
        }
        return rows
      })
    )
  )

const requireEmpty = Effect.fnUntraced(function* (sql: SqlClient, all: ReadonlyArray<Table>) {
  for (const { hasOneRow, name } of all) {
    if (hasOneRow) continue
    const rows = yield* sql.unsafe(`select 1 from "${name}" limit 1`)
    if (rows.length > 0) {
      return yield* new TransferFailed({
        reason: `the database has rows in "${name}"; a dump is only imported into an empty one`
      })
    }
  }
})

/** What is read of the dump so far. */
interface Progress {
  readonly hasHeader: boolean
  /** The trailer was read. */
  readonly isComplete: boolean
  readonly rows: number
  readonly batch: Batch | null
}

interface Batch {
  readonly table: string
  readonly rows: ReadonlyArray<string>
  readonly characters: number
}

const writeRows = <E, R>(sql: SqlClient, all: ReadonlyArray<Table>, lines: Stream.Stream<string, E, R>) => {
  const byName = new Map(all.map((table) => [table.name, table]))
  const sum = checksum()

  const write = (batch: Batch | null): Effect.Effect<void, SqlError | TransferFailed> => {
    if (batch === null) return Effect.void
    const columns = byName
      .get(batch.table)
      ?.columns.map((column) => `"${column}"`)
      .join(", ")
    if (columns === undefined) return failed(`there is no table "${batch.table}"`)
    return Effect.asVoid(
      sql.unsafe(
        `insert into "${batch.table}" (${columns}) overriding system value
          select ${columns} from json_populate_recordset(null::"${batch.table}", $1::json)`,
        [`[${batch.rows.join(",")}]`]
      )
    )
  }

  const next = (progress: Progress, line: string): Effect.Effect<Progress, SqlError | TransferFailed> => {
    if (progress.isComplete) return failed("there is more after its end")
    if (!progress.hasHeader) {
      sum.add(`${line}\n`)
      return Effect.as(checkHeader(line), { ...progress, hasHeader: true })
    }
    const row = rowOf(line)
    if (row === undefined) {
      const trailer = decodeTrailer(line)
      if (Option.isNone(trailer)) return failed(`line ${progress.rows + 2} is no row`)
      if (trailer.value.rows !== progress.rows || trailer.value.sha256 !== sum.hex()) {
        return failed("it was changed or is damaged: its checksum differs")
      }
      return Effect.as(write(progress.batch), { ...progress, isComplete: true, batch: null })
    }
    sum.add(`${line}\n`)
    const [table, json] = row
    const { batch } = progress
    const rows = progress.rows + 1
    if (batch !== null && batch.table === table && batch.rows.length < maxRows && batch.characters < maxCharacters) {
      const grown = { table, rows: [...batch.rows, json], characters: batch.characters + json.length }
      return Effect.succeed({ ...progress, rows, batch: grown })
    }
    return Effect.as(write(batch), { ...progress, rows, batch: { table, rows: [json], characters: json.length } })
  }

  const start: Progress = { hasHeader: false, isComplete: false, rows: 0, batch: null }
  return Effect.flatMap(Stream.runFoldEffect(lines, start, next), ({ isComplete, rows }) =>
    isComplete ? Effect.succeed(rows) : failed("it is cut: its last line is missing")
  )
}

const decodeTrailer = Schema.decodeOption(Trailer)
const decodeHeader = Schema.decodeOption(Header)

const checkHeader = (line: string): Effect.Effect<void, TransferFailed> => {
  const header = decodeHeader(line)
  if (Option.isNone(header)) return failed("it is no dump of this gateway, or one of a newer version")
  const own = Object.keys(migrations)
  const { schema } = header.value
  const longer = schema.length > own.length ? schema : own
  const at = longer.findIndex((_, index) => schema[index] !== own[index])
  return at === -1
    ? Effect.void
    : failed(
        `its schema has ${namedAt(schema, at)} where that of this version has ${namedAt(own, at)}; start this version on the exported database first, or import with the version that has exported it`
      )
}

const namedAt = (schema: ReadonlyArray<string>, index: number): string => schema[index] ?? "nothing more"

const failed = (reason: string): Effect.Effect<never, TransferFailed> =>
  Effect.fail(new TransferFailed({ reason: `the dump cannot be imported: ${reason}` }))
