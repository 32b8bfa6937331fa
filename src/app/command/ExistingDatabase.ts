import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Settings from "../../config/Settings.ts"
import * as Database from "../../sql/Database.ts"
import * as Embedded from "../../sql/embedded/Embedded.ts"
import * as Migrations from "../../sql/Migrations.ts"
import { CommandFailed } from "./Operations.ts"

type DatabaseSettings = Pick<Settings.Settings, "databaseUrl" | "dataDirectory">

const maxConnections = 2

/** Fails where there is no embedded database, which would be created otherwise; to be run before anything else is opened. */
export const required = ({ databaseUrl, dataDirectory }: DatabaseSettings): Effect.Effect<void, CommandFailed> =>
  Effect.gen(function* () {
    if (databaseUrl !== null || (yield* Embedded.isIn(dataDirectory))) return
    return yield* new CommandFailed({ message: `there is no database in ${dataDirectory}: start the service once.` })
  })

/** The database of the settings for commands, which do not migrate it: other nodes may run an older version. */
export const layer = ({ databaseUrl, dataDirectory }: DatabaseSettings) =>
  Layer.effectDiscard(Migrations.requireCurrent).pipe(
    Layer.provideMerge(
      Database.layerUnmigrated({ url: Option.fromNullable(databaseUrl), dataDir: dataDirectory, maxConnections })
    )
  )
