import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { ConversationArtifacts } from "../../../chat/ConversationArtifacts.ts"
import type { Conversation } from "../../../chat/ConversationStore.ts"
import { Conversations } from "../../../chat/Conversations.ts"
import { Questions } from "../../../chat/Questions.ts"
import { conversationOut } from "../../../chat/Records.ts"
import { dateAt } from "../../../domain/Dates.ts"
import { ProjectId } from "../../../domain/Ids.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import {
  type ArtifactVersionsParameters,
  artifactVersionsCursor,
  ChatArtifactOut,
  ConversationOut,
  type ConversationParameters,
  conversationCursor
} from "../../../wire/account/Chat.ts"
import { AccountApi } from "../AccountApi.ts"
import { entityTag, requireMatch } from "../EntityTag.ts"
import { idempotent, withHeader } from "../Idempotent.ts"
import { page } from "../Paging.ts"
import { chatModels } from "./ChatModels.ts"
import { followedConversations } from "./FollowedConversations.ts"
import { startedTurns } from "./StartedTurns.ts"
import { uploadedImages } from "./UploadedImages.ts"

export const chatHandlers = HttpApiBuilder.group(AccountApi, "chat", (handlers) =>
  Effect.gen(function* () {
    const conversations = yield* Conversations
    const artifacts = yield* ConversationArtifacts
    const questions = yield* Questions
    const access = yield* ProjectAccess
    const idempotency = yield* AccountIdempotency
    const started = yield* startedTurns
    const models = yield* chatModels
    const upload = yield* uploadedImages
    const follow = yield* followedConversations

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
      .handle("listChatModels", ({ urlParams }) => models(urlParams))
      .handle("createConversation", ({ headers, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            body: payload,
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
        started(headers["idempotency-key"], path.id, payload, questions.send(path.id, payload))
      )
      .handle("retryMessage", ({ headers, path, payload }) =>
        started(headers["idempotency-key"], path.id, payload, questions.retry(path.id, path.message_id, payload))
      )
      .handle("editMessage", ({ headers, path, payload }) =>
        started(headers["idempotency-key"], path.id, payload, questions.edit(path.id, path.message_id, payload))
      )
      .handle("stopConversation", ({ path }) => Effect.map(questions.stop(path.id), conversationOut))
      .handle("forkConversation", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            body: payload,
            schema: ConversationOut,
            mayReplay: conversations.find(path.id)
          },
          Effect.map(conversations.fork(path.id, payload.message_id), conversationOut)
        )
      )
      .handleRaw("uploadChatImage", ({ headers, request, urlParams: { filename } }) =>
        upload(request, headers["idempotency-key"], filename)
      )
      .handle("saveArtifact", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            body: payload,
            schema: ChatArtifactOut,
            mayReplay: conversations.find(path.id)
          },
          artifacts.save(path.id, payload)
        )
      )
      .handle("listArtifactVersions", ({ path, urlParams }) =>
        Effect.map(artifacts.versions(path.id, path.artifact_id), (versions) => versionsPage(versions, urlParams))
      )
      .handle("restoreArtifact", ({ headers, path, payload }) =>
        idempotent(
          idempotency,
          headers["idempotency-key"],
          {
            body: payload,
            schema: ChatArtifactOut,
            mayReplay: conversations.find(path.id)
          },
          artifacts.restore(path.id, path.artifact_id, payload.version)
        )
      )
      .handle("deleteArtifact", ({ path }) => artifacts.remove(path.id, path.artifact_id))
      .handleRaw("followConversation", ({ headers, path, request, urlParams }) =>
        follow(path.id, request, urlParams.cursor ?? headers["last-event-id"])
      )
  })
)

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

/** Of all versions, which are at most a hundred. */
const versionsPage = (
  versions: ReadonlyArray<ChatArtifactOut>,
  { cursor, limit }: typeof ArtifactVersionsParameters.Type
) => {
  const left = cursor === undefined ? versions : versions.filter(({ version }) => version < cursor)
  const items = left.slice(0, limit)
  const last = items.at(-1)
  const hasMore = left.length > limit && last !== undefined
  return { items, has_more: hasMore, next_cursor: hasMore ? artifactVersionsCursor(last.version) : null }
}
