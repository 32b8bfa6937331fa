import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Conversations } from "../../../chat/Conversations.ts"
import type { ConversationId } from "../../../domain/Ids.ts"
import { rightsLost } from "../RightsLost.ts"

/**
 * Ends the events of a conversation when the session has ended, or when the person may no longer read it. Where neither can be
 * found out the stream fails: who may go on follows again.
 */
export const readableOnly = Effect.map(
  Conversations,
  (conversations) =>
    <A, E, R>(id: ConversationId, request: HttpServerRequest.HttpServerRequest, events: Stream.Stream<A, E, R>) =>
      rightsLost(request, conversations.find(id)).pipe(
        Effect.catchTags({ NotFound: () => Effect.void, Unauthenticated: () => Effect.void }),
        (ended) => Stream.interruptWhen(events, ended)
      )
)
