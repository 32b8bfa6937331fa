import * as Effect from "effect/Effect"

/**
 * A request is authenticated by its head, and a client may take half a minute for the body. A body that takes longer than this is
 * late: the credential may have been revoked meanwhile, and is checked again. Shorter ones cost no second check.
 */
const lateMillis = 100

/** Reads the body of a caller, who is authenticated again where it was late: the request is answered for the caller as returned. */
export const bodyOfCaller = <Caller, Body, E, E2, R>(
  caller: Caller,
  read: Effect.Effect<Body, E>,
  authenticate: Effect.Effect<Caller, E2, R>
): Effect.Effect<{ readonly caller: Caller; readonly body: Body }, E | E2, R> =>
  Effect.clockWith((clock) => {
    const startedMillis = clock.unsafeCurrentTimeMillis()
    return Effect.flatMap(read, (body) =>
      clock.unsafeCurrentTimeMillis() - startedMillis > lateMillis
        ? Effect.map(authenticate, (present) => ({ caller: present, body }))
        : Effect.succeed({ caller, body })
    )
  })
