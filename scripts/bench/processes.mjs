// Processes under measurement: where they run and what they use.
import { spawn, spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"

const canPin = availableParallelism() > 1 && spawnSync("taskset", ["-V"]).status === 0
const canReadUse = process.platform === "linux"

/** What the printed figures do not contain on this machine. */
export const limitations = [
  ...(canPin ? [] : ["processes are not pinned to cores (no taskset, or one core): latencies and CPU vary more"]),
  ...(canReadUse ? [] : ["CPU and RSS are read from /proc, which only Linux has: those columns stay empty"])
]

export const coreOfLoad = 0
export const coreOfServers = 1

export const pinSelf = () => {
  if (canPin) spawnSync("taskset", ["-apc", String(coreOfLoad), String(process.pid)])
}

const startMillis = 60_000
const stopMillis = 15_000
const running = new Set()

/** Resolves when the process has printed the base URL where it listens. */
export const startServer = ({ args, core, env }) => {
  const [command, ...rest] = canPin
    ? ["taskset", "-c", String(core), process.execPath, ...args]
    : [process.execPath, ...args]
  const startedAt = performance.now()
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  running.add(child)
  child.once("exit", () => running.delete(child))
  return new Promise((resolve, reject) => {
    let output = ""
    const fail = () => reject(new Error(`${args.join(" ")} did not start:\n${output}`))
    const timer = setTimeout(fail, startMillis)
    const read = (bytes) => {
      if (output === undefined) return
      output += bytes
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]
      if (port === undefined) return
      output = undefined
      clearTimeout(timer)
      resolve({ child, pid: child.pid, port: Number(port), startMillis: performance.now() - startedAt })
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    child.once("exit", fail)
  })
}

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

/** Time on a CPU of all threads, in milliseconds. */
export const cpuMillis = (pid) => {
  if (!canReadUse) return Number.NaN
  let nanos = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) nanos += nanosOf(`/proc/${pid}/task/${thread}/schedstat`)
  return nanos / 1e6
}

const nanosOf = (file) => {
  try {
    return Number(readFileSync(file, "utf8").split(" ")[0])
  } catch {
    return 0 // the thread has just ended
  }
}

export const residentMegabytes = (pid) =>
  canReadUse ? Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024 : Number.NaN
