import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/**
 * A request is authenticated by its head, and a client may take half a minute for the body. A body that takes longer than this is
 * late: the credential may have been revoked meanwhile, and is checked again. Shorter ones cost no second check.
 */
export const lateMillis = 100

/** Reads a body, and then runs `check` where the body was late. */
export const checkedIfLate = <A, E, E2, R>(
  read: Effect.Effect<A, E>,
  check: Effect.Effect<unknown, E2, R>
): Effect.Effect<A, E | E2, R> =>
  Effect.flatMap(Effect.timed(read), ([took, body]) =>
    Duration.toMillis(took) > lateMillis ? Effect.as(check, body) : Effect.succeed(body)
  )
