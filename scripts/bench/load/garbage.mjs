// @ts-check
// What calls leave to the garbage collector: `npm run bench:garbage`, or
//   node scripts/bench/load/garbage.mjs [--models pinned,auto] [--secs 4] [--against OTHER/dist/main.js] [--flags=--no-opt]
// 64 connections on PostgreSQL (TEST_DATABASE_URL). What is promoted to the old generation waits for a major collection: where it
// is much, something keeps ended calls alive. --flags are those of node beside the ones of `npm start`.
import { parseArgs } from "node:util"
import { cpuMillis, killAll, limitations, pinSelf, stopServer } from "../../lib/processes.mjs"
import { run } from "../lib/loops.mjs"
import { bodyOf, scenarios } from "../lib/scenarios.mjs"
import { choosing, cleanUp, startGateway, startUpstream } from "../lib/servers.mjs"

/** @import { Running } from "../../lib/processes.mjs" */

const { values: options } = parseArgs({
  options: {
    models: { type: "string", default: "pinned,auto" },
    secs: { type: "string", default: "4" },
    against: { type: "string" },
    flags: { type: "string", default: "" }
  }
})
const seconds = Number(options.secs)
const warmSeconds = 0.3
const warmUpSeconds = 3
const scenario = scenarios.c64
const flags = ["--trace-gc", "--trace-gc-nvp", ...options.flags.split(" ").filter((flag) => flag !== "")]
const names = ["allocated", "new_space_survived", "promoted", "pause"]

/** Sums over the scavenges that node has printed. @param {string} output @returns {ReadonlyArray<number>} in the order of `names` */
const sumsOf = (output) => {
  const scavenges = output.split("\n").filter((line) => line.includes(" gc=s "))
  return names.map((name) =>
    scavenges.reduce((sum, line) => sum + Number(new RegExp(` ${name}=([\\d.]+)`).exec(line)?.[1] ?? 0), 0)
  )
}

/** @param {string} name @param {string | undefined} bundle @param {Running} upstream */
const measure = async (name, bundle, upstream) => {
  const gateway = await startGateway({
    ...(bundle === undefined ? {} : { bundle }),
    name,
    database: "postgres",
    upstream,
    nodeOptions: flags
  })
  if (gateway === undefined) throw new Error("there is no PostgreSQL (TEST_DATABASE_URL)")
  let output = ""
  gateway.child.stdout?.on("data", (bytes) => {
    output += String(bytes)
  })
  for (const asked of options.models.split(",")) {
    const { model, path, headers, port } = asked === "auto" ? choosing(gateway) : gateway
    const body = bodyOf(scenario, model)
    const ask = (/** @type {number} */ time) =>
      run({
        path,
        headers,
        port,
        scenario,
        body,
        seconds: time,
        warmSeconds,
        readCpuMillis: () => cpuMillis(gateway.pid)
      })
    await ask(warmUpSeconds)
    output = ""
    const { cpuMicrosPerRequest, perSecond, requests } = await ask(seconds)
    // the lines are also of the time before the first request that counts
    const all = (requests * (seconds + warmSeconds)) / seconds
    const [allocated = 0, survived = 0, promoted = 0, pause = 0] = sumsOf(output).map((sum) => sum / all)
    const kilobytes = (/** @type {number} */ bytes) => `${(bytes / 1_000).toFixed(1)} KB`
    console.log(
      `${name}, ${asked}: ${perSecond.toFixed(0)} calls/s, ${cpuMicrosPerRequest.toFixed(0)} µs CPU a call; of a call ` +
        `${kilobytes(allocated)} allocated, ${kilobytes(survived)} survive, ${kilobytes(promoted)} promoted, ` +
        `${(pause * 1_000).toFixed(1)} µs of scavenges`
    )
  }
  await gateway.stop()
}

for (const limitation of limitations) console.log(`Note: ${limitation}.`)
try {
  const upstream = await startUpstream()
  pinSelf()
  await measure("this build", undefined, upstream)
  if (options.against !== undefined) await measure("the other", options.against, upstream)
  await stopServer(upstream)
} finally {
  killAll()
  await cleanUp()
}
