import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Settings from "../../config/Settings.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { Timers } from "../../domain/Timers.ts"
import * as DirectoryLock from "../../sql/embedded/DirectoryLock.ts"
import * as Embedded from "../../sql/embedded/Embedded.ts"
import * as DatabaseOperations from "./DatabaseOperations.ts"
import { CommandFailed, type Operations } from "./Operations.ts"
import * as ServiceOperations from "./ServiceOperations.ts"

/**
 * Runs a command on PostgreSQL, or on the embedded database where no service has it open; else at that service, since the embedded
 * database can be open in one process only.
 */
export const withOperations =
  (settings: Settings.Settings) =>
  <A, E, R>(command: Effect.Effect<A, E, R | Operations>) =>
    Effect.flatMap(layerFor(settings), (layer) => Effect.provide(command, layer))

const layerFor = (settings: Settings.Settings) =>
  Effect.gen(function* () {
    const direct = Layer.provide(DatabaseOperations.layer(settings), base)
    if (settings.databaseUrl !== null) return direct
    const directory = settings.dataDirectory
    if (!(yield* Embedded.isIn(directory))) {
      return yield* new CommandFailed({ message: `there is no database in ${directory}: start the service once.` })
    }
    return (yield* DirectoryLock.isHeld(directory)) ? Layer.provide(ServiceOperations.layer(settings), base) : direct
  })

const base = IdGenerator.layer.pipe(Layer.provideMerge(Timers.layer))
