import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { RecoveryStore } from "./RecoveryStore.ts"
import { StoreHealth } from "./StoreHealth.ts"

export interface RecoveryOptions {
  /** How often this process says that it lives, and looks for others that do not. */
  readonly interval?: Duration.DurationInput
  /** A process that has said nothing for so long is taken for dead. */
  readonly silence?: Duration.DurationInput
  /** No call lasts so long: an older hold was lost, even if its process lives. */
  readonly longestCall?: Duration.DurationInput
}

const defaultInterval = Duration.seconds(5)
const defaultSilence = Duration.seconds(60)
const defaultLongestCall = Duration.hours(1)

/**
 * Ends the holds of processes that are gone: the customer pays nothing. Only the database's clock decides. The embedded
 * database is open in this process alone, so there every hold found at the start is such a one.
 */
export const layer = (options: RecoveryOptions = {}) =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const store = yield* RecoveryStore
      const health = yield* StoreHealth
      if (store.isAlone) yield* store.expireAll
      const silence = Duration.decode(options.silence ?? defaultSilence)
      const longestCall = Duration.decode(options.longestCall ?? defaultLongestCall)
      yield* store.beat.pipe(
        Effect.zipRight(store.sweep(silence, longestCall)),
        Effect.map(health.heard),
        Effect.catchAllCause((cause) =>
          health.failed(Cause.squash(cause))
            ? Effect.void
            : Effect.logWarning("the ledger's recovery could not run; it tries again", cause)
        ),
        Effect.repeat(Schedule.spaced(options.interval ?? defaultInterval)),
        Effect.forkScoped
      )
    })
  )
