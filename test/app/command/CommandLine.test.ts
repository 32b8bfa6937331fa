import { readFileSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { parse, UsageError } from "../../../src/app/command/Arguments.ts"
import { commands, run } from "../../../src/app/command/CommandLine.ts"
import { report } from "../../../src/app/Report.ts"
import { version } from "../../../src/domain/Version.ts"

const refused = (...words: ReadonlyArray<string>) =>
  Effect.map(Effect.flip(Effect.provide(run(words), FileSystem.layerNoop({}))), (error) =>
    error instanceof UsageError ? error.message : String(error)
  )

/** What the program prints to standard output and to standard error. */
const output = (program: Effect.Effect<void, unknown, FileSystem.FileSystem>) =>
  Effect.gen(function* () {
    const printed: Array<unknown> = []
    const errors: Array<unknown> = []
    yield* Effect.ignore(program).pipe(
      Effect.provide(FileSystem.layerNoop({})),
      Effect.withConsole({
        ...(yield* Console.consoleWith(Effect.succeed)),
        log: (line: unknown) => Effect.sync(() => void printed.push(line)),
        error: (line: unknown) => Effect.sync(() => void errors.push(line))
      })
    )
    return { printed: printed.join("\n"), errors: errors.join("\n") }
  })

describe("the program", () => {
  it.effect.each<readonly [string, ReadonlyArray<string>, string]>([
    ["a typing error", ["chekc"], "unknown command 'chekc'; did you mean 'check'?"],
    ["one in a second word", ["keys", "creat"], "unknown command 'keys creat'; did you mean 'keys create'?"],
    ["one in a first word", ["kyes", "list"], "unknown command 'kyes'; did you mean 'keys list'?"],
    ["half of a command", ["credit"], "credit needs a command"],
    ["half of a command with an option", ["credit", "--json"], "credit needs a command"],
    ["something else", ["frobnicate"], "unknown command 'frobnicate'"],
    ["help on something else", ["help", "frobnicate"], "unknown command 'frobnicate'"],
    ["an unknown option of the start", ["--prot", "8080"], "unknown option --prot"],
    ["an unknown short option", ["-x"], "unknown option -x"],
    ["an unknown short option with a value", ["keys", "list", "-p=default"], "unknown option -p"],
    ["a command without its word", ["keys", "revoke"], "KEY_ID is missing"]
  ])("refuses %s", ([, words, message]) =>
    Effect.gen(function* () {
      expect(yield* refused(...words)).toBe(message)
    })
  )

  it.effect.each<readonly [ReadonlyArray<string>, string]>([
    [[], "Usage: model-routing-gateway [command] [options]"],
    [["keys"], "Usage: model-routing-gateway keys COMMAND [options]"],
    ...commands.map(({ name, positionals }): readonly [ReadonlyArray<string>, string] => [
      name.split(" "),
      `Usage: model-routing-gateway ${[name, ...positionals].join(" ")}`
    ])
  ])("prints how it is used and does nothing else: %j with --help", ([words, usage]) =>
    Effect.gen(function* () {
      for (const asked of [
        [...words, "--help"],
        [...words, "-h"],
        ["help", ...words]
      ]) {
        const { errors, printed } = yield* output(run(asked))
        expect(printed).toContain(usage)
        expect(errors).toBe("")
      }
    })
  )

  it.effect.each<readonly [ReadonlyArray<string>, string, string]>([
    [["frobnicate"], "unknown command 'frobnicate'", "Usage: model-routing-gateway [command] [options]"],
    [["--prot"], "unknown option --prot", "Usage: model-routing-gateway [command] [options]"],
    [
      ["keys", "frobnicate"],
      "unknown command 'keys frobnicate'",
      "Usage: model-routing-gateway keys COMMAND [options]"
    ],
    [["keys", "list", "--frob"], "unknown option --frob", "Usage: model-routing-gateway keys list [options]"],
    [["keys", "revoke"], "KEY_ID is missing", "Usage: model-routing-gateway keys revoke KEY_ID [options]"]
  ])("says what was wrong with %j and how it is used, as an error", ([words, wrong, usage]) =>
    Effect.gen(function* () {
      const { errors, printed } = yield* output(Effect.tapErrorCause(run(words), report))
      expect(errors.split("\n")).toEqual(expect.arrayContaining([wrong, expect.stringContaining(usage)]))
      expect(printed).toBe("")
    })
  )

  it.effect.each([["--version"], ["-v"], ["-V"]])("prints its version and does nothing else: %s", ([word]) =>
    Effect.gen(function* () {
      expect(yield* output(run([word ?? ""]))).toEqual({ printed: version, errors: "" })
    })
  )

  it("has the version of its package", () => {
    const file = new URL("../../../package.json", import.meta.url)
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      version,
      bin: { "model-routing-gateway": "./dist/main.js" }
    })
  })

  it("has no two commands of one name, and each of its own commands parses", () => {
    expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length)
    for (const command of commands) {
      const words = command.positionals.map(() => "x")
      expect(parse(words, command)._tag).toBe("Right")
    }
  })
})
