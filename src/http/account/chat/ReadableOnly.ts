import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Conversations } from "../../../chat/Conversations.ts"
import type { ConversationId } from "../../../domain/Ids.ts"
import { identifies } from "../Identity.ts"
import * as Incoming from "../Incoming.ts"

/** Whoever has lost the right to read does so no longer than this; the session is cached, the conversation one small query. */
const checkEvery = Duration.seconds(1)

/**
 * Ends the events of a conversation when the session has ended, or when the person may no longer read it. Where neither can be
 * found out the stream fails: who may go on follows again.
 */
export const readableOnly = Effect.gen(function* () {
  const conversations = yield* Conversations
  const identify = yield* identifies
  return <A, E, R>(id: ConversationId, request: HttpServerRequest.HttpServerRequest, events: Stream.Stream<A, E, R>) =>
    identify(request, Incoming.of(request)).pipe(
      Effect.zipRight(conversations.find(id)),
      Effect.delay(checkEvery),
      Effect.forever,
      Effect.catchTags({ NotFound: () => Effect.void, Unauthenticated: () => Effect.void }),
      (ended) => Stream.interruptWhen(events, ended)
    )
})
