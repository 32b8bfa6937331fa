import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ConversationRunning, NotFound, RoleRequired, VersionMismatch } from "../domain/AccountError.ts"
import { CurrentUser } from "../domain/CurrentUser.ts"
import { dateAt } from "../domain/Dates.ts"
import type { InvalidRequest, StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { ConversationId, MessageId, type ProjectId } from "../domain/Ids.ts"
import { isUnchanged } from "../domain/Patch.ts"
import { Timers } from "../domain/Timers.ts"
import { ProjectAccess } from "../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type { ChatProjectOut, ConversationDetailOut, CreateConversationRequest } from "../wire/account/Chat.ts"
import { Artifacts } from "./Artifacts.ts"
import { type ArtifactEvent, ContentStore } from "./ContentStore.ts"
import { ConversationAccess, isRunning, noSuchConversation, noSuchMessage } from "./ConversationAccess.ts"
import {
  type Conversation,
  type ConversationFilter,
  ConversationStore,
  type ListPosition
} from "./ConversationStore.ts"
import { type Message, MessageStore } from "./MessageStore.ts"
import { Questions } from "./Questions.ts"
import { detailOut } from "./Records.ts"
import { StorageLimits } from "./StorageLimits.ts"

type Refused = NotFound | RoleRequired | StoreUnavailable

/** The conversations of the current user: those of others are not found. */
export interface ConversationsShape {
  /** The projects that can pay for one, newest first, those before `before`. */
  readonly projects: (
    max: number,
    before: ProjectId | undefined
  ) => Effect.Effect<ReadonlyArray<typeof ChatProjectOut.Type>, StoreUnavailable, CurrentUser>
  /** At most 10,000 of a person. */
  readonly create: (
    request: CreateConversationRequest
  ) => Effect.Effect<Conversation, Refused | InvalidRequest, CurrentUser>
  readonly list: (
    filter: ConversationFilter,
    max: number,
    after: ListPosition | undefined
  ) => Effect.Effect<ReadonlyArray<Conversation>, StoreUnavailable, CurrentUser>
  readonly find: (id: ConversationId) => Effect.Effect<Conversation, NotFound | StoreUnavailable, CurrentUser>
  /** With all that is in it; of what is being written, what is stored. */
  readonly read: (id: ConversationId) => Effect.Effect<ConversationDetailOut, NotFound | StoreUnavailable, CurrentUser>
  /** `check` sees the conversation as it is before the change and can refuse it. */
  readonly rename: (
    id: ConversationId,
    title: string,
    check: (conversation: Conversation) => Effect.Effect<void, VersionMismatch>
  ) => Effect.Effect<Conversation, NotFound | StoreUnavailable | VersionMismatch, CurrentUser>
  /** Ends what is being written; the content is erased later. */
  readonly remove: (id: ConversationId) => Effect.Effect<void, NotFound | StoreUnavailable, CurrentUser>
  /** Takes a deletion back, for a minute. */
  readonly restore: (id: ConversationId) => Effect.Effect<Conversation, NotFound | StoreUnavailable, CurrentUser>
  /** A new conversation with the messages up to this one, or with all. */
  readonly fork: (
    id: ConversationId,
    last: MessageId | undefined
  ) => Effect.Effect<Conversation, Refused | ConversationRunning | InvalidRequest, CurrentUser>
}

export class Conversations extends Context.Tag("gateway/chat/Conversations")<Conversations, ConversationsShape>() {
  static readonly layer: Layer.Layer<
    Conversations,
    never,
    | AccountTransactions
    | Artifacts
    | ContentStore
    | ConversationAccess
    | ConversationStore
    | IdGenerator
    | MessageStore
    | ProjectAccess
    | ProjectStore
    | Questions
    | StorageLimits
    | Timers
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

/** How long after a deletion it can be undone. */
export const undoMillis = 60_000

const make = Effect.gen(function* () {
  const conversations = yield* ConversationAccess
  const questions = yield* Questions
  const store = yield* ConversationStore
  const messages = yield* MessageStore
  const contents = yield* ContentStore
  const artifacts = yield* Artifacts
  const access = yield* ProjectAccess
  const projects = yield* ProjectStore
  const limits = yield* StorageLimits
  const transactions = yield* AccountTransactions
  const ids = yield* IdGenerator
  const timers = yield* Timers
  const now = () => dateAt(timers.now())

  /** A project that is not deleted before the end of the transaction: what is begun in it is erased with it. */
  const payingProject = (id: ProjectId) =>
    Effect.zipRight(projects.lock(id), Effect.asVoid(access.require(id, "member")))

  const created = (projectId: ProjectId, title: string, titleSource: Conversation["titleSource"]) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentUser
      yield* limits.requireConversation
      const id = ConversationId.make(ids.uuid())
      yield* store.create({ id, userId, projectId, title, titleSource }, now())
      yield* conversations.record("conversation.create", { id, projectId }, { project_id: projectId })
      return yield* conversations.find(id)
    })

  /** Copies messages, with what they have beside their text. */
  const copy = (from: ConversationId, to: ConversationId, copied: ReadonlyArray<Message>) =>
    Effect.gen(function* () {
      const copies = new Map<MessageId, MessageId>()
      for (const { id } of copied) {
        const copyId = MessageId.make(ids.uuid())
        yield* messages.copy(id, { id: copyId, conversationId: to })
        yield* contents.copyImages(id, copyId)
        copies.set(id, copyId)
      }
      yield* artifacts.copy(from, to, copies)
    })

  return Conversations.of({
    projects: (max, before) => Effect.flatMap(CurrentUser, ({ userId }) => store.projects(userId, max, before)),
    create: ({ project_id, title }) =>
      transactions.commit(() =>
        Effect.zipRight(
          payingProject(project_id),
          created(project_id, title ?? untitled, title === undefined ? "none" : "person")
        )
      ),
    list: (filter, max, after) => Effect.flatMap(CurrentUser, ({ userId }) => store.list(userId, filter, max, after)),
    find: conversations.find,
    read: (id) =>
      Effect.gen(function* () {
        const conversation = yield* conversations.find(id)
        return detailOut(conversation, yield* messages.list(id), yield* artifacts.attachmentsOf(id))
      }),
    rename: (id, title, check) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const before = yield* conversations.lock(id)
          yield* check(before)
          if (isUnchanged(before, { title, titleSource: "person" })) return before
          yield* store.rename(id, title, "person", now())
          // titles are content: the log of the account does not have them
          yield* conversations.record("conversation.rename", before, null)
          return yield* conversations.find(id)
        })
      ),
    remove: (id) =>
      Effect.gen(function* () {
        const conversation = yield* transactions.commit(() =>
          Effect.gen(function* () {
            const found = yield* conversations.lock(id)
            yield* store.setDeleted(id, now())
            yield* conversations.record("conversation.delete", found, null)
            // with the deletion: nobody could end the answer after it
            yield* questions.requestEnd(found)
            return found
          })
        )
        yield* questions.awaitEnd(conversation)
      }),
    restore: (id) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const { userId } = yield* CurrentUser
          const found = yield* store.lock(id, userId)
          const deletedAt = found?.deletedAt?.getTime()
          if (found === undefined || deletedAt === undefined || deletedAt < timers.now() - undoMillis) {
            return yield* noSuchConversation
          }
          yield* store.setDeleted(id, null)
          yield* conversations.record("conversation.restore", found, null)
          return yield* conversations.find(id)
        })
      ),
    fork: (id, last) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          // its project stays the same, and is locked before its conversations
          yield* payingProject((yield* conversations.find(id)).projectId)
          const { projectId, title, titleSource } = yield* conversations.lock(id)
          const copied = upTo(last, yield* messages.list(id))
          if (copied === undefined) return yield* noSuchMessage
          if (copied.some(({ status }) => status === "streaming")) return yield* isRunning
          const conversation = yield* created(projectId, title, titleSource)
          yield* limits.addBytes(conversation.id, bytesOf(copied, yield* contents.events(id)))
          yield* copy(id, conversation.id, copied)
          return conversation
        })
      )
  })
})

const untitled = "New conversation"

/** The current messages up to this one, or all; `undefined` where it is none of them. */
const upTo = (last: MessageId | undefined, messages: ReadonlyArray<Message>): ReadonlyArray<Message> | undefined => {
  const current = messages.filter(({ isCurrent }) => isCurrent)
  if (last === undefined) return current
  const end = current.findIndex(({ id }) => id === last)
  return end < 0 ? undefined : current.slice(0, end + 1)
}

/** Of the text of messages and of the artifacts that were made during them. */
const bytesOf = (messages: ReadonlyArray<Message>, events: ReadonlyArray<ArtifactEvent>): number => {
  const ids = new Set(messages.map(({ id }) => id))
  let bytes = 0
  for (const { content, reasoning, steps } of messages) {
    bytes += Buffer.byteLength(content) + Buffer.byteLength(reasoning) + Buffer.byteLength(JSON.stringify(steps))
  }
  for (const { action, messageId, sizeBytes } of events) {
    if (ids.has(messageId) && action !== "deleted") bytes += sizeBytes
  }
  return bytes
}
