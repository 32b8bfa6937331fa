import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { PgClient } from "@effect/sql-pg/PgClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConfigIssue, InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { connectionsBounds, issuesOfNumber, layerIfValid, millisBounds } from "../domain/OptionIssues.ts"
import { isPostgresUrl, wrongPostgresUrl } from "../domain/PostgresUrl.ts"
import type { Timers } from "../domain/Timers.ts"
import type { AccountSql } from "./AccountDatabase.ts"
import { ChangeNotifications } from "./ChangeNotifications.ts"
import * as Database from "./Database.ts"
import type { DatabaseFailed, DirectoryInUse } from "./DatabaseError.ts"
import type { MigrationError } from "./Migrations.ts"

/** PostgreSQL 14 or newer, directly or behind a pooler in session mode. */
export interface PostgresOptions {
  /** Such as `postgres://user:password@host:5432/name`. */
  readonly url: Redacted.Redacted<string>
  /** Connections for calls, 2 to 1,000; default 10. Account programs have four of their own. */
  readonly maxConnections?: number
  /** PostgreSQL cancels any statement that runs longer, 1 to 2,147,482,647; default 5000. */
  readonly statementTimeoutMillis?: number
}

/** PGlite in a worker thread: PostgreSQL in a directory, for one process at a time. */
export interface EmbeddedOptions {
  /** With `:memory:` nothing is stored. */
  readonly directory: string
}

/** Which database to open. */
export type DatabaseLayerOptions = PostgresOptions | EmbeddedOptions

/** Why a database could not be opened or migrated. */
export type DatabaseError = DirectoryInUse | DatabaseFailed | SqlError | MigrationError

/** What `PolicyLayer` and `LedgerLayer` need of a database. */
export type DatabaseServices = AccountSql | ChangeNotifications | Database.Database | PgClient | SqlClient

/**
 * The migrated database, and what tells this process of changes that others make in it. Fails with `InvalidConfiguration` where the URL is
 * none of PostgreSQL, a directory is given beside it, a number is out of bounds or the directory has no name, and where the database
 * cannot be opened.
 */
export const DatabaseLayer = (
  options: DatabaseLayerOptions
): Layer.Layer<DatabaseServices, DatabaseError | InvalidConfiguration, IdGenerator | Timers> =>
  layerIfValid(
    () => issuesOfDatabaseOptions(options),
    () =>
      Layer.provideMerge(
        ChangeNotifications.layer,
        Database.layer(
          "url" in options
            ? { ...options, url: Option.some(options.url), dataDir: "" }
            : { url: Option.none(), dataDir: options.directory }
        )
      )
  )

/** What is wrong with the options. A variable that is not set may be `undefined` in spite of its type. */
export const issuesOfDatabaseOptions = (options: DatabaseLayerOptions): ReadonlyArray<ConfigIssue> => {
  if (!("url" in options)) {
    return options.directory ? [] : [{ path: "directory", message: "must be the path of a directory, or :memory:" }]
  }
  const { maxConnections, statementTimeoutMillis, url } = options
  const text: unknown = Redacted.value(url)
  return [
    ...("directory" in options && options.directory !== undefined
      ? [{ path: "directory", message: "cannot be given beside url: one database is opened" }]
      : []),
    ...(typeof text === "string" && isPostgresUrl(text) ? [] : [{ path: "url", message: wrongPostgresUrl }]),
    ...(maxConnections === undefined ? [] : issuesOfNumber(maxConnections, connectionsBounds, "maxConnections")),
    ...(statementTimeoutMillis === undefined
      ? []
      : issuesOfNumber(statementTimeoutMillis, statementTimeoutBounds, "statementTimeoutMillis"))
  ]
}

/** The response is waited for somewhat longer. */
const statementTimeoutBounds = { ...millisBounds, max: millisBounds.max - Database.responseGraceMillis }
