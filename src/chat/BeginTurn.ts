import * as Effect from "effect/Effect"
import { PersonKeys } from "../account/keys/PersonKeys.ts"
import { type ConversationRunning, NotFound, type RoleRequired } from "../domain/AccountError.ts"
import type { CallerShape } from "../domain/Caller.ts"
import { CurrentUser } from "../domain/CurrentUser.ts"
import { dateAt } from "../domain/Dates.ts"
import { type InvalidRequest, RateLimited, type StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { type ConversationId, MessageId, type UserId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type { NewTurn } from "./AnswerWriter.ts"
import { Artifacts, type ArtifactsShape } from "./Artifacts.ts"
import { ContentStore, type ContentStoreShape } from "./ContentStore.ts"
import { ConversationAccess, isRunning } from "./ConversationAccess.ts"
import { ConversationStore } from "./ConversationStore.ts"
import { type Message, MessageStore, type MessageStoreShape } from "./MessageStore.ts"
import type { Attachments } from "./Records.ts"
import { titleOf } from "./Title.ts"
import { requireRoom, type TurnPlan } from "./TurnPlan.ts"
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

export type TurnRefused =
  | NotFound
  | RoleRequired
  | StoreUnavailable
  | ConversationRunning
  | InvalidRequest
  | RateLimited

/** `decide` sees all that is written, and nobody else writes before the end of the transaction. */
type BeginTurn = (
  id: ConversationId,
  decide: (written: ReadonlyArray<Message>) => Effect.Effect<TurnPlan, NotFound | InvalidRequest | StoreUnavailable>
) => Effect.Effect<BegunTurn, TurnRefused, CurrentUser>

/** Answers that are written for a person at the same time. */
const maxTurns = 4

/** Writes the question, if it is a new one, and the beginning of its answer. */
export const make: Effect.Effect<
  BeginTurn,
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
> = Effect.gen(function* () {
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

  return (id, decide) =>
    Effect.gen(function* () {
      const { projectId } = yield* conversations.find(id)
      return yield* transactions.commit(() =>
        Effect.gen(function* () {
          const { userId } = yield* CurrentUser
          const running = yield* store.lockRunning(userId)
          // with the role that it needs; it locks the project, as others do before a conversation
          const caller = yield* keys.callerIn(projectId)
          const conversation = yield* conversations.lock(id)
          const written = yield* messages.list(id)
          const plan = yield* decide(written)
          yield* requireRoom(written, plan.content)
          yield* takeImages(contents, userId, plan.images, now())
          if (running >= maxTurns) return yield* tooManyTurns
          const [questionId, answerId] = [MessageId.make(ids.uuid()), MessageId.make(ids.uuid())]
          if (!(yield* store.beginTurn(id, answerId, turns.node, now()))) return yield* isRunning
          yield* write({ messages, contents }, { conversationId: id, questionId, answerId }, written, plan, now)
          // a blank question leaves the title to the next one
          const title = titleOf(plan.content ?? "")
          if (conversation.titleSource === "none" && title !== "") yield* store.rename(id, title, "question", now())
          const asked = { message_id: answerId, model: plan.settings.model }
          yield* conversations.record("conversation.ask", conversation, asked)
          return yield* begunTurn({ messages, artifacts }, id, plan, caller)
        })
      )
    })
})

const takeImages = (
  contents: Pick<ContentStoreShape, "takeImages">,
  user: UserId,
  images: ReadonlyArray<string>,
  at: Date
) =>
  Effect.gen(function* () {
    const taken = images.length === 0 ? 0 : yield* contents.takeImages(user, images, at)
    if (images.length !== new Set(images).size || taken < images.length) return yield* noSuchImage
  })

interface TurnIds {
  readonly conversationId: ConversationId
  readonly questionId: MessageId
  readonly answerId: MessageId
}

/** In place of what is current at the position and after it. */
const write = (
  { contents, messages }: { readonly messages: MessageStoreShape; readonly contents: ContentStoreShape },
  { answerId, conversationId, questionId }: TurnIds,
  written: ReadonlyArray<Message>,
  { content, images, position, settings }: TurnPlan,
  now: () => Date
) =>
  Effect.gen(function* () {
    const place = (at: number) => ({
      conversationId,
      position: at,
      version: written.filter((message) => message.position === at).length + 1
    })
    yield* messages.supersede(conversationId, content === undefined ? [position + 1] : [position, position + 1])
    if (content !== undefined) {
      const asked = { role: "user", status: "complete", content, settings: null, modelRequested: null } as const
      yield* messages.insert({ ...place(position), ...asked, id: questionId }, now())
      if (images.length > 0) yield* contents.attach(questionId, images)
    }
    const begun = { role: "assistant", status: "streaming", content: "", modelRequested: settings.model } as const
    yield* messages.insert({ ...place(position + 1), ...begun, id: answerId, settings }, now())
  })

const begunTurn = (
  { artifacts, messages }: { readonly messages: MessageStoreShape; readonly artifacts: ArtifactsShape },
  id: ConversationId,
  { position, settings }: TurnPlan,
  caller: CallerShape
) =>
  Effect.gen(function* () {
    const all = yield* messages.list(id)
    const current = all.filter(({ isCurrent }) => isCurrent)
    const [question, answer] = [current[position], current[position + 1]]
    if (question === undefined || answer === undefined) return yield* notWritten
    const versionsAt = (at: number) => all.filter((one) => one.position === at && !one.isCurrent)
    return {
      question,
      questionVersions: versionsAt(position),
      answer,
      answerVersions: versionsAt(position + 1),
      attachments: yield* artifacts.attachmentsOf(id),
      turn: { answer, caller, settings, history: current.slice(0, position + 1) }
    } satisfies BegunTurn
  })

const noSuchImage = new NotFound({ message: "Image not found." })
const tooManyTurns = new RateLimited({
  code: "rate_limit_exceeded",
  message: `${maxTurns} of your answers are still being generated: wait for one of them, or stop it.`,
  retryAfterMillis: 2_000
})
const notWritten = Effect.dieMessage("a message that was written just now is found")
