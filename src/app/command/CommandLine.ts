import type * as FileSystem from "@effect/platform/FileSystem"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { nearest } from "../../domain/Nearest.ts"
import { version } from "../../domain/Version.ts"
import * as Configuration from "../Configuration.ts"
import { ofCommand } from "../Report.ts"
import * as LastValid from "../reload/LastValid.ts"
import { type Arguments, parse, UsageError } from "./Arguments.ts"
import { check } from "./CheckCommand.ts"
import type { Command } from "./Command.ts"
import * as Help from "./Help.ts"
import { keysCreate, keysList, keysMint, keysRevoke } from "./KeysCommands.ts"
import { models, projects } from "./ListCommands.ts"
import { balance, creditAdd } from "./MoneyCommands.ts"
import { auditVerify, dbExport, dbImport, reseal, signIn } from "./OlderCommands.ts"
import { start } from "./StartCommand.ts"

/** In the order of the help. */
export const commands: ReadonlyArray<Command> = [
  start,
  check,
  models,
  projects,
  keysCreate,
  keysList,
  keysRevoke,
  keysMint,
  balance,
  creditAdd,
  signIn,
  auditVerify,
  dbExport,
  dbImport,
  reseal
]

/** Commands that need no settings, and are not stopped by wrong ones. */
const withoutSettings: ReadonlySet<Command> = new Set([keysMint])

const versionWords: ReadonlySet<string> = new Set(["--version", "-v", "-V"])

/** The program, as its command line asks for it. */
export const run = (words: ReadonlyArray<string>): Effect.Effect<void, unknown, FileSystem.FileSystem> =>
  Effect.suspend(() => {
    if (words.some((word) => word === "--help" || word === "-h") || words[0] === "help") {
      const help = helpOn(words.filter((word) => !word.startsWith("-") && word !== "help"))
      return help instanceof UsageError ? help : Console.log(help)
    }
    if (versionWords.has(words[0] ?? "")) return Console.log(version)
    const found = commandOf(words)
    if (found instanceof UsageError) return found
    const usage = found.isNamed ? Help.one(found.command) : Help.all(commands)
    return Effect.flatMap(parse(found.rest, found.command), (given) => runCommand(found.command, given)).pipe(
      Effect.mapError((error) =>
        error instanceof UsageError ? new UsageError({ message: error.message, usage }) : error
      )
    )
  })

const helpOn = (asked: ReadonlyArray<string>): string | UsageError => {
  const [first, second] = asked
  if (first === undefined) return Help.all(commands)
  const group = groupOf(first)
  if (group.length > 0 && second === undefined) return Help.group(first, group)
  const found = commandOf(asked)
  return found instanceof UsageError ? found : Help.one(found.command)
}

const runCommand = (command: Command, given: Arguments): Effect.Effect<void, unknown, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const configuration = yield* withoutSettings.has(command) ? Configuration.of({}) : LastValid.read
    const run = command.run({ ...configuration, given })
    const reported = command === start ? run : Effect.mapError(run, ofCommand)
    return yield* Logger.withMinimumLogLevel(reported, configuration.settings.logLevel)
  })

interface Found {
  readonly command: Command
  readonly rest: ReadonlyArray<string>
  /** False: no word names a command, so that it is the first one. */
  readonly isNamed: boolean
}

const groupOf = (first: string): ReadonlyArray<Command> => commands.filter(({ name }) => name.startsWith(`${first} `))

/** Without a word, or with options only, it is the first command. */
const commandOf = (words: ReadonlyArray<string>): Found | UsageError => {
  const [first = "", second = ""] = words
  if (first === "" || first.startsWith("-")) return { command: start, rest: words, isNamed: false }
  const two = commands.find(({ name }) => name === `${first} ${second}`)
  if (two !== undefined) return { command: two, rest: words.slice(2), isNamed: true }
  const one = commands.find(({ name }) => name === first)
  if (one !== undefined) return { command: one, rest: words.slice(1), isNamed: true }
  const group = groupOf(first)
  const near = nearest(
    second,
    group.map(({ name }) => name.slice(first.length + 1))
  )
  if (group.length > 0) {
    const isMissing = second === "" || second.startsWith("-")
    return unknown(
      isMissing ? `${first} needs a command` : `unknown command '${first} ${second}'`,
      isMissing || near === undefined ? undefined : `${first} ${near}`,
      Help.group(first, group)
    )
  }
  const names = commands.flatMap(({ name }) => [name, name.split(" ")[0] ?? name])
  const both = second === "" || second.startsWith("-") ? undefined : nearest(`${first} ${second}`, names)
  return unknown(`unknown command '${first}'`, both ?? nearest(first, names), Help.all(commands))
}

const unknown = (what: string, near: string | undefined, usage: string): UsageError =>
  new UsageError({ message: near === undefined ? what : `${what}; did you mean '${near}'?`, usage })
