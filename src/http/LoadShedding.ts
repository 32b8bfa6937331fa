import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Cancel, Timers, type TimersShape } from "../domain/Timers.ts"

export interface LoadSheddingShape {
  /** New calls only make the running ones later still. */
  readonly isOverloaded: () => boolean
}

/** How often the event loop is looked at. */
const lookMillis = 250
/** A loop that runs its timers so much too late has more to do than it can. */
const lateMillis = 1_000
/** It has to be late for this long: a single long pause is over when it is noticed. */
const sustainedMillis = 3_000

/** Whether this node can still answer in time; looked at before anything is done for a call. */
export class LoadShedding extends Context.Tag("gateway/http/LoadShedding")<LoadShedding, LoadSheddingShape>() {
  static readonly layer: Layer.Layer<LoadShedding, never, Timers> = Layer.scoped(
    this,
    Effect.flatMap(Timers, (timers) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => new LoopWatch(timers)),
          (watch) => Effect.sync(() => watch.stop())
        ),
        (watch) => ({ isOverloaded: () => watch.isOverloaded })
      )
    )
  )
}

class LoopWatch {
  isOverloaded = false
  private lateSinceMillis: number | undefined
  private cancel: Cancel
  private readonly timers: TimersShape

  constructor(timers: TimersShape) {
    this.timers = timers
    this.cancel = this.look()
  }

  stop(): void {
    this.cancel()
  }

  private look(): Cancel {
    const dueMillis = this.timers.now() + lookMillis
    return this.timers.after(lookMillis, () => {
      const now = this.timers.now()
      this.lateSinceMillis = now - dueMillis > lateMillis ? (this.lateSinceMillis ?? now) : undefined
      this.isOverloaded = this.lateSinceMillis !== undefined && now - this.lateSinceMillis >= sustainedMillis
      this.cancel = this.look()
    })
  }
}
