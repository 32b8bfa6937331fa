import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { requireProvider } from "../../config/Settings.ts"
import type { Configuration } from "../Configuration.ts"
import { serviceDatabase } from "../ServiceDatabase.ts"
import * as Signals from "../Signals.ts"
import * as Workers from "../Workers.ts"
import type { Command } from "./Command.ts"

/** The service, until it is stopped. */
export const start: Command = {
  name: "start",
  about: "run the service",
  positionals: [],
  options: {},
  run: (configuration) =>
    Effect.zipRight(
      Effect.zipRight(requireProvider(configuration.settings), Signals.ignoreOtherSignals),
      Effect.if(Workers.isSupervisor(configuration.settings.workers), {
        onTrue: () => Workers.supervise(configuration),
        onFalse: () => serve(configuration)
      })
    )
}

/** The modules of the service are loaded while the database opens, which another thread or another process does. */
const serve = (configuration: Configuration) =>
  Effect.all([Layer.build(serviceDatabase(configuration.settings)), Effect.promise(() => import("../Service.ts"))], {
    concurrency: "unbounded"
  }).pipe(
    Effect.flatMap(([database, { run }]) => Effect.provide(run(configuration), database)),
    Effect.scoped
  )
