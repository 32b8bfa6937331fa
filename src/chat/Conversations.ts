import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ConversationRunning, NotFound, RoleRequired, VersionMismatch } from "../domain/AccountError.ts"
import { CurrentUser } from "../domain/CurrentUser.ts"
import { dateAt } from "../domain/Dates.ts"
import type { InvalidRequest, StoreUnavailable } from "../domain/GatewayError.ts"
import type { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConversationId, MessageId, ProjectId } from "../domain/Ids.ts"
import { isUnchanged } from "../domain/Patch.ts"
import { Timers } from "../domain/Timers.ts"
import type { ProjectAccess } from "../identity/projects/ProjectAccess.ts"
import type { ProjectStore } from "../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type { ChatProjectOut, ConversationDetailOut, CreateConversationRequest } from "../wire/account/Chat.ts"
import { Artifacts } from "./Artifacts.ts"
import type { ContentStore } from "./ContentStore.ts"
import { ConversationAccess, noSuchConversation } from "./ConversationAccess.ts"
import {
  type Conversation,
  type ConversationFilter,
  ConversationStore,
  type ListPosition
} from "./ConversationStore.ts"
import { MessageStore } from "./MessageStore.ts"
import * as NewConversations from "./NewConversations.ts"
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
  /** At most 10,000 of a person, those among them that were forked and restored. */
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
  readonly restore: (
    id: ConversationId
  ) => Effect.Effect<Conversation, InvalidRequest | NotFound | StoreUnavailable, CurrentUser>
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
  const artifacts = yield* Artifacts
  const limits = yield* StorageLimits
  const transactions = yield* AccountTransactions
  const timers = yield* Timers
  const now = () => dateAt(timers.now())

  return Conversations.of({
    ...(yield* NewConversations.make),
    projects: (max, before) => Effect.flatMap(CurrentUser, ({ userId }) => store.projects(userId, max, before)),
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
          // before the conversation, as where one is forked
          yield* store.lockStored(userId)
          const found = yield* store.lock(id, userId)
          const deletedAt = found?.deletedAt?.getTime()
          if (found === undefined || deletedAt === undefined || deletedAt < timers.now() - undoMillis) {
            return yield* noSuchConversation
          }
          yield* limits.requireConversation
          yield* store.setDeleted(id, null)
          yield* conversations.record("conversation.restore", found, null)
          return yield* conversations.find(id)
        })
      )
  })
})
