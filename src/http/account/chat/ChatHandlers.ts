import { createHash } from "node:crypto"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { ConversationArtifacts } from "../../../chat/ConversationArtifacts.ts"
import type { Conversation } from "../../../chat/ConversationStore.ts"
import { Conversations } from "../../../chat/Conversations.ts"
import { Following } from "../../../chat/Following.ts"
import { Images } from "../../../chat/Images.ts"
import { Questions } from "../../../chat/Questions.ts"
import { conversationOut } from "../../../chat/Records.ts"
import { CurrentUser } from "../../../domain/CurrentUser.ts"
import { dateAt } from "../../../domain/Dates.ts"
import { ProjectId } from "../../../domain/Ids.ts"
import { CallRunner } from "../../../gateway/CallRunner.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import {
  ChatArtifactOut,
  ChatImageOut,
  type ChatModelOut,
  ConversationOut,
  type ConversationParameters,
  chatModelsCursor,
  conversationCursor
} from "../../../wire/account/Chat.ts"
import { type Listing, listings } from "../../../wire/models/Listing.ts"
import { streamHeaders, streamType } from "../../inference/StreamSink.ts"
import { checkedIfLate } from "../../server/LateBody.ts"
import { AccountApi } from "../AccountApi.ts"
import { entityTag, requireMatch } from "../EntityTag.ts"
import { idempotent, withHeader } from "../Idempotent.ts"
import { identifiedAgain } from "../Identity.ts"
import { page } from "../Paging.ts"
import { cursorOf, frameOf } from "./ChatStream.ts"
import * as ImageBody from "./ImageBody.ts"
import { readableOnly } from "./ReadableOnly.ts"
import { startedTurns } from "./StartedTurns.ts"

