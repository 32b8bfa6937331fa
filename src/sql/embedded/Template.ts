import { rename, writeFile } from "node:fs/promises"
import { gzipSync } from "node:zlib"
import * as Reactivity from "@effect/experimental/Reactivity"
import { SqlClient } from "@effect/sql/SqlClient"
import * as PgClient from "@effect/sql-pg/PgClient"
import type { PGlite } from "@electric-sql/pglite"
import * as Effect from "effect/Effect"
import Pg from "pg"
import * as Migrations from "../Migrations.ts"
import { Engine } from "./engine.js"
import { unencrypted, Wire } from "./Wire.ts"

/** The fastest: a first start waits for the archive, and half a megabyte more is no matter. */
const compression = { level: 1 }

/**
 * Migrates a new database and writes it as a compressed archive. With it a first start unpacks files instead of running
 * initdb and all migrations. The build puts it into `dist/`, under the name `template.tar.gz`.
 */
export const writeTemplate = async (database: PGlite, file: string): Promise<void> => {
  await Effect.runPromise(migrated(database))
  await dropUnusedDatabases(database)
  await database.exec("CHECKPOINT")
  const archive = await database.dumpDataDir("none")
  await database.close()
  await writeFile(`${file}.new`, gzipSync(await archive.arrayBuffer(), compression))
  await rename(`${file}.new`, file)
}

/** What initdb makes for `CREATE DATABASE`, which nothing here runs: half of the files. */
const dropUnusedDatabases = async (database: PGlite): Promise<void> => {
  for (const name of ["template0", "template1"]) {
    await database.exec(`ALTER DATABASE ${name} IS_TEMPLATE false`)
    await database.exec(`DROP DATABASE ${name}`)
  }
}

const migrated = (database: PGlite) =>
  Effect.gen(function* () {
    const pool = yield* Effect.acquireRelease(
      Effect.sync(() => poolOf(database)),
      (pool) => Effect.promise(() => pool.end())
    )
    const client = yield* PgClient.fromPool({ acquire: Effect.succeed(pool) })
    yield* Effect.provideService(Migrations.run, SqlClient, client)
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

/** One connection, in this thread: nothing else runs in the process. */
const poolOf = (database: PGlite): Pg.Pool => {
  const engine = new Engine(database, "18")
  const connection = 1
  return new Pg.Pool({
    ...unencrypted,
    max: 1,
    stream: () =>
      new Wire({
        opened: (wire) => engine.open(connection, (bytes) => void wire.push(bytes)),
        written: (_, bytes) => void engine.data(connection, bytes),
        closed: () => void engine.close(connection)
      })
  })
}
