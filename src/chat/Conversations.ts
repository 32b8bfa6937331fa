import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import {
  type ConversationRunning,
  NotFound,
  type RoleRequired,
  type SealingUnavailable,
  type VersionMismatch
} from "../domain/AccountError.ts"
import { CurrentUser } from "../domain/CurrentUser.ts"
import { dateAt } from "../domain/Dates.ts"
import type { InvalidRequest, StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { ConversationId, MessageId, type ProjectId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { ProjectAccess } from "../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type {
  ChatArtifactOut,
  ChatProjectOut,
  ConversationDetailOut,
  CreateConversationRequest,
  SaveArtifactRequest
} from "../wire/account/Chat.ts"
import { Artifacts } from "./Artifacts.ts"
import { ContentStore } from "./ContentStore.ts"
import { ConversationAccess, isRunning, noSuchConversation, noSuchMessage } from "./ConversationAccess.ts"
import {
  type Conversation,
  type ConversationFilter,
  ConversationStore,
  type ListPosition
} from "./ConversationStore.ts"
import { MessageStore } from "./MessageStore.ts"
import { Questions } from "./Questions.ts"
import { detailOut } from "./Records.ts"

type Refused = NotFound | RoleRequired | StoreUnavailable

/** The conversations of the current user: those of others are not found. */
export interface ConversationsShape {
  /** The projects that can pay for one, newest first, those before `before`. */
  readonly projects: (
    max: number,
    before: ProjectId | undefined
  ) => Effect.Effect<ReadonlyArray<typeof ChatProjectOut.Type>, StoreUnavailable, CurrentUser>
  readonly create: (request: CreateConversationRequest) => Effect.Effect<Conversation, Refused, CurrentUser>
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
  ) => Effect.Effect<Conversation, Refused | ConversationRunning, CurrentUser>
  /** Of an artifact, the newest first. */
  readonly versions: (
    id: ConversationId,
    artifact: string
  ) => Effect.Effect<ReadonlyArray<ChatArtifactOut>, NotFound | StoreUnavailable, CurrentUser>
  /** What a person keeps of an answer, as the first or the next version of an artifact. */
  readonly saveArtifact: (
    id: ConversationId,
    document: SaveArtifactRequest
  ) => Effect.Effect<
    ChatArtifactOut,
    NotFound | ConversationRunning | InvalidRequest | SealingUnavailable | StoreUnavailable,
    CurrentUser
  >
  /** An earlier version, restored as the newest. */
  readonly restoreVersion: (
    id: ConversationId,
    artifact: string,
    version: number
  ) => Effect.Effect<ChatArtifactOut, NotFound | ConversationRunning | StoreUnavailable, CurrentUser>
  readonly removeArtifact: (
    id: ConversationId,
    artifact: string
  ) => Effect.Effect<void, NotFound | ConversationRunning | StoreUnavailable, CurrentUser>
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
      const id = ConversationId.make(ids.uuid())
      yield* store.create({ id, userId, projectId, title, titleSource }, now())
      yield* conversations.record("conversation.create", { id, projectId }, { project_id: projectId })
      return yield* conversations.find(id)
    })

  /** On the last answer; not while one is being written, which may change the same. */
  const changeArtifact = <A, E>(
    id: ConversationId,
    action: string,
    change: (message: MessageId) => Effect.Effect<{ readonly artifact: string; readonly made: A }, E>
  ): Effect.Effect<A, E | NotFound | ConversationRunning | StoreUnavailable, CurrentUser> =>
    transactions.commit(() =>
      Effect.gen(function* () {
        const conversation = yield* conversations.lock(id)
        if (conversation.turnId !== null) return yield* isRunning
        const last = (yield* messages.list(id)).findLast(({ isCurrent, role }) => isCurrent && role === "assistant")
        if (last === undefined) return yield* noAnswer
        const { artifact, made } = yield* change(last.id)
        yield* conversations.record(action, conversation, { artifact_id: artifact })
        return made
      })
    )

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
          const current = (yield* messages.list(id)).filter(({ isCurrent }) => isCurrent)
          const end = last === undefined ? current.length : current.findIndex((message) => message.id === last) + 1
          if (last !== undefined && end === 0) return yield* noSuchMessage
          const copied = current.slice(0, end)
          if (copied.some(({ status }) => status === "streaming")) return yield* isRunning
          const conversation = yield* created(projectId, title, titleSource)
          const copies = new Map<MessageId, MessageId>()
          for (const message of copied) {
            const copyId = MessageId.make(ids.uuid())
            yield* messages.copy(message.id, { id: copyId, conversationId: conversation.id })
            yield* contents.copyImages(message.id, copyId)
            copies.set(message.id, copyId)
          }
          yield* artifacts.copy(id, conversation.id, copies)
          return conversation
        })
      ),
    versions: (id, artifact) =>
      Effect.gen(function* () {
        yield* conversations.find(id)
        const found = yield* artifacts.versions(id, artifact)
        return found.length === 0 ? yield* noSuchArtifact : found
      }),
    saveArtifact: (id, document) =>
      changeArtifact(id, "artifact.save", (message) =>
        Effect.map(artifacts.save(id, document, message), (made) => ({ artifact: made.id, made }))
      ),
    restoreVersion: (id, artifact, version) =>
      changeArtifact(id, "artifact.restore", (message) =>
        Effect.flatMap(artifacts.restore(id, artifact, version, message), (made) =>
          made === undefined ? noSuchArtifact : Effect.succeed({ artifact, made })
        )
      ),
    removeArtifact: (id, artifact) =>
      changeArtifact(id, "artifact.delete", (message) =>
        Effect.flatMap(artifacts.remove(id, artifact, message), (isRemoved) =>
          isRemoved ? Effect.succeed({ artifact, made: undefined }) : noSuchArtifact
        )
      )
  })
})

const untitled = "New conversation"

const noSuchArtifact = new NotFound({ message: "Artifact or version not found." })
const noAnswer = new NotFound({ message: "The conversation has no answer yet." })
