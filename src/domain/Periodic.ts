import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { warn } from "./FailureLog.ts"

/**
 * What the first run of all periodic work waits for; nothing by default. A process that serves provides what ends when it
 * listens: some tens of statements would delay those of its start.
 */
export class FirstRun extends Context.Reference<FirstRun>()("gateway/domain/FirstRun", {
  defaultValue: (): Effect.Effect<void> => Effect.void
}) {}

export interface PeriodicOptions {
  /** True for an error that is logged elsewhere: here it is neither logged nor counted as success. */
  readonly isLoggedElsewhere?: (error: unknown) => boolean
}

/**
 * Runs in the background as long as the scope, at once (see `FirstRun`) and then with a pause of `every`, whatever a run ends
 * with: neither a failure nor a defect ends the loop. `failed` says what could not be done; it is logged at the first failure and
 * again only after a success, so that an outage does not fill the log.
 */
export const periodically = <E, R>(
  every: Duration.DurationInput,
  failed: string,
  run: Effect.Effect<unknown, E, R>,
  { isLoggedElsewhere = () => false }: PeriodicOptions = {}
): Effect.Effect<void, never, R | Scope.Scope> =>
  Effect.suspend(() => {
    let failures = 0
    const succeeded = Effect.suspend(() => {
      if (failures === 0) return Effect.void
      const before = failures
      failures = 0
      return Effect.annotateLogs(Effect.logInfo(`${failed}: now it works again`), { failures: before })
    })
    const hasFailed = (cause: Cause.Cause<E>): Effect.Effect<void> => {
      if (isLoggedElsewhere(Cause.squash(cause))) return Effect.void
      failures += 1
      return failures === 1 ? warn(`${failed}; the next run tries again`, cause) : Effect.void
    }
    return Effect.matchCauseEffect(run, { onFailure: hasFailed, onSuccess: () => succeeded }).pipe(
      Effect.repeat(Schedule.spaced(every)),
      (runs) => Effect.zipRight(Effect.flatten(FirstRun), runs),
      // also where the Layer is built in a region that is not: its scope would wait for the loop without end
      Effect.interruptible,
      Effect.forkScoped,
      Effect.asVoid
    )
  })
