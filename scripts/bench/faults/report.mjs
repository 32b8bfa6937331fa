// @ts-check
// Verdicts as a markdown table and their counts. A cell counts where both sides have met the fault.
import { verdicts } from "./verdict.mjs"

/** @import { Cell } from "./sides.mjs" */
/** @import { Seen, Verdict } from "./verdict.mjs" */
/** @typedef {Seen & { met: boolean }} CellSeen */
/** What each side has shown in a cell. @typedef {{ cell: Cell, seen: ReadonlyArray<CellSeen> }} Result */

const wholeWords = 60
const modes = [true, false]
/** @param {boolean} stream */
const modeName = (stream) => (stream ? "stream" : "plain")
/** @param {ReadonlyArray<string | number>} cells */
const line = (cells) => `| ${cells.join(" | ")} |`
/** @type {ReadonlyArray<Verdict>} */
const kinds = ["whole", "error", "cut", "hang"]
/** @param {Result} result */
const isCompared = ({ seen }) => seen.every(({ met }) => met)

const limits = [
  "Chat completions only: the peer hands Responses on to the provider's own endpoint.",
  "Not compared: charges, attempts, health.",
  "The peer's request timeout is for the head of an answer alone; what it does later than the above was not waited for."
].join(" ")

/** @param {ReadonlyArray<string>} names @param {ReadonlyArray<Result>} results */
export const print = (names, results) => {
  /** @type {Map<string, Array<Result>>} */
  const rows = new Map()
  for (const result of results) {
    const { name, number } = result.cell
    const key = `${number} ${name}`
    rows.set(key, [...(rows.get(key) ?? []), result])
  }
  const columns = names.flatMap((_, side) => modes.map((stream) => ({ side, stream })))
  console.log(
    line(["#", "provider fault", ...columns.map(({ side, stream }) => `${names[side]}, ${modeName(stream)}`)])
  )
  console.log(line(["---", "---", ...columns.map(() => "---")]))
  const sorted = [...rows].sort(([a], [b]) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
  for (const [key, row] of sorted) {
    const [number = "", ...words] = key.split(" ")
    const shown = columns.map(({ side, stream }) => textOf(row.find(({ cell }) => cell.stream === stream)?.seen[side]))
    console.log(line([number, words.join(" "), ...shown]))
  }

  console.log(`\n${kinds.map((kind) => `${kind}: ${verdicts[kind]}`).join("; ")}.`)
  console.log(limits)
  const compared = results.filter(isCompared)
  console.log(`\n${line(["", ...kinds, "whole or error"])}\n${line(["---", ...kinds.map(() => "---"), "---"])}`)
  names.forEach((name, side) => {
    for (const { stream } of columns.filter((column) => column.side === side)) {
      const own = compared.filter(({ cell }) => cell.stream === stream).flatMap(({ seen }) => seen[side]?.verdict ?? [])
      console.log(line([`${name}, ${modeName(stream)}`, ...countsOf(own)]))
    }
  })
  for (const { cell, seen } of results.filter((result) => !isCompared(result))) {
    const missed = names.filter((_, side) => seen[side]?.met !== true).join(" and ")
    console.log(
      `\nNot counted: ${cell.number} ${cell.name}, ${modeName(cell.stream)}: the fault did not reach ${missed}.`
    )
  }
  const closing = names.map((name, side) => {
    const [whole, error, cut, hang] = countsOf(compared.flatMap(({ seen }) => seen[side]?.verdict ?? []))
    return `${name} ${whole} whole, ${error} errors, ${cut} cut, ${hang} hung`
  })
  console.log(`\nOf ${compared.length} cells: ${closing.join("; ")}.`)
}

/** @param {ReadonlyArray<Verdict>} own */
const countsOf = (own) => {
  const counts = kinds.map((verdict) => own.filter((one) => one === verdict).length)
  const [whole = 0, errors = 0] = counts
  return [...counts, `${whole + errors} of ${own.length}`]
}

/** `cut` and `hang` with the words and the finish reason that came, `error` with its status or name. @param {CellSeen | undefined} seen */
const textOf = (seen) => {
  if (seen === undefined) return "–"
  if (!seen.met) return "not met"
  const { code, finish, verdict, why, words } = seen
  if (verdict === "whole") return verdict
  if (verdict === "error") return `error ${code}${words > 0 ? ` after ${words}` : ""}`
  return `${verdict}${why === undefined ? "" : ` (${why})`}, ${words} of ${wholeWords}, ${finish === null ? "no finish" : `finish ${finish}`}`
}