export const chatHandlers = HttpApiBuilder.group(AccountApi, "chat", (handlers) =>
  Effect.gen(function* () {
    const conversations = yield* Conversations
    const artifacts = yield* ConversationArtifacts
    const questions = yield* Questions
    const following = yield* Following
    const images = yield* Images
    const access = yield* ProjectAccess
    const calls = yield* CallRunner
    const idempotency = yield* AccountIdempotency
    const started = yield* startedTurns
    const whileReadable = yield* readableOnly

    return handlers
      .handle("listChatProjects", ({ urlParams }) =>
        page(
          "chat-projects",
          urlParams,
          (id) => ProjectId.make(id),
          conversations.projects,
          (project) => project
        )
      )
      .handle("listChatModels", ({ urlParams: { cursor, limit, project_id } }) =>
        Effect.gen(function* () {
          const { billingMode, id } = yield* access.require(project_id, "member")
          const { configurations, models } = yield* calls.projectModels({ projectId: id, billingMode })
          return modelsPage(listings(models, configurations).map(modelOut), cursor, limit)
        })
      )
      .handle("createConversation", ({ headers, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            request: { path: "/api/chat/conversations", body: payload },
            schema: ConversationOut,
            mayReplay: access.require(payload.project_id, "member")
          },
          Effect.map(conversations.create(payload), conversationOut)
        )
      )
      .handle("listConversations", ({ urlParams }) =>
        Effect.map(conversations.list(...listed(urlParams)), pageOf(urlParams.limit))
      )
      .handle("getConversation", ({ path }) =>
        Effect.tap(conversations.read(path.id), ({ title }) => withHeader("etag", tagOf({ id: path.id, title })))
      )
      .handle("updateConversation", ({ headers, path, payload }) =>
        Effect.flatMap(
          conversations.rename(path.id, payload.title, (found) => requireMatch(headers["if-match"], tagOf(found))),
          (renamed) => Effect.as(withHeader("etag", tagOf(renamed)), conversationOut(renamed))
        )
      )
      .handle("deleteConversation", ({ path }) => conversations.remove(path.id))
      .handle("restoreConversation", ({ path }) => Effect.map(conversations.restore(path.id), conversationOut))
      .handle("sendMessage", ({ headers, path, payload }) =>
        started(
          headers["idempotency-key"],
          path.id,
          { path: `/api/chat/conversations/${path.id}/messages`, body: payload },
          questions.send(path.id, payload)
        )
      )
      .handle("retryMessage", ({ headers, path, payload }) =>
        started(
          headers["idempotency-key"],
          path.id,
          { path: `/api/chat/conversations/${path.id}/messages/${path.message_id}/retry`, body: payload },
          questions.retry(path.id, path.message_id, payload)
        )
      )
      .handle("editMessage", ({ headers, path, payload }) =>
        started(
          headers["idempotency-key"],
          path.id,
          { path: `/api/chat/conversations/${path.id}/messages/${path.message_id}/edit`, body: payload },
          questions.edit(path.id, path.message_id, payload)
        )
      )
      .handle("stopConversation", ({ path }) => Effect.map(questions.stop(path.id), conversationOut))
      .handle("forkConversation", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            request: { path: `/api/chat/conversations/${path.id}/fork`, body: payload },
            schema: ConversationOut,
            mayReplay: conversations.find(path.id)
          },
          Effect.map(conversations.fork(path.id, payload.message_id), conversationOut)
        )
      )
      .handleRaw("uploadChatImage", ({ headers, request, urlParams: { filename } }) =>
        Effect.gen(function* () {
          const incoming = NodeHttpServerRequest.toIncomingMessage(request)
          const bytes = yield* checkedIfLate(ImageBody.read(incoming), identifiedAgain(incoming))
          const hash = createHash("sha256").update(bytes).digest("hex")
          const made = yield* idempotent(
            idempotency,
            headers["idempotency-key"],
            {
              request: { path: "/api/chat/images", body: { filename, hash } },
              schema: ChatImageOut,
              mayReplay: Effect.void
            },
            images.upload(filename, bytes)
          )
          return HttpServerResponse.unsafeJson(made, { status: 201 })
        })
      )
      .handle("saveArtifact", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            request: { path: `/api/chat/conversations/${path.id}/artifacts`, body: payload },
            schema: ChatArtifactOut,
            mayReplay: conversations.find(path.id)
          },
          artifacts.save(path.id, payload)
        )
      )
      .handle("listArtifactVersions", ({ path }) =>
        Effect.map(artifacts.versions(path.id, path.artifact_id), (items) => ({
          items,
          has_more: false,
          next_cursor: null
        }))
      )
      .handle("restoreArtifact", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            request: {
              path: `/api/chat/conversations/${path.id}/artifacts/${path.artifact_id}/restore`,
              body: payload
            },
            schema: ChatArtifactOut,
            mayReplay: conversations.find(path.id)
          },
          artifacts.restore(path.id, path.artifact_id, payload.version)
        )
      )
      .handle("deleteArtifact", ({ path }) => artifacts.remove(path.id, path.artifact_id))
      .handleRaw("followConversation", ({ headers, path, request, urlParams }) =>
        Effect.gen(function* () {
          yield* conversations.find(path.id)
          const events = following.follow(path.id, cursorOf(urlParams.cursor ?? headers["last-event-id"]))
          const frames = whileReadable(path.id, request, events).pipe(
            Stream.map((event) => encoder.encode(frameOf(event))),
            Stream.provideService(CurrentUser, yield* CurrentUser),
            // the platform ends a body that fails like a complete one
            Stream.tapErrorCause(() => Effect.sync(() => NodeHttpServerRequest.toServerResponse(request).destroy()))
          )
          return HttpServerResponse.stream(frames, { contentType: streamType, headers: streamHeaders })
        })
      )
  })
)

const encoder = new TextEncoder()

/** What a person can change of it. */
const tagOf = ({ id, title }: Pick<Conversation, "id" | "title">): string => entityTag([id, title])

const listed = ({ cursor, limit, project_id, q, running }: ConversationParameters) => {
  const after = cursor === undefined ? undefined : { updatedAt: dateAt(cursor[0]), id: cursor[1] }
  return [{ projectId: project_id, title: q, isRunning: running }, limit + 1, after] as const
}

/** Of one conversation more than the page has. */
const pageOf = (limit: number) => (found: ReadonlyArray<Conversation>) => {
  const last = found[limit - 1]
  const hasMore = found.length > limit && last !== undefined
  return {
    items: found.slice(0, limit).map(conversationOut),
    has_more: hasMore,
    next_cursor: hasMore ? conversationCursor([last.updatedAt.getTime(), last.id]) : null
  }
}

const modelOut = (listing: Listing): ChatModelOut =>
  listing._tag === "Routed"
    ? { id: listing.id, provider: "gateway" }
    : { id: listing.model.id, provider: listing.model.providerId }

const modelsPage = (models: ReadonlyArray<ChatModelOut>, cursor: string | undefined, limit: number) => {
  const start = cursor === undefined ? 0 : models.findIndex(({ id }) => id === cursor) + 1
  const items = models.slice(start, start + limit)
  const last = items.at(-1)
  const hasMore = last !== undefined && start + limit < models.length
  return { items, has_more: hasMore, next_cursor: hasMore ? chatModelsCursor(last.id) : null }
}
