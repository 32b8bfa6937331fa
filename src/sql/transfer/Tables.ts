import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { gatewayTables } from "./GatewayTables.ts"

/** A table of the gateway, as the database describes it. */
const Table = Schema.Struct({
  name: Schema.String,
  columns: Schema.Array(Schema.String),
  /** Columns whose values come from a sequence. */
  identities: Schema.Array(Schema.String),
  /** Other tables that its rows refer to. */
  references: Schema.Array(Schema.String),
  /** It has exactly one row, written by its migration. */
  hasOneRow: Schema.Boolean
})
export type Table = typeof Table.Type

const decodeTables = Schema.decodeUnknown(Schema.Array(Table))

/** The tables of the gateway but that of the migrations, each after those that its rows refer to. */
export const tables: Effect.Effect<ReadonlyArray<Table>, SqlError, SqlClient> = Effect.flatMap(SqlClient, (sql) =>
  sql`select c.relname::text as name,
      array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and a.attgenerated = '' order by a.attnum) as columns,
      array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attidentity <> '') as identities,
      array(select distinct f.confrelid::regclass::text from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'
        and f.confrelid <> c.oid) as references,
      exists (select from pg_constraint o where o.conrelid = c.oid and o.contype = 'c'
        and pg_get_constraintdef(o.oid) = 'CHECK ((id = 1))') as "hasOneRow"
    from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
      and ${sql.in("relname", gatewayTables)}
    order by c.relname`.pipe(
    Effect.flatMap(decodeTables),
    Effect.catchTag("ParseError", (error) => Effect.die(error)),
    Effect.map(inOrder)
  )
)

/** Tables beside those of the gateway, which are of other programs or made by hand. */
export const otherTables: Effect.Effect<ReadonlyArray<string>, SqlError, SqlClient> = Effect.flatMap(SqlClient, (sql) =>
  sql`select relname::text as name from pg_class
    where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
      and not (${sql.in("relname", ["migration", ...gatewayTables])})
    order by relname`.pipe(
    Effect.flatMap(decodeNames),
    Effect.catchTag("ParseError", (error) => Effect.die(error)),
    Effect.map((found) => found.map(({ name }) => name))
  )
)

const decodeNames = Schema.decodeUnknown(Schema.Array(Schema.Struct({ name: Schema.String })))

const inOrder = (all: ReadonlyArray<Table>): ReadonlyArray<Table> => {
  const ordered = new Map<string, Table>()
  while (ordered.size < all.length) {
    const next = all.find((table) => !ordered.has(table.name) && table.references.every((name) => ordered.has(name)))
    if (next === undefined) throw new Error("tables refer to each other in a circle")
    ordered.set(next.name, next)
  }
  return [...ordered.values()]
}
