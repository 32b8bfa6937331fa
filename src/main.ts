import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as AuditVerifyCommand from "./app/AuditVerifyCommand.ts"
import { loadOptions } from "./app/LoadOptions.ts"
import * as Process from "./app/Process.ts"
import * as ResealCommand from "./app/ResealCommand.ts"
import * as Service from "./app/Service.ts"
import * as Signals from "./app/Signals.ts"
import * as SignInCommand from "./app/SignInCommand.ts"
import * as TransferCommand from "./app/TransferCommand.ts"
import * as Workers from "./app/Workers.ts"
import * as Settings from "./config/Settings.ts"

const main = Effect.gen(function* () {
  const settings = yield* Settings.load(loadOptions)
  const [command, argument] = process.argv.slice(2)
  if (command === "sign-in") return yield* SignInCommand.run(settings)
  if (command === "audit:verify") return yield* AuditVerifyCommand.run(settings)
  if (command === "db:export") return yield* TransferCommand.exportDatabase(settings, argument)
  if (command === "db:import") return yield* TransferCommand.importDatabase(settings, argument)
  if (command === "reseal") return yield* ResealCommand.run(settings)
  const program = Workers.isSupervisor(settings.workers) ? Workers.supervise(settings.workers) : Service.run(settings)
  return yield* Effect.zipRight(Signals.ignoreOtherSignals, program).pipe(Logger.withMinimumLogLevel(settings.logLevel))
}).pipe(Effect.provide(NodeFileSystem.layer))

Process.run(main)
