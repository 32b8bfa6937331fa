import { parentPort, workerData } from "node:worker_threads"
import { PGlite } from "@electric-sql/pglite"
import { Engine } from "./engine.js"
import { prepare, readTemplate } from "./files.js"

/**
 * The embedded database's thread. In the main thread it would block all streams, since its promises resolve in microtasks.
 *
 * @typedef {{ type: "open", id: number }
 *   | { type: "data", id: number, bytes: Uint8Array }
 *   | { type: "close", id: number }
 *   | { type: "end" }} ToWorker
 * @typedef {{ type: "ready" } | { type: "ended" } | { type: "data", id: number, bytes: Uint8Array<ArrayBuffer> }} FromWorker
 */

if (parentPort === null) throw new Error("the embedded database runs in a worker thread")
const port = parentPort
// Without a referenced handle the event loop empties while the database opens, and Node then waits for all background compilation.
port.ref()

/** @type {{ directory: string | null }} */
const { directory } = workerData

/** PostgreSQL clears its buffers at every start; its default of 128 MB takes a tenth of a second and is never filled here. */
const startParams = [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB"]

/** The files in the directory, or a database in memory. */
const openFiles = async () => {
  if (directory !== null) return { dataDir: await prepare(directory) }
  const template = await readTemplate()
  return template === null ? {} : { loadDataDir: new Blob([template], { type: "application/x-tar" }) }
}

/** Why the server ends: PGlite's own error says only that it has. @type {string | undefined} */
let endedBy
/** @param {string} line of the server's log */
const onStderr = (line) => {
  endedBy = /(?:FATAL|PANIC): +(.+)/.exec(line)?.[1] ?? endedBy
  return false
}

const database = await PGlite.create({ startParams, onStderr, ...(await openFiles()) }).catch((error) => {
  throw endedBy === undefined ? error : new Error(endedBy)
})
/** @type {{ rows: Array<{ server_version: string }> }} */
const { rows } = await database.query("show server_version")
const engine = new Engine(database, rows[0]?.server_version ?? "")

/** @param {FromWorker} message @param {Array<ArrayBuffer>} [transfer] */
const post = (message, transfer) => port.postMessage(message, transfer)

port.on("message", async (/** @type {ToWorker} */ message) => {
  switch (message.type) {
    case "open": {
      const { id } = message
      engine.open(id, (bytes) => post({ type: "data", id, bytes }, [bytes.buffer]))
      break
    }
    case "data":
      await engine.data(message.id, message.bytes)
      break
    case "close":
      await engine.close(message.id)
      break
    case "end":
      await database.close()
      post({ type: "ended" })
      port.close()
  }
})
post({ type: "ready" })
