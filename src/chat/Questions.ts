import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { PersonKeys } from "../account/keys/PersonKeys.ts"
import type { NotFound } from "../domain/AccountError.ts"
import { CurrentUser } from "../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConversationId, MessageId } from "../domain/Ids.ts"
import type { Timers } from "../domain/Timers.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import type { EditMessageRequest, RetryMessageRequest, SendMessageRequest } from "../wire/account/Chat.ts"
import type { Artifacts } from "./Artifacts.ts"
import * as BeginTurn from "./BeginTurn.ts"
import { ContentStore } from "./ContentStore.ts"
import { ConversationAccess } from "./ConversationAccess.ts"
import { type Conversation, ConversationStore } from "./ConversationStore.ts"
import type { MessageStore } from "./MessageStore.ts"
import { editPlan, retryPlan, sendPlan } from "./TurnPlan.ts"
import { Turns } from "./Turns.ts"

/** What the current user asks in a conversation, and how an answer is ended. */
export interface QuestionsShape {
  /** Asks; the answer is to be started with the commit. */
  readonly send: (
    id: ConversationId,
    request: SendMessageRequest
  ) => Effect.Effect<BeginTurn.BegunTurn, BeginTurn.TurnRefused, CurrentUser>
  /** Regenerates the last answer. */
  readonly retry: (
    id: ConversationId,
    message: MessageId,
    request: RetryMessageRequest
  ) => Effect.Effect<BeginTurn.BegunTurn, BeginTurn.TurnRefused, CurrentUser>
  /** Asks another question in place of the last one. */
  readonly edit: (
    id: ConversationId,
    message: MessageId,
    request: EditMessageRequest
  ) => Effect.Effect<BeginTurn.BegunTurn, BeginTurn.TurnRefused, CurrentUser>
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

/** How long a stop waits for another process. */
const stopChecks = 40
const stopCheckMillis = 50

const make = Effect.gen(function* () {
  const conversations = yield* ConversationAccess
  const store = yield* ConversationStore
  const turns = yield* Turns
  const contents = yield* ContentStore
  const transactions = yield* AccountTransactions
  const begin = yield* BeginTurn.make

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
    send: (id, request) => begin(id, (written) => Effect.succeed(sendPlan(written, request))),
    retry: (id, message, request) => begin(id, (written) => retryPlan(written, message, request)),
    edit: (id, message, request) =>
      begin(id, (written) =>
        Effect.gen(function* () {
          const plan = yield* editPlan(written, message, request)
          return { ...plan, images: request.image_ids ?? (yield* imagesOf(id, message)) }
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
