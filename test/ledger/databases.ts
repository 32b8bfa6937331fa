import { randomBytes } from "node:crypto"
import type { SqlClient } from "@effect/sql/SqlClient"
import type { PgClient } from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { AccountSql } from "../../src/sql/AccountDatabase.ts"
import * as Database from "../../src/sql/Database.ts"
import { administer, createDatabase, dropDatabase, urlOf } from "../support/PostgresServer.ts"

export type AnyDatabase = Layer.Layer<AccountSql | Database.Database | PgClient | SqlClient, unknown>

const adminUrl = process.env["TEST_DATABASE_URL"]

const temporary = (server: string, create: (name: string) => Promise<void>) => {
  const name = `ledger_${randomBytes(6).toString("hex")}`
  return Effect.acquireRelease(
    Effect.promise(() => create(name)),
    () => Effect.promise(() => dropDatabase(server, name))
  ).pipe(Effect.as(urlOf(server, name)))
}

/** A PostgreSQL database of its own with the schema of this version, dropped afterwards; its URL. */
export const freshDatabase = (server: string) =>
  Effect.suspend(() => temporary(server, (name) => createDatabase(server, name)))

/** The same without any schema. */
export const emptyDatabase = (server: string) =>
  Effect.suspend(() => temporary(server, (name) => administer(server, `create database ${name}`)))

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
