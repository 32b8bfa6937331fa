// @ts-check
import { fork } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/**
 * `unloadable`: a test file could not be loaded, so nothing can be said.
 * @typedef {{ readonly status: "passed" | "failed" | "timed out" | "unloadable", readonly detail: string }} TestRun
 */

const workerFile = join(dirname(fileURLToPath(import.meta.url)), "worker.mjs")

/** The databases of the tests are copies of one that a process of Vitest migrates when it starts. @param {string} file */
const isMigration = (file) => file.includes("/src/sql/migrations/")

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set()

/** Each worker is a process group of its own, so that the processes of its tests end with it. */
const kill = (/** @type {import("node:child_process").ChildProcess} */ child) => {
  if (running.delete(child) && child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
}

export const killAll = () => running.forEach(kill)

/**
 * Runs test files in a folder, up to the first failure.
 * @param {string} folder
 */
export const makeTestRunner = (folder) => {
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let worker
  const start = () => {
    const child = fork(workerFile, { cwd: folder, detached: true, stdio: ["ignore", "ignore", "ignore", "ipc"] })
    running.add(child)
    return child
  }
  const stop = () => {
    if (worker !== undefined) kill(worker)
    worker = undefined
  }
  return {
    /**
     * @param {ReadonlyArray<string>} files
     * @param {ReadonlyArray<string>} changed Files that have changed since the last run.
     * @param {number} limitMillis
     * @returns {Promise<TestRun>}
     */
    run: (files, changed, limitMillis) =>
      new Promise((resolve) => {
        if (changed.some(isMigration)) stop()
        worker ??= start()
        const child = worker
        /** @param {TestRun} result */
        const end = (result) => {
          clearTimeout(limit)
          child.removeAllListeners()
          resolve(result)
        }
        /** @param {TestRun} result */
        const abandon = (result) => {
          stop()
          end(result)
        }
        const limit = setTimeout(
          () => abandon({ status: "timed out", detail: `after ${limitMillis / 1_000} s` }),
          limitMillis
        )
        child.once("message", (message) => end(/** @type {TestRun} */ (message)))
        child.once("exit", () => abandon({ status: "unloadable", detail: "the process that runs the tests has ended" }))
        child.send({ files, changed })
      }),
    stop
  }
}
