import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as Settings from "../config/Settings.ts"
import * as Database from "../sql/Database.ts"
import { reasonOf } from "../sql/DatabaseError.ts"
import * as Embedded from "../sql/embedded/Embedded.ts"
import * as Migrations from "../sql/Migrations.ts"
import { exportTo } from "../sql/transfer/Export.ts"
import { importFrom } from "../sql/transfer/Import.ts"
import { TransferFailed } from "../sql/transfer/TransferFailed.ts"

type DatabaseSettings = Pick<Settings.Settings, "databaseUrl" | "dataDirectory">

/** Writes the database to a new file, which only its owner may read; nothing of it is left when that fails. */
export const exportDatabase = Effect.fn("TransferCommand.exportDatabase")(function* (
  settings: DatabaseSettings,
  path: string | undefined
) {
  const files = yield* FileSystem.FileSystem
  const file = yield* fileOf(path, "db:export")
  if (settings.databaseUrl === null && !(yield* Embedded.isIn(settings.dataDirectory))) {
    return yield* new TransferFailed({ reason: `there is no database in ${settings.dataDirectory} to export` })
  }
  const encoder = new TextEncoder()
  const notWritten = (error: PlatformError) =>
    new TransferFailed({
      reason:
        error._tag === "SystemError" && error.reason === "AlreadyExists"
          ? `${file} exists already`
          : `${file} cannot be written: ${reasonOf(error)}`
    })
  const { leftOut, rows } = yield* files.open(file, { flag: "wx", mode: 0o600 }).pipe(
    Effect.mapError(notWritten),
    Effect.flatMap((opened) =>
      exportTo((lines) => Effect.mapError(opened.writeAll(encoder.encode(lines)), notWritten)).pipe(
        Effect.zipLeft(Effect.mapError(opened.sync, notWritten)),
        // an older version's database is exported as it is
        Effect.provide(Database.layerUnmigrated(optionsOf(settings))),
        Effect.onError(() => Effect.ignore(files.remove(file)))
      )
    ),
    Effect.scoped
  )
  yield* Console.log(
    `${rows} rows were written to ${file}. It has everything that the database has: keep it as safe.\n` +
      "The images of conversations are not in it: copy DATA_DIR/objects, or the bucket, beside it."
  )
  if (leftOut.length > 0) yield* Console.log(`Not in it either, as they are not of the gateway: ${leftOut.join(", ")}.`)
})

/** Reads a file that `exportDatabase` has written into an empty database. One that has rows, or an earlier schema, stays as it is. */
export const importDatabase = Effect.fn("TransferCommand.importDatabase")(function* (
  settings: DatabaseSettings,
  path: string | undefined
) {
  const files = yield* FileSystem.FileSystem
  const file = yield* fileOf(path, "db:import")
  const notRead = (error: PlatformError) => new TransferFailed({ reason: `${file} cannot be read: ${reasonOf(error)}` })
  yield* Effect.mapError(files.access(file, { readable: true }), notRead)
  const lines = files
    .stream(file, { chunkSize: FileSystem.KiB(256) })
    .pipe(Stream.mapError(notRead), Stream.decodeText(), Stream.splitLines)
  const rows = yield* Effect.zipRight(
    requireNoEarlierSchema,
    Effect.provide(importFrom(lines), Migrations.layer(false))
  ).pipe(Effect.provide(Database.layerUnmigrated(optionsOf(settings))))
  yield* Console.log(`${rows} rows were read from ${file}.`)
})

/** A database of an earlier version is in use: to migrate it is for the service to do. */
const requireNoEarlierSchema = Effect.catchTag(Migrations.requireCurrent, "SchemaOutdated", ({ isEmpty }) =>
  isEmpty
    ? Effect.void
    : Effect.fail(
        new TransferFailed({
          reason: "the database has the schema of an earlier version; a dump is only imported into an empty one"
        })
      )
)

const fileOf = (path: string | undefined, command: string) =>
  path === undefined
    ? Effect.fail(new TransferFailed({ reason: `name the file: npm run ${command} -- FILE` }))
    : Effect.succeed(path)

const optionsOf = ({ databaseUrl, dataDirectory }: DatabaseSettings): Database.DatabaseOptions => ({
  url: Option.fromNullable(databaseUrl),
  dataDir: dataDirectory,
  maxConnections: 1
})
