import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { NotFound } from "../domain/AccountError.ts"
import type { CurrentUser } from "../domain/CurrentUser.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { ConversationId, MessageId } from "../domain/Ids.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import type { ChatMessageOut, ConversationDetailOut, ConversationOut } from "../wire/account/Chat.ts"
import { Conversations } from "./Conversations.ts"
import { endOf, type Part, type ReadPosition, readFrom, type TurnView, unread } from "./LiveTurn.ts"
import { type Message, MessageStore } from "./MessageStore.ts"
import { Turns } from "./Turns.ts"

/** What a reader who follows a conversation receives. */
export type ChatEvent =
  /** Replaces everything that was known. */
  | { readonly _tag: "Snapshot"; readonly conversation: ConversationDetailOut; readonly cursor: TurnCursor | undefined }
  /** Something new of the answer; the cursor is the one after it. */
  | { readonly _tag: "Part"; readonly message: MessageId; readonly part: Part; readonly cursor: TurnCursor }
  /** The answer has ended. */
  | { readonly _tag: "Message"; readonly message: ChatMessageOut }
  | { readonly _tag: "Conversation"; readonly conversation: ConversationOut }
  /** Nothing has happened for a while. */
  | { readonly _tag: "Silence" }

/** A place in the text of an answer, in UTF-16 units. */
export interface TurnCursor {
  readonly message: MessageId
  readonly offset: number
}

export interface FollowingShape {
  /**
   * A conversation from now on, until nothing is written in it any more. From a cursor of the answer that is being written only
   * what comes after it; otherwise all that there is comes first. Any number may follow, on any process.
   */
  readonly follow: (
    conversation: ConversationId,
    cursor: TurnCursor | undefined
  ) => Stream.Stream<ChatEvent, NotFound | StoreUnavailable, CurrentUser>
}

/** Brings what is written in conversations to those who read it. */
export class Following extends Context.Tag("gateway/chat/Following")<Following, FollowingShape>() {
  static readonly layer: Layer.Layer<Following, never, ChangeNotifications | Conversations | MessageStore | Turns> =
    Layer.effect(
      this,
      Effect.suspend(() => make)
    )
}

/** Minimum time between two updates of a reader. */
const frameMillis = 33
/** How often another process's answer is read where no notification comes. */
const pollMillis = 500
const silenceMillis = 15_000

type State =
  | { readonly _tag: "Begin"; readonly cursor: TurnCursor | undefined }
  | { readonly _tag: "Here"; readonly turn: TurnView & Watched; readonly position: ReadPosition }
  | Elsewhere
  | { readonly _tag: "Ended"; readonly message: MessageId }

interface Elsewhere {
  readonly _tag: "Elsewhere"
  readonly message: MessageId
  readonly position: ReadPosition
  /** When the reader was last sent something. */
  readonly sentAtMillis: number
}

interface Watched {
  readonly onChange: (listener: () => void) => () => void
}

type Step = readonly [ReadonlyArray<ChatEvent>, Option.Option<State>]

