import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Conversations } from "../../../chat/Conversations.ts"
import { Following } from "../../../chat/Following.ts"
import { CurrentUser } from "../../../domain/CurrentUser.ts"
import type { ConversationId } from "../../../domain/Ids.ts"
import { streamHeaders, streamType } from "../../inference/StreamSink.ts"
import { resetWhenBroken } from "../../server/BrokenBody.ts"
import { cursorOf, frameOf } from "./ChatStream.ts"
import { readableOnly } from "./ReadableOnly.ts"

/** The events of a conversation, from a reader's place on, for as long as the person may read it. */
export const followedConversations = Effect.gen(function* () {
  const conversations = yield* Conversations
  const following = yield* Following
  const whileReadable = yield* readableOnly
  return (id: ConversationId, request: HttpServerRequest.HttpServerRequest, cursor: string | undefined) =>
    Effect.gen(function* () {
      yield* conversations.find(id)
      const frames = whileReadable(id, request, following.follow(id, cursorOf(cursor))).pipe(
        Stream.map((event) => encoder.encode(frameOf(event))),
        Stream.provideService(CurrentUser, yield* CurrentUser),
        resetWhenBroken(request)
      )
      return HttpServerResponse.stream(frames, { contentType: streamType, headers: streamHeaders })
    })
})

const encoder = new TextEncoder()
