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
  /** How often this process writes its heartbeat and looks for processes without one. 5 s if not set. */
  readonly interval?: Duration.DurationInput
  /** A process without a heartbeat for so long counts as dead, and its holds expire: longer than `interval`. 60 s if not set. */
  readonly silence?: Duration.DurationInput
  /**
   * No call takes longer, its settlement included: an older hold was lost, even if its process is alive. Twice the time that the
   * gateway's deadlines leave a call. 1 h if not set.
   */
  readonly maxCallDuration?: Duration.DurationInput
}

const defaultInterval = Duration.seconds(5)
export const defaultSilenceSeconds = 60
export const defaultMaxCallDuration = Duration.hours(1)

const intervalOf = ({ interval }: RecoveryOptions) => Duration.decode(interval ?? defaultInterval)
const silenceOf = ({ silence }: RecoveryOptions) => Duration.decode(silence ?? Duration.seconds(defaultSilenceSeconds))

/** What is wrong with the options. */
export const issuesOfRecoveryOptions = (options: RecoveryOptions): ReadonlyArray<ConfigIssue> => {
  const issues = (["interval", "silence", "maxCallDuration"] as const).flatMap((name) =>
    options[name] === undefined ? [] : issuesOfDuration(options[name], { orZero: false }, name)
  )
  if (issues.length > 0 || Duration.greaterThan(silenceOf(options), intervalOf(options))) return issues
  return [{ path: "silence", message: "must be longer than interval: a process that is alive would count as dead" }]
}

/** When a hold counts as lost, for calls of these deadlines: their settlement may wait for the database as long again. */
export const maxCallDurationOf = ({
  maxTotalMillis = 0,
  totalMillis
}: {
  readonly totalMillis: number
  readonly maxTotalMillis?: number
}): Duration.Duration =>
  Duration.max(Duration.millis(2 * Math.max(totalMillis, maxTotalMillis)), defaultMaxCallDuration)

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
      const silence = silenceOf(options)
      const maxCallDuration = Duration.decode(options.maxCallDuration ?? defaultMaxCallDuration)
      const sweep = Effect.map(
        Effect.zipRight(store.beat, store.sweep(silence, maxCallDuration)),
        health.heartbeatWritten
      )
      yield* periodically(intervalOf(options), "expired holds could not be swept", sweep, {
        isLoggedElsewhere: health.failed
      })
    })
  )
