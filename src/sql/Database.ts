import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import Pg from "pg"
import { closedWithin } from "../domain/Closing.ts"
import { collecting } from "../observe/Collection.ts"
import * as LedgerMetrics from "../observe/LedgerMetrics.ts"
import { AccountSql, maxAccountConnections } from "./AccountDatabase.ts"
import { DatabaseFailed, type DirectoryInUse, postgresName } from "./DatabaseError.ts"
import * as Embedded from "./embedded/Embedded.ts"
import * as Migrations from "./Migrations.ts"
import { PooledClient, type PooledClientConfig } from "./PooledClient.ts"
import { type PreparedStatement, prepare } from "./PreparedStatement.ts"

export interface DatabaseOptions {
  /** PostgreSQL's URL; without one the embedded database is opened. */
  readonly url: Option.Option<Redacted.Redacted<string>>
  /** Directory of the embedded database; with `:memory:` nothing is stored. */
  readonly dataDir: string
  readonly maxConnections?: number
  /** Migrations are a line in the log. */
  readonly logsMigrations?: boolean
  /** PostgreSQL cancels any statement that runs longer, except migrations. */
  readonly statementTimeoutMillis?: number
}

export interface DatabaseShape {
  /** embedded: no other process has it open. */
  readonly kind: "postgres" | "embedded"
  /** Fails when the embedded database has stopped and the process should end. Never fails for PostgreSQL, which may come back. */
  readonly died: Effect.Effect<never, DatabaseFailed>
  /** A prepared statement for the hot path, without the overhead of `SqlClient`; `name` must be unique. */
  readonly prepare: (name: string, text: string) => PreparedStatement
}

/** The database behind `SqlClient`. */
export class Database extends Context.Tag("gateway/sql/Database")<Database, DatabaseShape>() {}

const defaultMaxConnections = 10
const defaultStatementTimeoutMillis = 5_000
const accountStatementTimeoutMillis = 2_000
const connectMillis = 5_000
/** The server ends a transaction whose process sends nothing for so long. */
const idleInTransactionMillis = 10_000
/** How long after the server's own timeout the result of a statement may arrive. */
export const responseGraceMillis = 1_000
/** Most statements have ended sooner than a request to cancel them arrives. */
const cancelAfterMillis = 100
const closeMillis = 2_000
/** The oldest release that is still maintained; the tests run on newer ones. */
const minServerVersion = 14

/** The migrated database: the same client and SQL dialect for both kinds. */
export const layer = (
  options: DatabaseOptions
): Layer.Layer<
  AccountSql | Database | PgClient.PgClient | SqlClient,
  DirectoryInUse | DatabaseFailed | SqlError | Migrations.MigrationError
> => Migrations.layer(options.logsMigrations ?? false).pipe(Layer.provideMerge(layerUnmigrated(options)))

export const layerUnmigrated = (
  options: DatabaseOptions
): Layer.Layer<AccountSql | Database | PgClient.PgClient | SqlClient, DirectoryInUse | DatabaseFailed | SqlError> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const { accountPool, pool, ...database } = yield* Option.match(options.url, {
        onSome: (url) => postgres(url, options),
        onNone: () => embedded(options.dataDir)
      })
      const client = yield* PgClient.fromPool({ acquire: Effect.succeed(pool) })
      yield* collecting(() => {
        for (const [name, { idleCount, totalCount, waitingCount }] of [
          ["calls", pool],
          ["account", accountPool]
        ] as const) {
          LedgerMetrics.connections(name, totalCount - idleCount, idleCount, waitingCount)
        }
      })
      return Context.make(PgClient.PgClient, client).pipe(
        Context.add(SqlClient, client),
        Context.add(AccountSql, yield* PgClient.fromPool({ acquire: Effect.succeed(accountPool) })),
        Context.add(Database, {
          ...database,
          prepare: (name, text) =>
            prepare(pool, {
              name,
              text,
              timeoutMillis: (options.statementTimeoutMillis ?? defaultStatementTimeoutMillis) + responseGraceMillis
            })
        })
      )
    })
  ).pipe(Layer.provide(Reactivity.layer))

