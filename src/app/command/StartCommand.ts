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
  run: ({ settings, variables }) =>
    Effect.zipRight(
      Effect.zipRight(requireProvider(settings), Signals.ignoreOtherSignals),
      Effect.if(Workers.isSupervisor(settings.workers), {
        onTrue: () => Workers.supervise(settings.workers),
        onFalse: () => Service.run(settings, variables)
      })
    )
}
