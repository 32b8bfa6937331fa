import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { checksum, formatVersion, Header, rowLine, Trailer } from "./Format.ts"
import { otherTables, tables } from "./Tables.ts"
import { TransferFailed } from "./TransferFailed.ts"

/**
 * Rows in memory at a time, and about how many characters: as many rows as there is room for if all are like the longest of the
 * table so far. A kept response has up to 2 Mi of them.
 */
const maxRows = 16
const maxCharacters = 1024 * 1024

export interface Exported {
  readonly rows: number
  /** Tables of the database that the gateway does not know. */
  readonly leftOut: ReadonlyArray<string>
}

/**
 * Writes all rows of the gateway's tables, as of one moment. `write` gets complete lines and is waited for; nothing
 * else is kept in memory.
 */
export const exportTo = <E, R>(
  write: (lines: string) => Effect.Effect<void, E, R>
): Effect.Effect<Exported, SqlError | TransferFailed | E, SqlClient | R> =>
  Effect.flatMap(SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`set transaction isolation level repeatable read, read only`
        yield* sql`set local statement_timeout = 0`
        const schema = yield* schemaOf(sql)
        const sum = checksum()
        const writeLines = (lines: ReadonlyArray<string>) => {
          const text = `${lines.join("\n")}\n`
          sum.add(text)
          return write(text)
        }
        const [{ exportedAt }] = yield* decodeTime(yield* sql`select now() as "exportedAt"`)
        yield* writeLines([
          yield* encodeHeader({
            format: "model-routing-gateway",
            version: formatVersion,
            schema,
            exportedAt: exportedAt.toISOString()
          })
        ])
        let rows = 0
        for (const { name } of yield* tables) {
          yield* sql.unsafe(`declare transfer no scroll cursor for select to_json(t)::text as row from "${name}" t`)
          let isMore = true
          let longest = 0
          let next = 1
          while (isMore) {
            const fetched = yield* decodeRows(yield* sql.unsafe(`fetch ${next} from transfer`))
            if (fetched.length > 0) yield* writeLines(fetched.map(({ row }) => rowLine(name, row)))
            rows += fetched.length
            isMore = fetched.length === next
            for (const { row } of fetched) longest = Math.max(longest, row.length)
            next = Math.max(1, Math.min(maxRows, 2 * next, Math.floor(maxCharacters / longest)))
          }
          yield* sql`close transfer`
        }
        yield* write(`${yield* encodeTrailer({ rows, sha256: sum.hex() })}\n`)
        return { rows, leftOut: yield* otherTables }
      }).pipe(Effect.catchTag("ParseError", (error) => Effect.die(error)))
    )
  )

/** The migrations of the database; it may be of an older version. */
const schemaOf = Effect.fnUntraced(function* (sql: SqlClient) {
  const [{ exists }] = yield* decodeExists(yield* sql`select to_regclass('migration') is not null as exists`)
  if (!exists) return yield* new TransferFailed({ reason: "there is no database of the gateway to export" })
  const found = yield* decodeNames(
    yield* sql`select lpad(migration_id::text, 4, '0') || '_' || name as name from migration order by migration_id`
  )
  return found.map(({ name }) => name)
})

const decodeExists = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ exists: Schema.Boolean })))
const decodeNames = Schema.decodeUnknown(Schema.Array(Schema.Struct({ name: Schema.String })))
const encodeHeader = Schema.encode(Header)
const encodeTrailer = Schema.encode(Trailer)
const decodeTime = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ exportedAt: Schema.DateFromSelf })))
const decodeRows = Schema.decodeUnknown(Schema.Array(Schema.Struct({ row: Schema.String })))
