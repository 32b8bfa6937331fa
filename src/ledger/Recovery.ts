import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ConfigIssue } from "../domain/InvalidConfiguration.ts"
import { issuesOfDuration } from "../domain/OptionIssues.ts"
import { periodically } from "../domain/Periodic.ts"
import { RecoveryStore } from "./RecoveryStore.ts"
import { StoreHealth } from "./StoreHealth.ts"

/** When a hold counts as lost. */
export interface RecoveryOptions {
  /** How often this process writes its heartbeat and looks for processes without one. */
  readonly interval?: Duration.DurationInput
  /** A process without a heartbeat for so long counts as dead. */
  readonly silence?: Duration.DurationInput
  /** No call takes longer: an older hold was lost, even if its process is alive. */
  readonly maxCallDuration?: Duration.DurationInput
}

/** What is wrong with the options. */
export const issuesOfRecoveryOptions = (options: RecoveryOptions): ReadonlyArray<ConfigIssue> =>
  (["interval", "silence", "maxCallDuration"] as const).flatMap((name) =>
    options[name] === undefined ? [] : issuesOfDuration(options[name], { orZero: false }, name)
  )

const defaultInterval = Duration.seconds(5)
export const defaultSilenceSeconds = 60
export const defaultMaxCallDuration = Duration.hours(1)

/** When a hold counts as lost, for calls of at most this time: their settlement may wait for the database as long again. */
export const maxCallDurationOf = (totalMillis: number): Duration.Duration =>
  Duration.max(Duration.millis(2 * totalMillis), defaultMaxCallDuration)

/**
 * Expires the holds of dead processes: the customer pays nothing. Only the database's clock decides, and a process that was
 * cut off itself judges nobody until it has been heard for as long as others may be silent. The embedded database
 * is open in this process alone, so every hold found there at the start is expired.
 */
export const layer = (options: RecoveryOptions = {}) =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const store = yield* RecoveryStore
      const health = yield* StoreHealth
      if (store.isAlone) yield* store.expireAll
      const silence = Duration.decode(options.silence ?? Duration.seconds(defaultSilenceSeconds))
      const maxCallDuration = Duration.decode(options.maxCallDuration ?? defaultMaxCallDuration)
      const sweep = Effect.map(
        Effect.zipRight(store.beat, store.sweep(silence, maxCallDuration)),
        health.heartbeatWritten
      )
      yield* periodically(options.interval ?? defaultInterval, "expired holds could not be swept", sweep, {
        isLoggedElsewhere: health.failed
      })
    })
  )
