import { parseEnv } from "node:util"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { type ConfigIssue, InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { whyUnread } from "./UnreadFile.ts"

/** All variables of a process. */
export type Variables = Readonly<Record<string, string>>

/** In the working directory. */
const fileName = ".env"

/**
 * The variables of the process together with those of the file `.env`, which is optional. What the process has been given is never
 * replaced, not even where it is empty. Read again each time, so that a reload sees what has changed in the file.
 */
export const withDotEnv = (
  given: Readonly<Record<string, string | undefined>>
): Effect.Effect<Variables, InvalidConfiguration, FileSystem.FileSystem> =>
  Effect.map(fromFile, (file) => {
    const all: Record<string, string> = { ...file }
    for (const [name, value] of Object.entries(given)) if (value !== undefined) all[name] = value
    return all
  })

const fromFile: Effect.Effect<Variables, InvalidConfiguration, FileSystem.FileSystem> = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const text = yield* files
    .readFileString(fileName)
    .pipe(
      Effect.catchAll((error) =>
        error._tag === "SystemError" && error.reason === "NotFound"
          ? Effect.succeed("")
          : new InvalidConfiguration({ issues: [{ path: fileName, message: whyUnread(error) }] })
      )
    )
  const { issues, plain } = checked(text)
  if (issues.length > 0) return yield* new InvalidConfiguration({ issues })
  const variables: Record<string, string> = {}
  for (const [name, value] of Object.entries(parseEnv(plain))) if (value !== undefined) variables[name] = value
  return variables
})

const assignment = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.-]*)\s*=(.*)$/
const quotes: ReadonlySet<string> = new Set(['"', "'", "`"])

/**
 * Node's own parser takes every text, and leaves out what it does not understand, such as a tab after `export`: `plain` has each
 * line as `NAME=value`, without the white space around both.
 */
const checked = (text: string): { readonly issues: ReadonlyArray<ConfigIssue>; readonly plain: string } => {
  const issues: Array<ConfigIssue> = []
  const plain: Array<string> = []
  const lines = text.split(/\r?\n/)
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    if (/^\s*(?:#|$)/.test(line)) continue
    const [, name, rest] = assignment.exec(line) ?? []
    if (name === undefined || rest === undefined) {
      issues.push({ path: fileName, message: `line ${at + 1} is not of the form NAME=value` })
      continue
    }
    const value = rest.trim()
    if (!quotes.has(value.charAt(0))) {
      plain.push(`${name}=${value}`)
      continue
    }
    const end = lineOfQuote(lines, at, value)
    if (end === undefined) {
      issues.push({ path: fileName, message: `line ${at + 1} opens a quote that nothing closes` })
      break
    }
    plain.push(`${name}=${rest.trimStart()}`, ...lines.slice(at + 1, end + 1))
    at = end
  }
  return { issues, plain: plain.join("\n") }
}

/** The line with the closing quote of a value that opens with one; a quoted value may have several lines. */
const lineOfQuote = (lines: ReadonlyArray<string>, start: number, value: string): number | undefined => {
  const quote = value.charAt(0)
  if (value.includes(quote, 1)) return start
  const found = lines.findIndex((line, at) => at > start && line.includes(quote))
  return found < 0 ? undefined : found
}
