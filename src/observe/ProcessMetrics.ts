import { readdirSync, readFileSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { collecting } from "./Collection.ts"
import { counter, gauge } from "./Family.ts"

/** The process itself, by the names that dashboards for Node.js know. */

const cpuUser = counter("process_cpu_user_seconds_total", "CPU time in user mode.", [])
const cpuSystem = counter("process_cpu_system_seconds_total", "CPU time in the kernel.", [])
const cpu = counter("process_cpu_seconds_total", "CPU time.", [])
const started = gauge("process_start_time_seconds", "Start of the process, in seconds since the epoch.", [], "worker")
const resident = gauge("process_resident_memory_bytes", "Resident memory.", [], "worker")
const openFds = gauge("process_open_fds", "Open file descriptors; on Linux.", [], "worker")
const maxFds = gauge("process_max_fds", "Limit of open file descriptors; on Linux.", [], "worker")
const heapUsed = gauge("nodejs_heap_size_used_bytes", "JavaScript heap in use.", [], "worker")
const heapTotal = gauge("nodejs_heap_size_total_bytes", "JavaScript heap that is allocated.", [], "worker")
const external = gauge("nodejs_external_memory_bytes", "Memory of buffers outside of the heap.", [], "worker")
const lag = gauge(
  "nodejs_eventloop_lag_seconds",
  "How late the event loop runs its timers since the last scrape, by statistic: mean, p50, p99, max.",
  ["statistic"],
  "worker"
)

const resolutionMillis = 20
const nanosPerSecond = 1e9
const microsPerSecond = 1e6

export const layer: Layer.Layer<never> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const delay = monitorEventLoopDelay({ resolution: resolutionMillis })
    yield* Effect.acquireRelease(
      Effect.sync(() => delay.enable()),
      () => Effect.sync(() => delay.disable())
    )
    let last = { user: 0, system: 0 }
    const limit = maxFileDescriptors()
    started([], performance.timeOrigin / 1_000)
    yield* collecting(() => {
      const used = process.cpuUsage()
      const [user, system] = [(used.user - last.user) / microsPerSecond, (used.system - last.system) / microsPerSecond]
      last = used
      cpuUser([], user)
      cpuSystem([], system)
      cpu([], user + system)
      const memory = process.memoryUsage()
      resident([], memory.rss)
      heapUsed([], memory.heapUsed)
      heapTotal([], memory.heapTotal)
      external([], memory.external)
      const fds = openFileDescriptors()
      if (fds !== undefined) openFds([], fds)
      if (limit !== undefined) maxFds([], limit)
      for (const [statistic, nanos] of [
        ["mean", delay.mean],
        ["p50", delay.percentile(50)],
        ["p99", delay.percentile(99)],
        ["max", delay.max]
      ] as const) {
        // the timer itself is that late; without a sample the values are not numbers
        const late = nanos / nanosPerSecond - resolutionMillis / 1_000
        lag([statistic], Number.isFinite(late) && delay.count > 0 ? Math.max(0, late) : 0)
      }
      delay.reset()
    })
  })
)

/** One of them is that of reading the folder itself. */
const openFileDescriptors = (): number | undefined => {
  try {
    return readdirSync("/proc/self/fd").length - 1
  } catch {
    return undefined
  }
}

const maxFileDescriptors = (): number | undefined => {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