interface Opened extends Omit<DatabaseShape, "prepare"> {
  readonly pool: Pg.Pool
  readonly accountPool: Pg.Pool
}

const embedded = (dataDir: string): Effect.Effect<Opened, DirectoryInUse | DatabaseFailed, Scope.Scope> =>
  Effect.map(Embedded.open(dataDir === ":memory:" ? null : dataDir), (opened) => ({ kind: "embedded", ...opened }))

const postgres = (
  url: Redacted.Redacted<string>,
  options: DatabaseOptions
): Effect.Effect<Opened, DatabaseFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const pool = yield* connected(url, {
      max: options.maxConnections ?? defaultMaxConnections,
      statement_timeout: options.statementTimeoutMillis ?? defaultStatementTimeoutMillis
    })
    const accountPool = yield* connected(url, {
      max: maxAccountConnections,
      statement_timeout: accountStatementTimeoutMillis,
      maxResponseMillis: accountStatementTimeoutMillis + responseGraceMillis
    })
    return { kind: "postgres", died: Effect.never, pool, accountPool }
  })

const connected = (
  url: Redacted.Redacted<string>,
  limits: { readonly max: number; readonly statement_timeout: number } & Pick<PooledClientConfig, "maxResponseMillis">
): Effect.Effect<Pg.Pool, DatabaseFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const config: Pg.PoolConfig & PooledClientConfig = {
          ...limits,
          Client: PooledClient,
          connectionString: withExplicitMode(Redacted.value(url)),
          application_name: "model-routing-gateway",
          connectionTimeoutMillis: connectMillis,
          // a process that no longer answers must not keep rows locked
          idle_in_transaction_session_timeout: idleInTransactionMillis,
          keepAlive: true,
          onConnect: (client) => client.query(sessionSettings),
          maxAbandonedMillis: limits.statement_timeout + responseGraceMillis,
          cancelAfterMillis
        }
        const pool = new Pg.Pool(config)
        // The next query replaces an idle connection that breaks, and reports the error if there still is one.
        pool.on("error", () => {})
        await rejectOldServer(pool)
        return pool
      },
      catch: (cause) => new DatabaseFailed({ database: postgresName, cause })
    }),
    (pool) =>
      // A server that no longer responds does not acknowledge the close either.
      Effect.promise(() => pool.end()).pipe(closedWithin(closeMillis))
  )

/** The driver takes all these modes for `verify-full`, and warns at each start that its next version will not. */
const withExplicitMode = (url: string): string =>
  /[?&]uselibpqcompat=true(?:&|$)/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, "$1verify-full")

/**
 * Settings that a role or a database may have otherwise: times and numbers are read in these forms, and transactions are written for
 * this isolation. Without `jit = off` the server compiles a statement that it expects to be dear, each time it runs: 0.3 s for a page
 * of holds and 1.4 s for its check of 0.3 s, since it expects far too much of young tables.
 */
const sessionSettings: Pg.QueryConfig & Pick<Pg.ClientConfig, "query_timeout"> = {
  text: [
    "set jit = off",
    "set datestyle = iso",
    "set extra_float_digits = 1",
    "set default_transaction_isolation = 'read committed'"
  ].join(";"),
  query_timeout: connectMillis
}

/** An older server would fail in the middle of a migration. */
const rejectOldServer = async (pool: Pg.Pool): Promise<void> => {
  const { rows } = await pool.query<{ readonly version: string }>("select current_setting('server_version') as version")
  const version = rows[0]?.version ?? ""
  if (Number.parseInt(version, 10) >= minServerVersion) return
  await pool.end()
  throw new Error(`its server is PostgreSQL ${version}; the gateway needs ${minServerVersion} or newer`)
}
