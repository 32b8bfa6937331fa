import { createHash } from "node:crypto"
import * as Schema from "effect/Schema"

/**
 * A dump is NDJSON: a header, one line for each row, and a trailer with the SHA-256 of all bytes before it. A row is never parsed on
 * the way: its 64-bit integers are digits from one database to the other, and a value of type `json`, such as those of the audit
 * log that are hashed, keeps its text.
 */

export const formatVersion = 1

export const Header = Schema.parseJson(
  Schema.Struct({
    format: Schema.Literal("model-routing-gateway"),
    version: Schema.Literal(formatVersion),
    /** The migrations of the database, in order. */
    schema: Schema.Array(Schema.String),
    exportedAt: Schema.String
  })
)
export type Header = typeof Header.Type

export const Trailer = Schema.parseJson(Schema.Struct({ rows: Schema.NonNegativeInt, sha256: Schema.String }))

/** `row` is the JSON of an object. */
export const rowLine = (table: string, row: string): string => `{"table":"${table}","row":${row}}`

const rowPattern = /^\{"table":"([a-z_0-9]{1,63})","row":(\{.*\})\}$/s

export const rowOf = (line: string): readonly [table: string, row: string] | undefined => {
  const [, table, row] = rowPattern.exec(line) ?? []
  return table === undefined || row === undefined ? undefined : [table, row]
}

/** Sums up lines with the line feeds that end them. */
export const checksum = () => {
  const hash = createHash("sha256")
  return {
    add: (lines: string) => {
      hash.update(lines)
    },
    hex: () => hash.digest("hex")
  }
}
