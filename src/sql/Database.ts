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
import { DatabaseFailed, type DirectoryInUse } from "./DatabaseError.ts"
import * as Embedded from "./embedded/Embedded.ts"
import * as Migrations from "./Migrations.ts"
import { type Prepared, prepare } from "./Prepared.ts"

export interface DatabaseOptions {
  /** PostgreSQL's URL; without one the embedded database is opened. */
  readonly url: Option.Option<Redacted.Redacted<string>>
  /** Where the embedded database lives; `:memory:` keeps nothing. */
  readonly dataDir: string
  readonly maxConnections?: number
  /** PostgreSQL ends any statement that runs longer, but for migrations. */
  readonly statementTimeoutMillis?: number
}

export interface DatabaseShape {
  /** embedded: this process is the only one that has it open. */
  readonly kind: "postgres" | "embedded"
  /** Fails when the database has stopped for good and the process should end; PostgreSQL may come back, so it never does. */
  readonly died: Effect.Effect<never, DatabaseFailed>
  /** A statement for the hot path, past the client's own ways; `name` is the statement's alone. */
  readonly prepare: (name: string, text: string) => Prepared
}

/** Facts about the database that is behind `SqlClient`. */
export class Database extends Context.Tag("gateway/sql/Database")<Database, DatabaseShape>() {}

const defaultMaxConnections = 10
const defaultStatementTimeoutMillis = 5_000
const connectMillis = 5_000
/** How much later than the server's own limit a statement's answer may come. */
const silenceMillis = 1_000
const goodbyeMillis = 2_000
/** The oldest release that its makers still maintain; the tests run on newer ones. */
const minServerVersion = 14

/** The database, migrated: the same client and the same dialect whichever it is. */
export const layer = (
  options: DatabaseOptions
): Layer.Layer<
  Database | PgClient.PgClient | SqlClient,
  DirectoryInUse | DatabaseFailed | SqlError | Migrations.MigrationError
> => Migrations.layer.pipe(Layer.provideMerge(layerUnmigrated(options)))

export const layerUnmigrated = (
  options: DatabaseOptions
): Layer.Layer<Database | PgClient.PgClient | SqlClient, DirectoryInUse | DatabaseFailed | SqlError> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const { pool, ...database } = yield* Option.match(options.url, {
        onSome: (url) => postgres(url, options),
        onNone: () => embedded(options.dataDir)
      })
      const client = yield* PgClient.fromPool({ acquire: Effect.succeed(pool) })
      return Context.make(PgClient.PgClient, client).pipe(
        Context.add(SqlClient, client),
        Context.add(Database, {
          ...database,
          prepare: (name, text) =>
            prepare(pool, {
              // the connections of the embedded database share one session, where a name could be taken only once
              name: database.kind === "embedded" ? undefined : name,
              text,
              answerMillis: (options.statementTimeoutMillis ?? defaultStatementTimeoutMillis) + silenceMillis
            })
        })
      )
    })
  ).pipe(Layer.provide(Reactivity.layer))

interface Opened extends Omit<DatabaseShape, "prepare"> {
  readonly pool: Pg.Pool
}

const embedded = (dataDir: string): Effect.Effect<Opened, DirectoryInUse | DatabaseFailed, Scope.Scope> =>
  Effect.map(Embedded.open(dataDir === ":memory:" ? null : dataDir), (opened) => ({ kind: "embedded", ...opened }))

const postgres = (
  url: Redacted.Redacted<string>,
  options: DatabaseOptions
): Effect.Effect<Opened, DatabaseFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const pool = new Pg.Pool({
          connectionString: Redacted.value(url),
          application_name: "model-routing-gateway",
          max: options.maxConnections ?? defaultMaxConnections,
          connectionTimeoutMillis: connectMillis,
          statement_timeout: options.statementTimeoutMillis ?? defaultStatementTimeoutMillis,
          keepAlive: true
        })
        // An idle connection that breaks is replaced by the next query; the query reports what matters.
        pool.on("error", () => {})
        await refuseOldServer(pool)
        return pool
      },
      catch: (cause) => new DatabaseFailed({ database: "the PostgreSQL database of DATABASE_URL", cause })
    }),
    (pool) =>
      // a server that has stopped answering does not say goodbye either
      Effect.promise(() => pool.end()).pipe(Effect.timeoutOption(goodbyeMillis), Effect.interruptible, Effect.asVoid)
  ).pipe(Effect.map((pool) => ({ kind: "postgres", died: Effect.never, pool })))

/** An older server fails in the middle of a migration, at a statement that it does not know. */
const refuseOldServer = async (pool: Pg.Pool): Promise<void> => {
  const { rows } = await pool.query<{ readonly version: string }>("select current_setting('server_version') as version")
  const version = rows[0]?.version ?? ""
  if (Number.parseInt(version, 10) >= minServerVersion) return
  await pool.end()
  throw new Error(`its server is PostgreSQL ${version}; the gateway needs ${minServerVersion} or newer`)
}
