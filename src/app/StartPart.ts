// @effect-diagnostics processEnv:off
import cluster, { type Worker } from "node:cluster"
import * as Effect from "effect/Effect"

/** What a process does of a start. All workers together do and say it once, as a process without workers does. */
export type StartPart =
  /** It makes the first rows, and says where the service listens. */
  | "first"
  /** The process that has made the first rows ended before it listened. */
  | "banner"
  | "none"

const variable = "GATEWAY_WORKER_START_PART"
const madeMessage = "first rows made"

/** Of this process. */
export const startPart = (): StartPart => {
  const given = cluster.isWorker ? process.env[variable] : undefined
  return given === "banner" || given === "none" ? given : "first"
}

/** Tells the supervisor that the rows of a first start are there: its other workers may start. */
export const firstRowsMade: Effect.Effect<void> = Effect.sync(() => {
  if (cluster.isWorker) process.send?.(madeMessage)
})

/** The supervisor's part: gives each worker its own. */
export class StartParts {
  private areRowsMade = false
  private isSaid = false
  private speaker: Worker | undefined

  fork(): { readonly worker: Worker; readonly part: StartPart } {
    const part = this.isSaid || this.speaker !== undefined ? "none" : this.areRowsMade ? "banner" : "first"
    const worker = cluster.fork({ [variable]: part })
    if (part === "none") return { worker, part }
    this.speaker = worker
    worker.on("message", (message) => {
      if (message === madeMessage) this.areRowsMade = true
    })
    worker.once("listening", () => {
      this.isSaid = true
    })
    worker.once("exit", () => {
      this.speaker = undefined
    })
    return { worker, part }
  }
}

/** Resolves when the worker has made the first rows, or has ended without. */
export const rowsMadeOrEnded = (worker: Worker): Effect.Effect<void> =>
  Effect.async((resume) => {
    const done = (): void => resume(Effect.void)
    worker.on("message", (message) => {
      if (message === madeMessage) done()
    })
    worker.once("exit", done)
  })
