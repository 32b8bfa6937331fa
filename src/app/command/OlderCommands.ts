import * as AuditVerifyCommand from "../AuditVerifyCommand.ts"
import * as ResealCommand from "../ResealCommand.ts"
import * as SignInCommand from "../SignInCommand.ts"
import * as TransferCommand from "../TransferCommand.ts"
import type { Command } from "./Command.ts"

/** Commands that are scripts of package.json too. */
export const signIn: Command = {
  name: "sign-in",
  about: "print a fresh sign-in link of the running service",
  positionals: [],
  options: {},
  run: ({ settings }) => SignInCommand.run(settings)
}

export const auditVerify: Command = {
  name: "audit:verify",
  about: "check that the audit logs are complete and unchanged",
  positionals: [],
  options: {},
  run: ({ settings }) => AuditVerifyCommand.run(settings)
}

export const dbExport: Command = {
  name: "db:export",
  about: "write the database to a new file",
  positionals: ["FILE"],
  options: {},
  run: ({ given, settings }) => TransferCommand.exportDatabase(settings, given.positionals[0])
}

export const dbImport: Command = {
  name: "db:import",
  about: "read such a file into an empty database",
  positionals: ["FILE"],
  options: {},
  run: ({ given, settings }) => TransferCommand.importDatabase(settings, given.positionals[0])
}

export const reseal: Command = {
  name: "reseal",
  about: "seal everything with the current master key",
  positionals: [],
  options: {},
  run: ({ settings }) => ResealCommand.run(settings)
}
