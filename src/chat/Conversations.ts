import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PersonKeys } from "../account/keys/PersonKeys.ts"
import { Audit } from "../audit/Audit.ts"
import { ConversationRunning, NotFound, type RoleRequired, type VersionMismatch } from "../domain/AccountError.ts"
import { CurrentUser } from "../domain/CurrentUser.ts"
import { dateAt } from "../domain/Dates.ts"
import { InvalidRequest, RateLimited, type StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { ConversationId, MessageId, type ProjectId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { ProjectAccess } from "../identity/projects/ProjectAccess.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type {
  AnswerSettings,
  ChatArtifactOut,
  ChatProjectOut,
  ConversationDetailOut,
  CreateConversationRequest,
  EditMessageRequest,
  RetryMessageRequest,
  SendMessageRequest
} from "../wire/account/Chat.ts"
import type { NewTurn } from "./AnswerWriter.ts"
import { Artifacts } from "./Artifacts.ts"
import { ContentStore } from "./ContentStore.ts"
import {
  type Conversation,
  type ConversationFilter,
  ConversationStore,
  type ListPosition
} from "./ConversationStore.ts"
import { type Message, MessageStore } from "./MessageStore.ts"
import { type Attachments, detailOut } from "./Records.ts"
import { titleOf } from "./Title.ts"
import { Turns } from "./Turns.ts"

/** A question and the answer that is to be written, once its transaction is committed. */
export interface BegunTurn {
  readonly question: Message
  readonly questionVersions: ReadonlyArray<Message>
  readonly answer: Message
  readonly answerVersions: ReadonlyArray<Message>
  readonly attachments: Attachments
  readonly turn: NewTurn
}

type Refused = NotFound | RoleRequired | StoreUnavailable
type TurnRefused = Refused | ConversationRunning | InvalidRequest | RateLimited

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
  /** Asks; the answer is to be started with the commit. */
  readonly send: (id: ConversationId, request: SendMessageRequest) => Effect.Effect<BegunTurn, TurnRefused, CurrentUser>
  /** Asks the last question once more. */
  readonly retry: (
    id: ConversationId,
    message: MessageId,
    request: RetryMessageRequest
  ) => Effect.Effect<BegunTurn, TurnRefused, CurrentUser>
  /** Asks another question in place of the last one. */
  readonly edit: (
    id: ConversationId,
    message: MessageId,
    request: EditMessageRequest
  ) => Effect.Effect<BegunTurn, TurnRefused, CurrentUser>
  /** Ends what is being written, by whichever process; what was written stays. */
  readonly stop: (id: ConversationId) => Effect.Effect<Conversation, NotFound | StoreUnavailable, CurrentUser>
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
  /** An earlier version once more, as the newest. */
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
    | Audit
    | ContentStore
    | ConversationStore
    | IdGenerator
    | MessageStore
    | PersonKeys
    | ProjectAccess
    | Timers
    | Turns
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

/** Answers that are written for a person at the same time. */
const maxTurns = 4
const maxMessages = 2_000
/** How long after a deletion it can be taken back. */
export const undoMillis = 60_000
/** How long a stop waits for another process. */
const stopChecks = 40
const stopCheckMillis = 50

const make = Effect.gen(function* () {
  const store = yield* ConversationStore
  const messages = yield* MessageStore
  const turns = yield* Turns
  const contents = yield* ContentStore
  const artifacts = yield* Artifacts
  const keys = yield* PersonKeys
  const access = yield* ProjectAccess
  const transactions = yield* AccountTransactions
  const audit = yield* Audit
  const ids = yield* IdGenerator
  const timers = yield* Timers
  const now = () => dateAt(timers.now())

  const find = (id: ConversationId) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentUser
      return (yield* store.find(id, userId)) ?? (yield* noSuchConversation)
    })

  /** Until the end of the transaction nobody else changes it. */
  const locked = (id: ConversationId) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentUser
      const found = yield* store.lock(id, userId)
      return found === undefined || found.deletedAt !== null ? yield* noSuchConversation : found
    })

  const record = (action: string, { id, projectId }: Pick<Conversation, "id" | "projectId">, after: object | null) =>
    Effect.gen(function* () {
      const { accountId } = yield* access.find(projectId)
      yield* audit.record({
        accountId,
        actor: yield* CurrentUser,
        action,
        target: { kind: "conversation", id },
        before: null,
        after
      })
    })

  const created = (projectId: ProjectId, title: string, titleSource: Conversation["titleSource"]) =>
    Effect.gen(function* () {
      const { userId } = yield* CurrentUser
      const id = ConversationId.make(ids.uuid())
      yield* store.create({ id, userId, projectId, title, titleSource }, now())
      yield* record("conversation.create", { id, projectId }, { project_id: projectId })
      return yield* find(id)
    })

  /** Writes the question, if it is a new one, and the beginning of its answer. */
  const begin = (
    id: ConversationId,
    decide: (
      conversation: Conversation,
      written: ReadonlyArray<Message>
    ) => Effect.Effect<Plan, NotFound | InvalidRequest | StoreUnavailable>
  ): Effect.Effect<BegunTurn, TurnRefused, CurrentUser> =>
    Effect.gen(function* () {
      const { projectId } = yield* find(id)
      const caller = yield* keys.callerIn(projectId)
      return yield* transactions.commit(() =>
        Effect.gen(function* () {
          const { userId } = yield* CurrentUser
          const running = yield* store.lockRunning(userId)
          const conversation = yield* locked(id)
          const written = yield* messages.list(id)
          const { content, images, position, settings } = yield* decide(conversation, written)
          if (images.length !== new Set(images).size || (yield* contents.countImages(userId, images)) < images.length) {
            return yield* noSuchImage
          }
          if (running >= maxTurns) return yield* tooManyTurns
          const [questionId, answerId] = [MessageId.make(ids.uuid()), MessageId.make(ids.uuid())]
          if (!(yield* store.beginTurn(id, answerId, turns.node, now()))) return yield* isRunning
          const place = (at: number) => ({
            conversationId: id,
            position: at,
            version: written.filter((message) => message.position === at).length + 1
          })
          yield* messages.supersede(id, content === undefined ? [position + 1] : [position, position + 1])
          if (content !== undefined) {
            const asked = { role: "user", status: "complete", content, settings: null, modelRequested: null } as const
            yield* messages.insert({ ...place(position), ...asked, id: questionId }, now())
            if (images.length > 0) yield* contents.attach(questionId, images)
          }
          const begun = { role: "assistant", status: "streaming", content: "" } as const
          yield* messages.insert(
            { ...place(position + 1), ...begun, id: answerId, settings, modelRequested: settings.model },
            now()
          )
          if (conversation.titleSource === "none" && content !== undefined) {
            yield* store.rename(id, titleOf(content), "question", now())
          }
          yield* record("conversation.ask", conversation, { message_id: answerId, model: settings.model })
          const after = yield* messages.list(id)
          const current = after.filter(({ isCurrent }) => isCurrent)
          const [question, answer] = [current[position], current[position + 1]]
          if (question === undefined || answer === undefined) return yield* notWritten
          const versionsAt = (at: number) => after.filter((one) => one.position === at && !one.isCurrent)
          return {
            question,
            questionVersions: versionsAt(position),
            answer,
            answerVersions: versionsAt(position + 1),
            attachments: yield* artifacts.attachmentsOf(id),
            turn: { answer, caller, settings, history: current.slice(0, position + 1) }
          }
        })
      )
    })

  const imagesOf = (id: ConversationId, message: MessageId) =>
    Effect.map(contents.images(id), (images) =>
      images.filter(({ messageId }) => messageId === message).map((image) => image.id)
    )

  /** Of this process or of another one. */
  const stopTurn = ({ id, turnId }: Conversation): Effect.Effect<void, StoreUnavailable, CurrentUser> =>
    Effect.gen(function* () {
      if (turnId === null || (yield* turns.stop(id))) return
      yield* transactions.commit((announce) =>
        Effect.zipRight(store.requestStop(id), announce({ kind: "chat_stop", id }))
      )
      const { userId } = yield* CurrentUser
      yield* Effect.delay(store.find(id, userId), stopCheckMillis).pipe(
        Effect.repeat({ times: stopChecks, until: (found) => found?.turnId !== turnId })
      )
    })

  /** On the last answer; not while one is being written, which may change the same. */
  const changeArtifact = <A>(
    id: ConversationId,
    action: string,
    artifact: string,
    change: (message: MessageId) => Effect.Effect<A, NotFound | StoreUnavailable>
  ): Effect.Effect<A, NotFound | ConversationRunning | StoreUnavailable, CurrentUser> =>
    transactions.commit(() =>
      Effect.gen(function* () {
        const conversation = yield* locked(id)
        if (conversation.turnId !== null) return yield* isRunning
        const last = (yield* messages.list(id)).findLast(({ isCurrent, role }) => isCurrent && role === "assistant")
        if (last === undefined) return yield* noSuchArtifact
        const changed = yield* change(last.id)
        yield* record(action, conversation, { artifact_id: artifact })
        return changed
      })
    )

  return Conversations.of({
    projects: (max, before) => Effect.flatMap(CurrentUser, ({ userId }) => store.projects(userId, max, before)),
    create: ({ project_id, title }) =>
      transactions.commit(() =>
        Effect.zipRight(
          access.require(project_id, "member"),
          created(project_id, title ?? untitled, title === undefined ? "none" : "person")
        )
      ),
    list: (filter, max, after) => Effect.flatMap(CurrentUser, ({ userId }) => store.list(userId, filter, max, after)),
    find,
    read: (id) =>
      Effect.gen(function* () {
        const conversation = yield* find(id)
        return detailOut(conversation, yield* messages.list(id), yield* artifacts.attachmentsOf(id))
      }),
    rename: (id, title, check) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const before = yield* locked(id)
          yield* check(before)
          yield* store.rename(id, title, "person", now())
          // titles are content: the log of the account does not have them
          yield* record("conversation.rename", before, null)
          return yield* find(id)
        })
      ),
    remove: (id) =>
      Effect.gen(function* () {
        const conversation = yield* transactions.commit(() =>
          Effect.gen(function* () {
            const found = yield* locked(id)
            yield* store.setDeleted(id, now())
            yield* record("conversation.delete", found, null)
            return found
          })
        )
        yield* stopTurn(conversation)
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
          yield* record("conversation.restore", found, null)
          return yield* find(id)
        })
      ),
    send: (id, { content, image_ids, ...settings }) =>
      begin(id, (_, written) => {
        const position = written.filter(({ isCurrent }) => isCurrent).length
        if (position + 2 > maxMessages) return tooManyMessages
        return Effect.succeed({ position, content, images: image_ids, settings })
      }),
    retry: (id, message, request) =>
      begin(id, (_, written) =>
        Effect.map(lastOf(written, message, "assistant"), ({ position, settings }) => ({
          position: position - 1,
          content: undefined,
          images: [],
          settings: { ...(settings ?? defaultSettings), ...request }
        }))
      ),
    edit: (id, message, { content, image_ids, ...settings }) =>
      begin(id, (_, written) =>
        Effect.gen(function* () {
          const { position } = yield* lastOf(written, message, "user")
          const answer = written.find((one) => one.isCurrent && one.position === position + 1)
          return {
            position,
            content,
            images: image_ids ?? (yield* imagesOf(id, message)),
            settings: { ...(answer?.settings ?? defaultSettings), ...settings }
          }
        })
      ),
    stop: (id) =>
      Effect.gen(function* () {
        const conversation = yield* find(id)
        if (conversation.turnId === null) return conversation
        yield* stopTurn(conversation)
        yield* record("conversation.stop", conversation, { message_id: conversation.turnId })
        return yield* find(id)
      }),
    fork: (id, last) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const { projectId, title, titleSource } = yield* locked(id)
          yield* access.require(projectId, "member")
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
        yield* find(id)
        const found = yield* artifacts.versions(id, artifact)
        return found.length === 0 ? yield* noSuchArtifact : found
      }),
    restoreVersion: (id, artifact, version) =>
      changeArtifact(id, "artifact.restore", artifact, (message) =>
        Effect.flatMap(artifacts.restore(id, artifact, version, message), (made) =>
          made === undefined ? noSuchArtifact : Effect.succeed(made)
        )
      ),
    removeArtifact: (id, artifact) =>
      changeArtifact(id, "artifact.delete", artifact, (message) =>
        Effect.flatMap(artifacts.remove(id, artifact, message), (isRemoved) =>
          isRemoved ? Effect.void : noSuchArtifact
        )
      )
  })
})

