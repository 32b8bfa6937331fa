import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { reasonOf, sqlStateOf } from "./DatabaseError.ts"

/** In an outage every request has a failed statement: of those with one SQLSTATE a line a minute. */
const logEveryMillis = 60_000

interface Logged {
  readonly atMillis: number
  /** Since then. */
  failures: number
}

const make = () => {
  const logged = new Map<string | undefined, Logged>()
  return {
    log: (error: unknown): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const state = sqlStateOf(error)
        const last = logged.get(state)
        if (last !== undefined && now - last.atMillis < logEveryMillis) {
          last.failures += 1
          return Effect.void
        }
        logged.set(state, { atMillis: now, failures: 0 })
        return Effect.annotateLogs(
          Effect.logWarning("a statement has failed: what asked for it gets 503 or tries again"),
          {
            reason: reasonOf(error),
            ...(last !== undefined && last.failures > 0 && { furtherSinceLastLine: last.failures })
          }
        )
      })
  }
}

/** What is logged of the statements that fail because of the database: who has asked only hears that it cannot be used. */
export class FailedStatements extends Context.Reference<FailedStatements>()("gateway/sql/FailedStatements", {
  defaultValue: make
}) {
  /** @internal */
  static readonly make = make
}
