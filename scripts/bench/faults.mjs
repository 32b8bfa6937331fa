// Provider faults through the built gateway and through Portkey's, in one run: `node scripts/bench/faults.mjs`.
// `--bundle <main.js>` takes one that is built already, `--only <word>` the faults whose name has the word.
// Both ask the faulty route first and a healthy one next, at the fault server of the suite; the official client judges.
// Portkey falls back after every status that is no 2xx and retries nobody, as it does unless told otherwise; its request
// timeout is our deadline for the first content of a stream, or for the whole of a plain answer.
import { spawnSync } from "node:child_process"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { isStale } from "../stale.mjs"
import { print } from "./faultReport.mjs"
import { loadFaults } from "./faultRows.mjs"
import { startOurs, startPeer } from "./faultSides.mjs"
import { install } from "./peer/portkey.mjs"
import { judge } from "./verdict.mjs"

const root = join(dirname(fileURLToPath(import.meta.url)), "../..")
const { bundle, only = "" } = parseArgs({ options: { bundle: { type: "string" }, only: { type: "string" } } }).values

install()
if (bundle === undefined && isStale(root)) {
  const { status } = spawnSync(process.execPath, [join(root, "scripts/build.mjs")], { stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

const { fullText, rows, startFaultServer } = await loadFaults()
const server = await startFaultServer()
const healthy = server.upstream.baseUrl
const control = { number: 0, name: "no fault", fault: "ok", atOrigin: false, needsUsedConnection: false }
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

/** Requests that have met the fault; a fault of the connection itself is met by whoever goes there. */
const met = async ({ atOrigin, fault, needsUsedConnection }, from) => {
  if (atOrigin) return true
  const requests = server.upstream.requests.slice(from).filter(({ model }) => model === fault)
  return needsUsedConnection ? requests.length > 0 && (await requests[0].closed) === "aborted" : requests.length > 0
}

const play = async (side, cell) => {
  const ask = async () => judge({ ...(await side.asking(cell)), stream: cell.stream, wholes: cell.wholes })
  if (cell.needsUsedConnection) await ask()
  const from = server.upstream.requests.length
  const seen = await ask()
  const result = { ...seen, met: await met(cell, from) }
  await side.after({ endsItself: seen.verdict !== "hang" && !cell.fault.startsWith("giant") })
  return result
}

const sides = []
const results = []
try {
  sides.push(await startOurs({ bundle: resolve(bundle ?? join(root, "dist/main.js")), cells, healthy }))
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
