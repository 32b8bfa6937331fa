// @ts-check
// Processes under measurement: where they run and what they use.
import { spawn, spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"

const canPin = availableParallelism() > 1 && spawnSync("taskset", ["-V"]).status === 0
const canReadUse = process.platform === "linux"

/** @type {ReadonlyArray<string>} What the printed figures do not contain on this machine. */
export const limitations = [
  ...(canPin ? [] : ["processes are not pinned to cores (no taskset, or one core): latencies and CPU vary more"]),
  ...(canReadUse ? [] : ["CPU and RSS are read from /proc, which only Linux has: those columns stay empty"])
]

export const coreOfLoad = 0
export const coreOfServers = 1
/** Beside the load on a small machine: it is then a part of what bounds the load. */
export const coreOfUpstream = availableParallelism() >= 4 ? 2 : coreOfLoad

export const pinSelf = () => {
  if (canPin) spawnSync("taskset", ["-apc", String(coreOfLoad), String(process.pid)])
}

const startMillis = 60_000
const stopMillis = 15_000
/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set()

/**
 * A process that serves; `startMillis` is what it took until it listened.
 *
 * @typedef {{ child: import("node:child_process").ChildProcess, pid: number, port: number, startMillis: number }} Running
 */

/**
 * Resolves when the process has printed the base URL where it listens.
 *
 * @param {{ args: ReadonlyArray<string>, core: number, env: Readonly<Record<string, string>> }} options
 * @returns {Promise<Running>}
 */
export const startServer = ({ args, core, env }) => {
  const command = canPin ? "taskset" : process.execPath
  const rest = canPin ? ["-c", String(core), process.execPath, ...args] : args
  const startedAt = performance.now()
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  running.add(child)
  child.once("exit", () => running.delete(child))
  return new Promise((resolve, reject) => {
    /** @type {string | undefined} until it listens */
    let output = ""
    const fail = () => reject(new Error(`${args.join(" ")} did not start:\n${output}`))
    const timer = setTimeout(fail, startMillis)
    const read = (/** @type {Buffer} */ bytes) => {
      if (output === undefined) return
      output += bytes.toString()
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      if (port === undefined || child.pid === undefined) return
      output = undefined
      clearTimeout(timer)
      resolve({ child, pid: child.pid, port: Number(port), startMillis: performance.now() - startedAt })
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    child.once("exit", fail)
  })
}

/** @param {Running} running @returns {Promise<void>} */
export const stopServer = ({ child }) =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    const timer = setTimeout(() => child.kill("SIGKILL"), stopMillis)
    child.once("exit", () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill("SIGTERM")
  })

export const killAll = () => {
  for (const child of running) child.kill("SIGKILL")
}

/** Time on a CPU of all threads, in milliseconds. @param {number} pid */
export const cpuMillis = (pid) => {
  if (!canReadUse) return Number.NaN
  let nanos = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) nanos += nanosOf(`/proc/${pid}/task/${thread}/schedstat`)
  return nanos / 1e6
}

/** @param {string} file */
const nanosOf = (file) => {
  try {
    return Number(readFileSync(file, "utf8").split(" ")[0])
  } catch {
    return 0 // the thread has just ended
  }
}

/** @param {number} pid */
export const residentMegabytes = (pid) =>
  canReadUse ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024 : Number.NaN
