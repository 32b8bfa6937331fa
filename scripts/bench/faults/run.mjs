// @ts-check
// Provider faults through the built gateway and through Portkey's, in one run: `node scripts/bench/faults/run.mjs`.
// `--bundle <main.js>` takes one that is built already, `--only <word>` the faults whose name has the word.
// Both ask the faulty route first and a healthy one next, at the fault server of the suite; the official client judges.
// Portkey falls back after every status that is no 2xx and retries nobody, as it does unless told otherwise; its request
// timeout is our deadline for the first content of a stream, or for all of a non-streaming response.
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { builtBundle, ensureBuilt, serviceParts } from "../../lib/built.mjs"
import { install } from "./peer/portkey.mjs"
import { print } from "./report.mjs"
import { loadFaults } from "./rows.mjs"
import { startOurs, startPeer } from "./sides.mjs"
import { judge } from "./verdict.mjs"

/** @import { Result } from "./report.mjs" */
/** @import { Cell, Side } from "./sides.mjs" */

const { bundle, only = "" } = parseArgs({ options: { bundle: { type: "string" }, only: { type: "string" } } }).values

install()
if (bundle === undefined) await ensureBuilt(serviceParts)

const { fullText, rows, startFaultServer } = await loadFaults()
const server = await startFaultServer()
const healthy = server.upstream.baseUrl
/** @type {Omit<Cell, "stream" | "wholes" | "at" | "baseUrl">} */
const control = { number: 0, name: "no fault", fault: "ok", atOrigin: false, needsUsedConnection: false }
/** @type {ReadonlyArray<Cell>} */
const cells = [{ ...control, modes: [true, false].map((stream) => ({ stream, wholes: [fullText] })) }, ...rows]
  .filter(({ fault }) => fault === control.fault || fault.includes(only))
  .flatMap(({ modes, ...row }, at) =>
    modes.map((mode) => ({
      ...row,
      ...mode,
      at,
      baseUrl: (row.atOrigin ? server.origins[row.fault] : undefined) ?? healthy
    }))
  )

/** Whether requests have met the fault; a fault of the connection itself is met by whoever goes there. @param {Cell} cell @param {number} from */
const met = async ({ atOrigin, fault, needsUsedConnection }, from) => {
  if (atOrigin) return true
  const requests = server.upstream.requests.slice(from).filter(({ model }) => model === fault)
  const [first] = requests
  return first !== undefined && (!needsUsedConnection || (await first.closed) === "aborted")
}

/** @param {Side} side @param {Cell} cell */
const play = async (side, cell) => {
  const ask = async () => judge({ ...(await side.asking(cell)), stream: cell.stream, wholes: cell.wholes })
  if (cell.needsUsedConnection) await ask()
  const from = server.upstream.requests.length
  const seen = await ask()
  const result = { ...seen, met: await met(cell, from) }
  await side.after({ endsItself: seen.verdict !== "hang" && !cell.fault.startsWith("giant") })
  return result
}

/** @type {Array<Side>} */
const sides = []
/** @type {Array<Result>} */
const results = []
try {
  sides.push(await startOurs({ bundle: resolve(bundle ?? builtBundle), cells, healthy }))
  sides.push(await startPeer({ cells, healthy }))
  for (const cell of cells) {
    const seen = []
    for (const side of sides) seen.push(await play(side, cell))
    if (cell.fault === control.fault && seen.some(({ verdict }) => verdict !== "whole")) {
      throw new Error(`without any fault: ${JSON.stringify(seen)}`)
    }
    if (cell.fault !== control.fault) results.push({ cell, seen })
  }
} finally {
  await Promise.all(sides.map((side) => side.stop()))
  await server.stop()
}
print(
  sides.map(({ name }) => name),
  results
)
