import { readFileSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { parse, UsageError } from "../../../src/app/command/Arguments.ts"
import { commands, run } from "../../../src/app/command/CommandLine.ts"
import { version } from "../../../src/domain/Version.ts"

const refused = (...words: ReadonlyArray<string>) =>
  Effect.map(Effect.flip(Effect.provide(run(words), FileSystem.layerNoop({}))), (error) =>
    error instanceof UsageError ? error.message : String(error)
  )

describe("the program", () => {
  it.effect.each<readonly [string, ReadonlyArray<string>, string]>([
    ["a typing error", ["chekc"], "unknown command 'chekc'; did you mean 'check'?"],
    ["one in a second word", ["keys", "creat"], "unknown command 'keys creat'; did you mean 'keys create'?"],
    ["one in a first word", ["kyes", "list"], "unknown command 'kyes'; did you mean 'keys list'?"],
    ["half of a command", ["credit"], "credit what? There are credit add"],
    ["something else", ["frobnicate"], "unknown command 'frobnicate'"],
    ["help on something else", ["help", "frobnicate"], "unknown command 'frobnicate'"],
    ["an unknown option of the start", ["--prot", "8080"], "unknown option --prot"],
    ["a command without its word", ["keys", "revoke"], "KEY_ID is missing"]
  ])("refuses %s", ([, words, message]) =>
    Effect.gen(function* () {
      expect(yield* refused(...words)).toBe(message)
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
