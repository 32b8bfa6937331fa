import { randomBytes } from "node:crypto"
import type { SqlClient } from "@effect/sql/SqlClient"
import type { PgClient } from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import Pg from "pg"
import type { AccountSql } from "../../src/sql/AccountDatabase.ts"
import * as Database from "../../src/sql/Database.ts"

export type AnyDatabase = Layer.Layer<AccountSql | Database.Database | PgClient | SqlClient, unknown>

const adminUrl = process.env["TEST_DATABASE_URL"]

/** A fresh PostgreSQL database of its own, dropped afterwards; its URL. */
export const freshDatabase = (server: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const name = `ledger_${randomBytes(6).toString("hex")}`
      await administer(server, `create database ${name}`)
      return Object.assign(new URL(server), { pathname: `/${name}` })
    }),
    (url) => Effect.promise(() => administer(server, `drop database ${url.pathname.slice(1)} with (force)`))
  ).pipe(Effect.map((url) => url.href))

const administer = async (server: string, statement: string) => {
  const client = new Pg.Client({ connectionString: server })
  await client.connect()
  await client.query(statement)
  await client.end()
}

export const embedded: AnyDatabase = Database.layer({ url: Option.none(), dataDir: ":memory:" })

export const postgresServer = adminUrl

export const postgresAt = (url: string): AnyDatabase =>
  Database.layer({ url: Option.some(Redacted.make(url)), dataDir: ":memory:" })

/** A second run of the suite, for PostgreSQL alone. */
export const skipsEmbedded = adminUrl !== undefined && process.env["TEST_DATABASES"] === "postgres"

/** The databases that the ledger is tested on: the embedded one, and PostgreSQL where there is a server. */
export const databases: ReadonlyArray<readonly [name: string, layer: AnyDatabase]> = [
  ...(skipsEmbedded ? [] : [["embedded", embedded] as const]),
  ...(adminUrl === undefined
    ? []
    : [["PostgreSQL", Layer.unwrapScoped(Effect.map(freshDatabase(adminUrl), postgresAt))] as const])
]
