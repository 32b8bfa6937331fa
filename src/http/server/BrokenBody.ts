import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Defects from "../../observe/Defects.ts"

/**
 * A streamed body that fails after the head was sent closes the connection: the platform ends such a body like a complete one. Why
 * it failed is logged, since no client hears of it.
 */
export const resetWhenBroken =
  (request: HttpServerRequest.HttpServerRequest) =>
  <A, E, R>(body: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> =>
    Stream.tapErrorCause(body, (cause) =>
      Effect.zipRight(
        reported(cause),
        Effect.sync(() => NodeHttpServerRequest.toServerResponse(request).destroy())
      )
    )

const reported = (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
  if (Cause.isInterruptedOnly(cause)) return Effect.void
  return Cause.isFailure(cause)
    ? Effect.logWarning("a streamed response was broken off", cause)
    : Defects.report("a streamed response ended in a defect", cause)
}
