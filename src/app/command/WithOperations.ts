import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Settings from "../../config/Settings.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { Timers } from "../../domain/Timers.ts"
import * as DirectoryLock from "../../sql/embedded/DirectoryLock.ts"
import { loaded } from "./Command.ts"
import * as ExistingDatabase from "./ExistingDatabase.ts"
import type { Operations } from "./Operations.ts"

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
    yield* ExistingDatabase.required(settings)
    const isAtService = settings.databaseUrl === null && (yield* DirectoryLock.isHeld(settings.dataDirectory))
    const operations = isAtService
      ? loaded(
          () => import("./ServiceOperations.ts"),
          ({ layer }) => Effect.succeed(layer(settings))
        )
      : loaded(
          () => import("./DatabaseOperations.ts"),
          ({ layer }) => Effect.succeed(layer(settings))
        )
    return Layer.provide(Layer.unwrapEffect(operations), base)
  })

const base = IdGenerator.layer.pipe(Layer.provideMerge(Timers.layer))