const make = Effect.gen(function* () {
  const conversations = yield* Conversations
  const messages = yield* MessageStore
  const turns = yield* Turns
  const changes = yield* ChangeNotifications

  const begin = (id: ConversationId, cursor: TurnCursor | undefined) =>
    Effect.gen(function* (): Effect.fn.Return<Step, NotFound | StoreUnavailable, CurrentUser> {
      const found = yield* conversations.find(id)
      const known = turns.running(id)
      if (cursor !== undefined && known !== undefined && isWithin(known, cursor)) {
        return [[], Option.some({ _tag: "Here", turn: known, position: { ...unread, content: cursor.offset } })]
      }
      if (cursor !== undefined && known === undefined && found.turnId === cursor.message) {
        const row = yield* messages.find(cursor.message)
        if (row !== undefined && isWithin(viewOf(row), cursor)) {
          const sentAtMillis = yield* Clock.currentTimeMillis
          const position = { ...unread, content: cursor.offset }
          return [[], Option.some({ _tag: "Elsewhere", message: row.id, position, sentAtMillis })]
        }
      }
      const detail = yield* conversations.read(id)
      // between the database's answer and this nothing else runs: text and position are of the same moment
      const turn = turns.running(id)
      if (turn !== undefined && detail.messages.some((message) => message.id === turn.answer.id)) {
        const { content, reasoning } = endOf(turn)
        const snapshot = { ...detail, running: true, messages: detail.messages.map((one) => withText(one, turn)) }
        return [
          [{ _tag: "Snapshot", conversation: snapshot, cursor: { message: turn.answer.id, offset: content } }],
          // attempts and drafts are in no snapshot
          Option.some({ _tag: "Here", turn, position: { ...unread, content, reasoning } })
        ]
      }
      const last = detail.messages.at(-1)
      if (!detail.running || last?.status !== "streaming") {
        return [[{ _tag: "Snapshot", conversation: detail, cursor: undefined }], Option.none()]
      }
      const message = last.id as MessageId
      return [
        [{ _tag: "Snapshot", conversation: detail, cursor: { message, offset: last.content.length } }],
        Option.some({
          _tag: "Elsewhere",
          message,
          position: { ...unread, content: last.content.length, reasoning: last.reasoning.length },
          sentAtMillis: yield* Clock.currentTimeMillis
        })
      ]
    })

  const here = (turn: TurnView & Watched, before: ReadPosition): Effect.Effect<Step> =>
    Effect.gen(function* () {
      const hasNews = () => turn.isEnded || !isSame(endOf(turn), before)
      yield* Effect.sleep(frameMillis)
      if (!(yield* awaitChange(turn.onChange, hasNews, silenceMillis))) {
        return [[silence], Option.some({ _tag: "Here", turn, position: before })]
      }
      const { isEnded } = turn
      const { events, position } = news(turn, before)
      return [
        events,
        Option.some<State>(isEnded ? { _tag: "Ended", message: turn.answer.id } : { _tag: "Here", turn, position })
      ]
    })

  const elsewhere = (id: ConversationId, before: Elsewhere) =>
    Effect.gen(function* (): Effect.fn.Return<Step, StoreUnavailable> {
      let isHeard = false
      const onNotification = (listener: () => void) =>
        changes.onChange((change) => {
          if (change !== undefined && change.id !== id) return
          isHeard = true
          listener()
        })
      yield* awaitChange(onNotification, () => isHeard, pollMillis)
      const { message } = before
      const row = yield* messages.find(message)
      if (row === undefined) return [[], Option.none()]
      const view = viewOf(row)
      const { events, position } = news(view, before.position)
      if (view.isEnded) return [events, Option.some({ _tag: "Ended", message })]
      const now = yield* Clock.currentTimeMillis
      const isSilent = events.length === 0 && now - before.sentAtMillis >= silenceMillis
      const sent = isSilent ? [silence] : events
      const sentAtMillis = sent.length === 0 ? before.sentAtMillis : now
      return [sent, Option.some({ _tag: "Elsewhere", message, position, sentAtMillis })]
    })

  /** As it is stored; another answer may have been begun meanwhile. */
  const end = (id: ConversationId, message: MessageId) =>
    Effect.gen(function* (): Effect.fn.Return<Step, NotFound | StoreUnavailable, CurrentUser> {
      const { artifacts: _, messages: written, ...conversation } = yield* conversations.read(id)
      const found = written.find((one) => one.id === message)
      const events: ReadonlyArray<ChatEvent> = [
        ...(found === undefined ? [] : [{ _tag: "Message", message: found } as const]),
        { _tag: "Conversation", conversation }
      ]
      return [events, conversation.running ? Option.some({ _tag: "Begin", cursor: undefined }) : Option.none()]
    })

  return Following.of({
    follow: (id, cursor) =>
      Stream.paginateChunkEffect({ _tag: "Begin", cursor } as State, (state) => {
        const step: Effect.Effect<Step, NotFound | StoreUnavailable, CurrentUser> =
          state._tag === "Begin"
            ? begin(id, state.cursor)
            : state._tag === "Here"
              ? here(state.turn, state.position)
              : state._tag === "Elsewhere"
                ? elsewhere(id, state)
                : end(id, state.message)
        return Effect.map(step, ([events, next]) => [Chunk.fromIterable(events), next] as const)
      })
  })
})

const silence = { _tag: "Silence" } as const

const isWithin = ({ answer, content }: Pick<TurnView, "answer" | "content">, cursor: TurnCursor): boolean =>
  answer.id === cursor.message && cursor.offset <= content.length

const withText = (message: ChatMessageOut, { answer, content, reasoning }: TurnView): ChatMessageOut =>
  message.id === answer.id ? { ...message, content, reasoning } : message

/** What another process writes, as far as it is stored. */
const viewOf = (row: Message): TurnView => ({
  answer: row,
  content: row.content,
  reasoning: row.reasoning,
  notices: [],
  drafts: [],
  isEnded: row.status !== "streaming"
})

const news = (view: TurnView, before: ReadPosition) => {
  const { parts, position } = readFrom(view, before)
  const message = view.answer.id
  // reasoning comes before the text that it leads to: only the text moves the cursor
  let offset = before.content
  const events = parts.map((part): ChatEvent => {
    if (part._tag === "Delta") offset = position.content
    return { _tag: "Part", message, part, cursor: { message, offset } }
  })
  return { events, position }
}

const isSame = (a: ReadPosition, b: ReadPosition): boolean =>
  a.content === b.content &&
  a.reasoning === b.reasoning &&
  a.notices === b.notices &&
  a.drafts.every((length, index) => length === (b.drafts[index] ?? 0))

/** False where nothing fits for so long. */
const awaitChange = (
  watch: (listener: () => void) => () => void,
  fits: () => boolean,
  millis: number
): Effect.Effect<boolean> =>
  Effect.raceFirst(
    Effect.async<boolean>((resume) => {
      if (fits()) return resume(Effect.succeed(true))
      const cancel = watch(() => {
        if (!fits()) return
        cancel()
        resume(Effect.succeed(true))
      })
      return Effect.sync(cancel)
    }),
    Effect.as(Effect.sleep(millis), false)
  )
