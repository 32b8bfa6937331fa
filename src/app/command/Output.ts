import * as Console from "effect/Console"
import type * as Effect from "effect/Effect"
import type { Arguments } from "./Arguments.ts"

export const jsonOption = { json: { about: "print JSON, for scripts", value: null } } as const

/** For people, or with --json the value itself on one line. */
export const print = ({ switches }: Arguments, value: unknown, text: string): Effect.Effect<void> =>
  Console.log(switches.has("json") ? JSON.stringify(value) : text)

/** Columns as wide as their widest cell, with their titles above. */
export const table = (titles: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = titles.map((title, at) => Math.max(title.length, ...rows.map((row) => (row[at] ?? "").length)))
  return [titles, ...rows]
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}
