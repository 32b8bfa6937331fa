// @effect-diagnostics globalTimers:off
import cluster, { type Worker } from "node:cluster"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Exposition, merge, snapshot, type WorkerExposition } from "../observe/Exposition.ts"
import { Scrape } from "../observe/Scrape.ts"

/**
 * A scrape reaches one worker, whichever takes the connection. That worker asks the supervisor, which asks all of them, and
 * answers with the values of all: counters must not seem to jump from one scrape to the next.
 */
const Message = Schema.Union(
  /** A worker asks for the metrics of all. */
  Schema.Struct({ metrics: Schema.Literal("ask"), scrape: Schema.Number }),
  /** The supervisor asks a worker for its own. */
  Schema.Struct({ metrics: Schema.Literal("collect"), round: Schema.Number }),
  Schema.Struct({ metrics: Schema.Literal("collected"), round: Schema.Number, families: Schema.Any }),
  Schema.Struct({ metrics: Schema.Literal("all"), scrape: Schema.Number, workers: Schema.Any })
)
type Message = typeof Message.Type
const decode = Schema.decodeUnknownOption(Message)

/** A worker whose event loop is blocked for longer counts with the values that it had last. */
const collectMillis = 500
/** How long a worker waits for the supervisor before it answers with its own values. */
const askMillis = 2_000

/** In a worker process: a scrape sees the metrics of all workers. */
export const layer: Layer.Layer<never> = Layer.unwrapScoped(
  Effect.gen(function* () {
    if (!cluster.isWorker) return Layer.empty
    const asked = new Map<number, (workers: ReadonlyArray<WorkerExposition>) => void>()
    let scrapes = 0
    const send = (message: Message): void => {
      process.send?.(message)
    }
    const receive = (received: unknown): void => {
      const message = Option.getOrUndefined(decode(received))
      if (message?.metrics === "collect") {
        send({ metrics: "collected", round: message.round, families: snapshot() })
      } else if (message?.metrics === "all") asked.get(message.scrape)?.(message.workers)
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => process.on("message", receive)),
      () => Effect.sync(() => process.off("message", receive))
    )
    const ofAll = Effect.async<Exposition>((resume) => {
      scrapes += 1
      const scrape = scrapes
      asked.set(scrape, (workers) => {
        asked.delete(scrape)
        resume(Effect.sync(() => merge(workers)))
      })
      send({ metrics: "ask", scrape })
      return Effect.sync(() => asked.delete(scrape))
    })
    return Layer.succeed(
      Scrape,
      Effect.flatMap(Effect.timeoutOption(ofAll, askMillis), (all) =>
        Option.isSome(all) ? Effect.succeed(all.value) : Effect.sync(snapshot)
      )
    )
  })
)

/** A worker as the supervisor sees it. */
export interface SupervisedWorker {
  readonly id: number
  /** Stays the same when the worker is replaced. */
  readonly name: string
  readonly send: (message: Message) => void
}

interface Round {
  readonly missing: Set<number>
  readonly done: () => void
}

/** The supervisor's part: collects from all workers, and keeps the counters of those that have exited. */
export class WorkerMetrics {
  private readonly workers = new Map<number, SupervisedWorker>()
  private readonly last = new Map<number, Exposition>()
  private retired: Exposition = []
  private readonly rounds = new Map<number, Round>()
  private lastRound = 0

  joined(worker: SupervisedWorker): void {
    this.workers.set(worker.id, worker)
  }

  /** What it has counted stays counted, as far as the last scrape saw it: a counter never decreases. */
  exited(id: number): void {
    const counted = (this.last.get(id) ?? []).filter(({ kind }) => kind !== "gauge")
    this.retired = merge([
      { worker: "exited", families: this.retired },
      { worker: "exited", families: counted }
    ])
    this.workers.delete(id)
    this.last.delete(id)
    for (const number of [...this.rounds.keys()]) this.answered(number, id)
  }

  received(id: number, raw: unknown): void {
    const message = Option.getOrUndefined(decode(raw))
    if (message?.metrics === "ask") {
      const asker = this.workers.get(id)
      this.collect((workers) => asker?.send({ metrics: "all", scrape: message.scrape, workers }))
    } else if (message?.metrics === "collected" && this.workers.has(id)) {
      this.last.set(id, message.families)
      this.answered(message.round, id)
    }
  }

  private collect(use: (workers: ReadonlyArray<WorkerExposition>) => void): void {
    this.lastRound += 1
    const round = this.lastRound
    const timer = setTimeout(() => this.rounds.get(round)?.done(), collectMillis)
    this.rounds.set(round, {
      missing: new Set(this.workers.keys()),
      done: () => {
        clearTimeout(timer)
        this.rounds.delete(round)
        const running = [...this.workers.values()].map(({ id, name }) => ({
          worker: name,
          families: this.last.get(id) ?? []
        }))
        use([...running, { worker: "exited", families: this.retired }])
      }
    })
    for (const worker of this.workers.values()) worker.send({ metrics: "collect", round })
  }

  private answered(number: number, id: number): void {
    const round = this.rounds.get(number)
    if (round === undefined || !round.missing.delete(id) || round.missing.size > 0) return
    round.done()
  }
}

export const supervised = (worker: Worker, name: string): SupervisedWorker => ({
  id: worker.id,
  name,
  send: (message) => {
    if (worker.isConnected()) worker.send(message)
  }
})
