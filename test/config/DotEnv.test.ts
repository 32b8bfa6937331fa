import * as PlatformError from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { withDotEnv } from "../../src/config/DotEnv.ts"

const failure = (reason: PlatformError.SystemErrorReason) =>
  new PlatformError.SystemError({ reason, module: "FileSystem", method: "readFileString" })

/** With a file `.env` of this text; `undefined`: there is none. */
const read = (text: string | undefined, given: Readonly<Record<string, string | undefined>> = {}) =>
  Effect.provide(
    withDotEnv(given),
    FileSystem.layerNoop({
      readFileString: (path) =>
        path === ".env" && text !== undefined ? Effect.succeed(text) : Effect.fail(failure("NotFound"))
    })
  )

describe("the file .env", () => {
  it.effect("may be missing", () =>
    Effect.gen(function* () {
      expect(yield* read(undefined, { PORT: "1", EMPTY: "", GONE: undefined })).toEqual({ PORT: "1", EMPTY: "" })
    })
  )

  it.effect("sets what the process has not been given, not even empty", () =>
    Effect.gen(function* () {
      const text = "# a comment\n\nPORT=9\nexport OPENAI_API_KEY = 'sk-1' # why\nA=\"two\nlines\"\nNONE=\n"
      expect(yield* read(text, { PORT: "1" })).toEqual({ PORT: "1", OPENAI_API_KEY: "sk-1", A: "two\nlines", NONE: "" })
      expect((yield* read(text, { OPENAI_API_KEY: "" }))["OPENAI_API_KEY"]).toBe("")
    })
  )

  it.effect.each([
    "export\tNAME=x",
    "export  NAME=x",
    "\texport NAME = x",
    "\u00a0NAME=x",
    "NAME\u00a0=\u00a0x\u00a0",
    "NAME=\u00a0'x'",
    "\u00a0# A=1\n\u00a0\nNAME=x"
  ])("is read with any white space around names and values: %j", (text) =>
    Effect.gen(function* () {
      expect(yield* read(text)).toEqual({ NAME: "x" })
    })
  )

  it.effect("keeps the white space within quotes", () =>
    Effect.gen(function* () {
      expect(yield* read("export\tA=' x \n y '\nB=1")).toEqual({ A: " x \n y ", B: "1" })
    })
  )

  it.effect.each<readonly [string, string]>([
    ["PORT 80", ".env: line 1 is not of the form NAME=value"],
    ["A=1\r\n\r\nsk-live-secret\r\nB=2", ".env: line 3 is not of the form NAME=value"],
    ["A='1\nB=2", ".env: line 1 opens a quote that nothing closes"],
    ["A='x\ny'\n=3", ".env: line 3 is not of the form NAME=value"]
  ])("with a line that cannot be read names the line and no value: %j", ([text, message]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(text))
      expect(error.message).toBe(message)
      expect(error.message).not.toContain("secret")
    })
  )

  it.effect("that may not be read is an error", () =>
    Effect.gen(function* () {
      for (const [reason, said] of [
        ["PermissionDenied", "cannot be read: this user has no permission to"],
        ["BadResource", "cannot be read: it is a directory, or something else that is no file"],
        ["Busy", "cannot be read"]
      ] as const) {
        const unreadable = FileSystem.layerNoop({ readFileString: () => Effect.fail(failure(reason)) })
        const error = yield* Effect.flip(Effect.provide(withDotEnv({}), unreadable))
        expect(error.message).toBe(`.env: ${said}`)
      }
    })
  )
})
