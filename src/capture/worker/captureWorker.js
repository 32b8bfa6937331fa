import { parentPort } from "node:worker_threads"
import { encode } from "./sample.js"

/**
 * The thread that parses, splits, compresses and seals samples, which would hold the calls of the main thread for milliseconds.
 * It has no database: what it returns is written by the main thread.
 *
 * @typedef {import("./sample.js").Job & { readonly chain: string }} WorkerJob
 * @typedef {Omit<import("./sample.js").Encoded, "keys"> & { readonly id: string }} Sealed
 * @typedef {{ type: "encode", number: number, job: WorkerJob } | { type: "forget", chains: ReadonlyArray<string> }} ToCaptureWorker
 * @typedef {{ number: number, sealed: Sealed | { readonly id: string, readonly error: string } }} FromCaptureWorker
 */

if (parentPort === null) throw new Error("samples are sealed in a worker thread")
const port = parentPort

/** Conversations whose last sample is remembered, as ids of its blocks; of one that is forgotten the next sample stands for itself. */
const maxChains = 2_000

/** @type {Map<string, import("./sample.js").Base>} */
const chains = new Map()

/** @param {WorkerJob} job */
const sealed = (job) => {
  const before = chains.get(job.chain)
  chains.delete(job.chain)
  // of a conversation the samples with the first ids are kept: what one of them refers to has to be among them
  const base = before !== undefined && before.id < job.id ? before : null
  const { keys, ...encoded } = encode(job, base)
  if (keys.length > 0) {
    chains.set(job.chain, { id: job.id, keys })
    const [oldest] = chains.size > maxChains ? chains.keys() : []
    if (oldest !== undefined) chains.delete(oldest)
  }
  return { id: job.id, ...encoded }
}

/** @param {WorkerJob} job */
const sealedOrError = (job) => {
  try {
    return sealed(job)
  } catch (error) {
    // the text of an error may quote what it could not parse
    return { id: job.id, error: error instanceof Error ? error.name : "unknown" }
  }
}

port.on("message", (/** @type {ToCaptureWorker} */ message) => {
  if (message.type === "forget") {
    for (const chain of message.chains) chains.delete(chain)
    return
  }
  port.postMessage({ number: message.number, sealed: sealedOrError(message.job) })
})
