// Verdicts as a markdown table and their counts. A cell counts where both sides have met the fault.
import { verdicts } from "./verdict.mjs"

const wholeWords = 60
const modes = [true, false]
const modeName = (stream) => (stream ? "stream" : "plain")
const line = (cells) => `| ${cells.join(" | ")} |`
const kinds = Object.keys(verdicts)
const isCompared = ({ seen }) => seen.every(({ met }) => met)

const limits = [
  "Chat completions only: the peer hands Responses on to the provider's own endpoint.",
  "Not compared: charges, attempts, health.",
  "The peer's request timeout is for the head of an answer alone; what it does later than the above was not waited for."
].join(" ")

export const print = (names, results) => {
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
  const sorted = [...rows.values()].sort(([a], [b]) => a.cell.number - b.cell.number)
  for (const row of sorted) {
    const { name, number } = row[0].cell
    const shown = columns.map(({ side, stream }) => textOf(row.find(({ cell }) => cell.stream === stream)?.seen[side]))
    console.log(line([number, name, ...shown]))
  }

  console.log(`\n${kinds.map((kind) => `${kind}: ${verdicts[kind]}`).join("; ")}.`)
  console.log(limits)
  const compared = results.filter(isCompared)
  console.log(`\n${line(["", ...kinds, "whole or error"])}\n${line(["---", ...kinds.map(() => "---"), "---"])}`)
  names.forEach((name, side) => {
    for (const { stream } of columns.filter((column) => column.side === side)) {
      const own = compared.filter(({ cell }) => cell.stream === stream).map(({ seen }) => seen[side].verdict)
      console.log(line([`${name}, ${modeName(stream)}`, ...countsOf(own)]))
    }
  })
  for (const { cell, seen } of results.filter((result) => !isCompared(result))) {
    const missed = names.filter((_, side) => !seen[side].met).join(" and ")
    console.log(
      `\nNot counted: ${cell.number} ${cell.name}, ${modeName(cell.stream)}: the fault did not reach ${missed}.`
    )
  }
  const closing = names.map((name, side) => {
    const [whole, error, cut, hang] = countsOf(compared.map(({ seen }) => seen[side].verdict))
    return `${name} ${whole} whole, ${error} errors, ${cut} cut, ${hang} hung`
  })
  console.log(`\nOf ${compared.length} cells: ${closing.join("; ")}.`)
}

const countsOf = (own) => {
  const counts = kinds.map((verdict) => own.filter((one) => one === verdict).length)
  return [...counts, `${counts[0] + counts[1]} of ${own.length}`]
}

/** `cut` and `hang` with the words and the finish reason that came, `error` with its status or name. */
const textOf = (seen) => {
  if (seen === undefined) return "–"
  if (!seen.met) return "not met"
  const { code, finish, verdict, why, words } = seen
  if (verdict === "whole") return verdict
  if (verdict === "error") return `error ${code}${words > 0 ? ` after ${words}` : ""}`
  return `${verdict}${why === undefined ? "" : ` (${why})`}, ${words} of ${wholeWords}, ${finish === null ? "no finish" : `finish ${finish}`}`
}
