import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PersonKeys } from "../account/keys/PersonKeys.ts"
import { type ConversationRunning, NotFound, type RoleRequired } from "../domain/AccountError.ts"
import { CurrentUser } from "../domain/CurrentUser.ts"
import { dateAt } from "../domain/Dates.ts"
import { InvalidRequest, RateLimited, type StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { type ConversationId, MessageId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type {
  AnswerSettings,
  EditMessageRequest,
  RetryMessageRequest,
  SendMessageRequest
} from "../wire/account/Chat.ts"
import type { NewTurn } from "./AnswerWriter.ts"
import { Artifacts } from "./Artifacts.ts"
import { ContentStore } from "./ContentStore.ts"
import { ConversationAccess, isRunning, noSuchMessage } from "./ConversationAccess.ts"
import { type Conversation, ConversationStore } from "./ConversationStore.ts"
import { type Message, MessageStore } from "./MessageStore.ts"
import type { Attachments } from "./Records.ts"
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

type TurnRefused = NotFound | RoleRequired | StoreUnavailable | ConversationRunning | InvalidRequest | RateLimited

/** What the current user asks in a conversation, and how an answer is ended. */
export interface QuestionsShape {
  /** Asks; the answer is to be started with the commit. */
  readonly send: (id: ConversationId, request: SendMessageRequest) => Effect.Effect<BegunTurn, TurnRefused, CurrentUser>
  /** Regenerates the last answer. */
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
  /** Asks whichever process writes an answer there to end it; in a transaction, with its commit. */
  readonly requestEnd: (conversation: Conversation) => Effect.Effect<void, StoreUnavailable>
  /** Waits, for a bounded time, until the answer that was written there is over. */
  readonly awaitEnd: (conversation: Conversation) => Effect.Effect<void, StoreUnavailable, CurrentUser>
}

export class Questions extends Context.Tag("gateway/chat/Questions")<Questions, QuestionsShape>() {
  static readonly layer: Layer.Layer<
    Questions,
    never,
    | AccountTransactions
    | Artifacts
    | ContentStore
    | ConversationAccess
    | ConversationStore
    | IdGenerator
    | MessageStore
    | PersonKeys
    | Timers
    | Turns
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

/** Answers that are written for a person at the same time. */
const maxTurns = 4
/** Of a conversation, including earlier versions of messages: it is read at once, for its page and for each of its answers. */
const maxMessages = 2_000
const maxCharacters = 8 * 1024 * 1024
/** How long a stop waits for another process. */
const stopChecks = 40
const stopCheckMillis = 50

const make = Effect.gen(function* () {
  const conversations = yield* ConversationAccess
  const store = yield* ConversationStore
  const messages = yield* MessageStore
  const turns = yield* Turns
  const contents = yield* ContentStore
  const artifacts = yield* Artifacts
  const keys = yield* PersonKeys
  const transactions = yield* AccountTransactions
  const ids = yield* IdGenerator
  const timers = yield* Timers
  const now = () => dateAt(timers.now())

  /** Writes the question, if it is a new one, and the beginning of its answer. */
  const begin = (
    id: ConversationId,
    decide: (written: ReadonlyArray<Message>) => Effect.Effect<Plan, NotFound | InvalidRequest | StoreUnavailable>
  ): Effect.Effect<BegunTurn, TurnRefused, CurrentUser> =>
    Effect.gen(function* () {
      const { projectId } = yield* conversations.find(id)
      const caller = yield* keys.callerIn(projectId)
      return yield* transactions.commit(() =>
        Effect.gen(function* () {
          const { userId } = yield* CurrentUser
          const running = yield* store.lockRunning(userId)
          const conversation = yield* conversations.lock(id)
          const written = yield* messages.list(id)
          const { content, images, position, settings } = yield* decide(written)
          if (written.length + 2 > maxMessages) return yield* tooManyMessages
          const characters = written.reduce((sum, message) => sum + charactersOf(message), content?.length ?? 0)
          if (characters > maxCharacters) return yield* tooManyCharacters
          const taken = images.length === 0 ? 0 : yield* contents.takeImages(userId, images, now())
          if (images.length !== new Set(images).size || taken < images.length) return yield* noSuchImage
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
          yield* conversations.record("conversation.ask", conversation, { message_id: answerId, model: settings.model })
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

  const requestEnd: QuestionsShape["requestEnd"] = ({ id, turnId }) =>
    turnId === null
      ? Effect.void
      : transactions.commit((announce) => Effect.zipRight(store.requestStop(id), announce({ kind: "chat_stop", id })))

  const awaitEnd: QuestionsShape["awaitEnd"] = ({ id, turnId }) =>
    Effect.gen(function* () {
      if (turnId === null || (yield* turns.stop(id))) return
      const { userId } = yield* CurrentUser
      yield* Effect.delay(store.find(id, userId), stopCheckMillis).pipe(
        Effect.repeat({ times: stopChecks, until: (found) => found?.turnId !== turnId })
      )
    })

  return Questions.of({
    send: (id, { content, image_ids, ...settings }) =>
      begin(id, (written) => {
        const position = written.filter(({ isCurrent }) => isCurrent).length
        return Effect.succeed({ position, content, images: image_ids, settings })
      }),
    retry: (id, message, request) =>
      begin(id, (written) =>
        Effect.map(lastOf(written, message, "assistant"), ({ position, settings }) => ({
          position: position - 1,
          content: undefined,
          images: [],
          settings: { ...(settings ?? defaultSettings), ...request }
        }))
      ),
    edit: (id, message, { content, image_ids, ...settings }) =>
      begin(id, (written) =>
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
        const conversation = yield* conversations.find(id)
        if (conversation.turnId === null) return conversation
        if (!(yield* turns.stop(id))) yield* Effect.zipRight(requestEnd(conversation), awaitEnd(conversation))
        yield* conversations.record("conversation.stop", conversation, { message_id: conversation.turnId })
        return yield* conversations.find(id)
      }),
    requestEnd,
    awaitEnd
  })
})

/** What is asked, at which place; without content the question that is there. */
interface Plan {
  readonly position: number
  readonly content: string | undefined
  readonly images: ReadonlyArray<string>
  readonly settings: AnswerSettings
}

/** Only the last question, and the answer to it, can be edited or regenerated. A fork can end with a question that has no answer yet. */
const lastOf = (
  written: ReadonlyArray<Message>,
  id: MessageId,
  role: Message["role"]
): Effect.Effect<Message, NotFound | InvalidRequest> => {
  const current = written.filter(({ isCurrent }) => isCurrent)
  const found = current.find((message) => message.id === id)
  if (found === undefined) return noSuchMessage
  const last = role === "assistant" ? current.length - 1 : current.findLastIndex((message) => message.role === "user")
  return found.role === role && found.position === last ? Effect.succeed(found) : notLast
}

const charactersOf = ({ content, reasoning, steps }: Message): number =>
  steps
    .flatMap(({ calls }) => calls)
    .reduce((sum, call) => sum + call.arguments.length + call.result.length, content.length + reasoning.length)

const defaultSettings: AnswerSettings = { model: "auto", artifacts: true }

const noSuchImage = new NotFound({ message: "Image not found." })
const tooManyTurns = new RateLimited({
  code: "rate_limit_exceeded",
  message: `${maxTurns} of your answers are still being generated: wait for one of them, or stop it.`,
  retryAfterMillis: 2_000
})
const tooManyMessages = new InvalidRequest({
  code: "invalid_value",
  message: `A conversation has at most ${maxMessages} messages, including earlier versions: start a new one.`,
  param: null
})
const tooManyCharacters = new InvalidRequest({
  code: "invalid_value",
  message: `A conversation has at most ${maxCharacters} characters, including earlier versions of messages: start a new one.`,
  param: null
})
const notLast = new InvalidRequest({
  code: "invalid_value",
  message:
    "Only the last question and its answer can be edited or regenerated: fork the conversation at an earlier message.",
  param: "message_id"
})
const notWritten = Effect.dieMessage("a message that was written just now is found")
