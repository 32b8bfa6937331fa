import { it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { expect } from "vitest"
import type { Conversation } from "../../src/chat/ConversationStore.ts"
import { Conversations } from "../../src/chat/Conversations.ts"
import { Following } from "../../src/chat/Following.ts"
import { type Message, MessageStore } from "../../src/chat/MessageStore.ts"
import { Turns } from "../../src/chat/Turns.ts"
import { CurrentUser } from "../../src/domain/CurrentUser.ts"
import { AccountId, ConversationId, MessageId, ProjectId, RequestId, UserId } from "../../src/domain/Ids.ts"
import { ChangeNotifications } from "../../src/sql/ChangeNotifications.ts"

const idOf = (at: number) => `00000000-0000-7000-8000-${String(at).padStart(12, "0")}`
const user = {
  userId: UserId.make(idOf(1)),
  accountId: AccountId.make(idOf(2)),
  isOperator: false,
  sessionId: null,
  transport: "bearer",
  address: "127.0.0.1",
  requestId: RequestId.make(idOf(3))
} as const
const message: Message = {
  id: MessageId.make(idOf(4)),
  conversationId: ConversationId.make(idOf(5)),
  position: 1,
  version: 1,
  isCurrent: true,
  role: "assistant",
  status: "streaming",
  content: "half",
  reasoning: "",
  settings: null,
  steps: [],
  modelRequested: null,
  modelUsed: null,
  requestIds: [],
  finishReason: null,
  errorCode: null,
  errorMessage: null,
  costMicroUsd: 0,
  costBasis: "charged",
  createdAt: new Date(0)
}
const conversation: Conversation = {
  id: message.conversationId,
  userId: user.userId,
  projectId: ProjectId.make(idOf(6)),
  title: "t",
  titleSource: "none",
  turnId: message.id,
  nodeId: idOf(7),
  stopRequested: false,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  deletedAt: null
}

/** Follows an answer that another process writes, from all of its first text on; what is received, with the second of it. */
const followedElsewhere = (textAt: (second: number) => string, seconds: number) =>
  Effect.gen(function* () {
    const { follow } = yield* Following
    const received: Array<readonly [second: number, tag: string]> = []
    const reading = follow(conversation.id, { message: message.id, offset: message.content.length }).pipe(
      Stream.runForEach(({ _tag }) =>
        Effect.map(Clock.currentTimeMillis, (now) => received.push([Math.floor(now / 1_000), _tag]))
      )
    )
    yield* Effect.fork(reading)
    for (let second = 0; second < seconds; second += 1) yield* TestClock.adjust("1 seconds")
    return received
  }).pipe(
    Effect.provide(
      Following.layer.pipe(
        Layer.provide(
          Layer.mergeAll(
            Layer.mock(ChangeNotifications, {
              commitOn: () => () => Effect.dieMessage("nothing is written"),
              onChange: () => () => {},
              heardAtMillis: () => Number.NEGATIVE_INFINITY
            }),
            Layer.mock(Conversations, { find: () => Effect.succeed(conversation) }),
            Layer.mock(MessageStore, {
              find: () =>
                Effect.map(Clock.currentTimeMillis, (now) => ({ ...message, content: textAt(Math.floor(now / 1_000)) }))
            }),
            Layer.mock(Turns, { node: idOf(8), running: () => undefined })
          )
        )
      )
    ),
    Effect.provideService(CurrentUser, user)
  )

it.effect("who follows an answer of another process that is silent hears of it every 15 s", () =>
  Effect.gen(function* () {
    expect(yield* followedElsewhere(() => message.content, 40)).toEqual([
      [15, "Silence"],
      [30, "Silence"]
    ])
  })
)

it.effect("who follows an answer of another process hears of a silence only since the last text", () =>
  Effect.gen(function* () {
    const grown = (second: number) => (second < 10 ? message.content : `${message.content} and more`)
    expect(yield* followedElsewhere(grown, 30)).toEqual([
      [10, "Part"],
      [25, "Silence"]
    ])
  })
)