/** What is asked, at which place; without content the question that is there. */
interface Plan {
  readonly position: number
  readonly content: string | undefined
  readonly images: ReadonlyArray<string>
  readonly settings: AnswerSettings
}

/** Only the last question, and the answer to it, can be written anew. */
const lastOf = (
  written: ReadonlyArray<Message>,
  id: MessageId,
  role: Message["role"]
): Effect.Effect<Message, NotFound | InvalidRequest> => {
  const current = written.filter(({ isCurrent }) => isCurrent)
  const found = current.find((message) => message.id === id)
  if (found === undefined) return noSuchMessage
  const last = role === "assistant" ? current.length - 1 : current.length - 2
  return found.role === role && found.position === last ? Effect.succeed(found) : notLast
}

const untitled = "New conversation"
const defaultSettings: AnswerSettings = { model: "auto", artifacts: true }

const noSuchConversation = new NotFound({ message: "There is no such conversation." })
const noSuchMessage = new NotFound({ message: "There is no such message." })
const noSuchArtifact = new NotFound({ message: "There is no such artifact, or no such version of it." })
const noSuchImage = new NotFound({ message: "There is no such image." })
const isRunning = new ConversationRunning({ message: "An answer of this conversation is still being written." })
const tooManyTurns = new RateLimited({
  code: "rate_limit_exceeded",
  message: `${maxTurns} answers are being written for you: wait for one of them, or stop it.`,
  retryAfterMillis: 2_000
})
const tooManyMessages = new InvalidRequest({
  code: "invalid_value",
  message: `A conversation has at most ${maxMessages} messages: begin a new one.`,
  param: null
})
const notLast = new InvalidRequest({
  code: "invalid_value",
  message: "Only the last question and its answer can be written anew: make a new conversation from an earlier one.",
  param: "message_id"
})
const notWritten = Effect.dieMessage("a message that was written just now is found")
