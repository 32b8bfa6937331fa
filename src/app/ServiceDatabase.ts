import * as Option from "effect/Option"
import type * as Settings from "../config/Settings.ts"
import * as Database from "../sql/Database.ts"

/** The database of the settings, migrated. */
export const serviceDatabase = (settings: Settings.Settings) =>
  Database.layer({
    url: Option.fromNullable(settings.databaseUrl),
    dataDir: settings.dataDirectory,
    maxConnections: settings.poolSize,
    logsMigrations: true
  })
