import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FileSystem } from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { exportDatabase, importDatabase } from "../../src/app/TransferCommand.ts"
import * as Database from "../../src/sql/Database.ts"
import { freshDatabase, postgresServer } from "../ledger/databases.ts"
import { databaseAt } from "../support/LedgerRows.ts"

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-transfer-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** In a folder that is not there. */
const nowhere = () => join(folder, "nowhere", "dump.ndjson")
const embedded = (name: string) => ({ databaseUrl: null, dataDirectory: join(folder, name) })
const run = <A, E>(effect: Effect.Effect<A, E, FileSystem | Scope.Scope>) =>
  Effect.runPromise(effect.pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)))
const failure = <A, E extends Error>(effect: Effect.Effect<A, E, FileSystem>) =>
  run(Effect.map(Effect.flip(effect), ({ message }) => message))

/** Text that is cut into pieces of a file in the middle of a character. */
const name = "é".repeat(200)
const users = 2_000

const fill = Effect.flatMap(
  SqlClient,
  (sql) => sql`insert into app_user (id, name) select gen_random_uuid(), ${name} from generate_series(1, ${users})`
)
const addTable = Effect.flatMap(SqlClient, (sql) => sql`create table by_hand as select * from app_user`)
const namesIn = Effect.flatMap(
  SqlClient,
  (sql) => sql<{ name: string; count: number }>`select name, count(*)::int as count from app_user group by 1`
)

it("a database goes into a file and from there into an empty one, once", { timeout: 120_000 }, async () => {
  const file = join(folder, "dump.ndjson")
  const source = embedded("source")
  await run(Effect.provide(Effect.zip(fill, addTable), databaseAt({ dataDir: source.dataDirectory })))
  const said: Array<unknown> = []
  vi.spyOn(console, "log").mockImplementation((line) => void said.push(line))
  await run(exportDatabase(source, file)).finally(() => vi.restoreAllMocks())
  expect(said.at(-1)).toBe("Not in it either, as they are not of the gateway: by_hand.")
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await failure(exportDatabase(source, file))).toBe(`${file} exists already`)
  expect(await failure(exportDatabase(source, nowhere()))).toContain(`${nowhere()} cannot be written: ENOENT`)
  expect(await failure(importDatabase(source, file))).toContain("only imported into an empty one")

  await run(
    Effect.gen(function* () {
      const databaseUrl = postgresServer === undefined ? undefined : yield* freshDatabase(postgresServer)
      const target =
        databaseUrl === undefined
          ? embedded("target")
          : { databaseUrl: Redacted.make(databaseUrl), dataDirectory: ":memory:" }
      yield* importDatabase(target, file)
      const database = databaseUrl === undefined ? { dataDir: target.dataDirectory } : { databaseUrl }
      expect(yield* Effect.provide(namesIn, databaseAt(database))).toEqual([{ name, count: users }])
    })
  )

  const text = await readFile(file, "utf8")
  const cut = join(folder, "cut.ndjson")
  await writeFile(cut, text.slice(0, -10))
  expect(await failure(importDatabase(embedded("other"), cut))).toContain("cannot be imported")
})

it("says what is missing, and leaves no file behind", { timeout: 60_000 }, async () => {
  expect(await failure(exportDatabase(embedded("empty"), undefined))).toContain("name the file")
  expect(await failure(importDatabase(embedded("empty"), undefined))).toContain("name the file")
  const file = join(folder, "nothing.ndjson")
  expect(await failure(exportDatabase(embedded("empty"), file))).toMatch(/^there is no database in .*empty to export$/)
  await expect(stat(file)).rejects.toThrow()
  await expect(stat(join(folder, "empty"))).rejects.toThrow()
  expect(await failure(importDatabase(embedded("empty"), nowhere()))).toContain(`${nowhere()} cannot be read: ENOENT`)
  await expect(stat(join(folder, "empty"))).rejects.toThrow()
})

it("does not migrate a database that it does not import into", { timeout: 60_000 }, async () => {
  const earlier = embedded("earlier")
  const at = { dataDir: earlier.dataDirectory }
  await run(
    Effect.provide(
      Effect.flatMap(SqlClient, (sql) => sql`delete from migration where migration_id > 50`),
      databaseAt(at)
    )
  )
  const file = join(folder, "any.ndjson")
  await writeFile(file, "")
  expect(await failure(importDatabase(earlier, file))).toBe(
    "the database has the schema of an earlier version; a dump is only imported into an empty one"
  )
  const last = Effect.flatMap(SqlClient, (sql) => sql`select max(migration_id) as id from migration`)
  const unmigrated = Database.layerUnmigrated({ url: Option.none(), dataDir: earlier.dataDirectory, maxConnections: 1 })
  expect(await run(Effect.provide(last, unmigrated))).toEqual([{ id: 50 }])
})
