import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { identifiedAgain } from "./Identity.ts"

/** Whoever has lost the right to read does so no longer than this; the session is cached, the right one small query. */
const checkEvery = Duration.seconds(1)

/** Fails when the session of an identified request has ended, or `may` fails. For streams, which outlive the check at their start. */
export const rightsLost = <E, R>(
  request: HttpServerRequest.HttpServerRequest,
  may: Effect.Effect<unknown, E, R>
): Effect.Effect<never, E | Effect.Effect.Error<ReturnType<typeof identifiedAgain>>, R> =>
  identifiedAgain(NodeHttpServerRequest.toIncomingMessage(request)).pipe(
    Effect.zipRight(may),
    Effect.delay(checkEvery),
    Effect.forever
  )
