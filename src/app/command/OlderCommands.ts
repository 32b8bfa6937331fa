import { type Command, loaded } from "./Command.ts"

const transfer = () => import("../TransferCommand.ts")

/** Commands that are scripts of package.json too. */
export const signIn: Command = {
  name: "sign-in",
  about: "print a fresh sign-in link of the running service",
  positionals: [],
  options: {},
  run: ({ settings }) =>
    loaded(
      () => import("../SignInCommand.ts"),
      ({ run }) => run(settings)
    )
}

export const auditVerify: Command = {
  name: "audit:verify",
  about: "check that the audit logs are complete and unchanged",
  positionals: [],
  options: {},
  run: ({ settings }) =>
    loaded(
      () => import("../AuditVerifyCommand.ts"),
      ({ run }) => run(settings)
    )
}

export const dbExport: Command = {
  name: "db:export",
  about: "write the database to a new file",
  positionals: ["FILE"],
  options: {},
  run: ({ given, settings }) => loaded(transfer, ({ exportDatabase }) => exportDatabase(settings, given.positionals[0]))
}

export const dbImport: Command = {
  name: "db:import",
  about: "read such a file into an empty database",
  positionals: ["FILE"],
  options: {},
  run: ({ given, settings }) => loaded(transfer, ({ importDatabase }) => importDatabase(settings, given.positionals[0]))
}

export const reseal: Command = {
  name: "reseal",
  about: "seal everything with the current master key",
  positionals: [],
  options: {},
  run: ({ settings }) =>
    loaded(
      () => import("../ResealCommand.ts"),
      ({ run }) => run(settings)
    )
}
