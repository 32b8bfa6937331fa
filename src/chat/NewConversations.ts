import * as Effect from "effect/Effect"
import type { ConversationRunning, NotFound, RoleRequired } from "../domain/AccountError.ts"
import { CurrentUser } from "../domain/CurrentUser.ts"
import { dateAt } from "../domain/Dates.ts"
import type { InvalidRequest, StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator, type IdGeneratorShape } from "../domain/IdGenerator.ts"
import { ConversationId, MessageId, type ProjectId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { ProjectAccess } from "../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../identity/projects/ProjectStore.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type { CreateConversationRequest } from "../wire/account/Chat.ts"
import { Artifacts, type ArtifactsShape } from "./Artifacts.ts"
import { type ArtifactEvent, ContentStore, type ContentStoreShape } from "./ContentStore.ts"
import { ConversationAccess, isRunning, noSuchMessage } from "./ConversationAccess.ts"
import { type Conversation, ConversationStore } from "./ConversationStore.ts"
import { type Message, MessageStore, type MessageStoreShape } from "./MessageStore.ts"
import { StorageLimits } from "./StorageLimits.ts"

type Refused = NotFound | RoleRequired | InvalidRequest | StoreUnavailable

/** How conversations begin: empty, or as a copy. */
export interface NewConversations {
  readonly create: (request: CreateConversationRequest) => Effect.Effect<Conversation, Refused, CurrentUser>
  readonly fork: (
    id: ConversationId,
    last: MessageId | undefined
  ) => Effect.Effect<Conversation, Refused | ConversationRunning, CurrentUser>
}

export const make: Effect.Effect<
  NewConversations,
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
  | StorageLimits
  | Timers
> = Effect.gen(function* () {
  const conversations = yield* ConversationAccess
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

  /** A project that is not deleted before the end of the transaction: what is begun in it is erased with it. */
  const payingProject = (id: ProjectId) =>
    Effect.zipRight(projects.lock(id), Effect.asVoid(access.require(id, "member")))

  const created = (projectId: ProjectId, title: string, titleSource: Conversation["titleSource"]) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentUser
      yield* limits.requireConversation
      const id = ConversationId.make(ids.uuid())
      yield* store.create({ id, userId, projectId, title, titleSource }, dateAt(timers.now()))
      yield* conversations.record("conversation.create", { id, projectId }, { project_id: projectId })
      return yield* conversations.find(id)
    })

  return {
    create: ({ project_id, title }) =>
      transactions.commit(() =>
        Effect.zipRight(
          payingProject(project_id),
          created(project_id, title ?? untitled, title === undefined ? "none" : "person")
        )
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
          yield* copy({ messages, contents, artifacts, ids }, id, conversation.id, copied)
          return conversation
        })
      )
  }
})

interface CopyDeps {
  readonly messages: MessageStoreShape
  readonly contents: ContentStoreShape
  readonly artifacts: ArtifactsShape
  readonly ids: IdGeneratorShape
}

/** Copies messages, with what they have beside their text. */
const copy = (
  { artifacts, contents, ids, messages }: CopyDeps,
  from: ConversationId,
  to: ConversationId,
  copied: ReadonlyArray<Message>
) =>
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
