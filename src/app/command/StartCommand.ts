import * as Effect from "effect/Effect"
import { requireProvider } from "../../config/Settings.ts"
import * as Service from "../Service.ts"
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
        onTrue: () => Workers.supervise(configuration.settings.workers),
        onFalse: () => Service.run(configuration)
      })
    )
}
