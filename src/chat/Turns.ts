import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { PersonKeyStore } from "../account/keys/PersonKeyStore.ts"
import { Catalog } from "../catalog/Catalog.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConversationId, MessageId } from "../domain/Ids.ts"
import { periodically } from "../domain/Periodic.ts"
import { Timers } from "../domain/Timers.ts"
import { CallRunner } from "../gateway/CallRunner.ts"
import { LedgerNode } from "../ledger/LedgerNodeStore.ts"
import { CallTrails } from "../observe/CallTrails.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import { Database } from "../sql/Database.ts"
import { endingOf } from "./AnswerEnding.ts"
import { storeEnding, storeProgress } from "./AnswerStorage.ts"
import { type AnswerDeps, type DescribeFailure, type NewTurn, writeAnswer } from "./AnswerWriter.ts"
import { Artifacts } from "./Artifacts.ts"
import { Images } from "./Images.ts"
import { LiveTurn, until } from "./LiveTurn.ts"
import { MessageStore } from "./MessageStore.ts"

export interface TurnsShape {
  /** The id of this process, which writes the answers that are started here. */
  readonly node: string
  /** Begins to write; `left` is called when that is over. It needs no caller any more: only `stop` and the end of the process end it. */
  readonly start: (turn: NewTurn, left: () => void) => Effect.Effect<void>
  /** What this process writes in a conversation. */
  readonly running: (conversation: ConversationId) => LiveTurn | undefined
  /** Ends what this process writes there, and returns once that is stored. False where it writes nothing. */
  readonly stop: (conversation: ConversationId) => Effect.Effect<boolean>
}

/** The answers that this process writes, each by a fiber of the service: neither a closed page nor a lost connection ends one. */
export class Turns extends Context.Tag("gateway/chat/Turns")<Turns, TurnsShape>() {
  static readonly layer = (
    describe: DescribeFailure
  ): Layer.Layer<
    Turns,
    never,
    | Artifacts
    | CallRunner
    | CallTrails
    | Catalog
    | Images
    | ChangeNotifications
    | Database
    | IdGenerator
    | LedgerNode
    | MessageStore
    | PersonKeyStore
    | Timers
  > => Layer.scoped(this, make(describe))
}

const sweepEvery = Duration.seconds(5)

const make = Effect.fnUntraced(function* (describe: DescribeFailure) {
  const deps = yield* answerDeps(describe)
  const messages = yield* MessageStore
  const timers = yield* Timers
  const node = yield* LedgerNode
  const live = new Map<ConversationId, LiveTurn>()
  const fibers = yield* FiberMap.make<MessageId>()
  const run = yield* FiberMap.runtime(fibers)<never>()

  const interruptRunning = (turn: LiveTurn): Effect.Effect<void> =>
    Effect.suspend(() => {
      turn.isStopRequested = true
      return Option.match(FiberMap.unsafeGet(fibers, turn.answer.id), {
        onNone: () => Effect.void,
        onSome: Fiber.interruptFork
      })
    })

  const program = (turn: LiveTurn, spec: NewTurn): Effect.Effect<void> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const progress = storeProgress(messages, turn, interruptRunning(turn))
        const writer = yield* Effect.forkDaemon(Effect.interruptible(progress))
        const exit = yield* Effect.exit(restore(Effect.raceFirst(writeAnswer(deps, turn, spec), cutOff(turn))))
        yield* Fiber.interrupt(writer)
        turn.close()
        yield* storeEnding(messages, timers, turn, endingOf(turn, exit))
        if (live.get(turn.answer.conversationId) === turn) live.delete(turn.answer.conversationId)
        turn.end()
      })
    )

  yield* sweepPeriodically(() => [...live.values()].map(({ answer }) => answer.id))
  yield* onStopRequested(live, interruptRunning)

  return Turns.of({
    node: node.id,
    start: (spec, left) =>
      Effect.suspend(() => {
        const { conversationId, id } = spec.answer
        const turn = new LiveTurn(spec.answer)
        // another process has ended it: the conversation has one answer at a time
        const before = live.get(conversationId)
        live.set(conversationId, turn)
        run(id, program(turn, spec)).addObserver(left)
        return before === undefined ? Effect.void : interruptRunning(before)
      }),
    running: (conversation) => live.get(conversation),
    stop: (conversation) =>
      Effect.gen(function* () {
        const turn = live.get(conversation)
        if (turn === undefined) return false
        yield* interruptRunning(turn)
        yield* until(turn, () => turn.isEnded)
        return true
      })
  })
})

/** What the writing of answers needs, taken once. */
const answerDeps = Effect.fnUntraced(function* (describe: DescribeFailure) {
  const { mayCall } = yield* PersonKeyStore
  const { dataUrls: imagesOf } = yield* Images
  const catalog = yield* Catalog
  return {
    calls: yield* CallRunner,
    trails: yield* CallTrails,
    ids: yield* IdGenerator,
    artifacts: yield* Artifacts,
    describe,
    imagesOf,
    mayCall,
    // also of a model that only the project's own credentials can use
    takesTools: (model) => catalog.callerSnapshot().byId.get(model)?.capabilities.tools !== false
  } satisfies AnswerDeps
})

/** Once the text of the answer is as long as it may be. */
const cutOff = (turn: LiveTurn) =>
  Effect.as(
    until(turn, () => turn.isFull),
    { _tag: "Cut" } as const
  )

/** Ends the answers that nobody writes any more: all but those that run here or on a node that is heard. */
const sweepPeriodically = Effect.fnUntraced(function* (running: () => ReadonlyArray<MessageId>) {
  const messages = yield* MessageStore
  const node = yield* LedgerNode
  const { kind } = yield* Database
  yield* periodically(
    sweepEvery,
    "answers that nobody writes any more could not be ended",
    Effect.suspend(() => messages.interrupt(node.id, running(), kind === "embedded"))
  )
})

/** A person has asked another process to stop an answer; a notification that is missed is made up for by the next write. */
const onStopRequested = Effect.fnUntraced(function* (
  live: ReadonlyMap<ConversationId, LiveTurn>,
  stop: (turn: LiveTurn) => Effect.Effect<void>
) {
  const changes = yield* ChangeNotifications
  const run = yield* FiberMap.makeRuntime<never, ConversationId>()
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      changes.onChange((change) => {
        if (change?.kind !== "chat_stop") return
        const turn = [...live.values()].find(({ answer }) => answer.conversationId === change.id)
        if (turn !== undefined) run(turn.answer.conversationId, stop(turn))
      })
    ),
    (cancel) => Effect.sync(cancel)
  )
})
