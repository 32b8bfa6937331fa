import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { PersonKeyStore } from "../account/keys/PersonKeyStore.ts"
import { Catalog } from "../catalog/Catalog.ts"
import type { CallError } from "../domain/Call.ts"
import { dateAt } from "../domain/Dates.ts"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import type { ConversationId, MessageId } from "../domain/Ids.ts"
import { periodically } from "../domain/Periodic.ts"
import { shutdownCode } from "../domain/ProviderError.ts"
import { whyOf } from "../domain/RootCause.ts"
import { Timers } from "../domain/Timers.ts"
import { CallRunner } from "../gateway/CallRunner.ts"
import { LedgerNode } from "../ledger/LedgerNodeStore.ts"
import { CallTrails } from "../observe/CallTrails.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import { Database } from "../sql/Database.ts"
import { type DescribeFailure, type NewTurn, type Written, writeAnswer } from "./AnswerWriter.ts"
import { Artifacts } from "./Artifacts.ts"
import { Images } from "./Images.ts"
import { LiveTurn } from "./LiveTurn.ts"
import { type Ending, MessageStore } from "./MessageStore.ts"

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

/** Written at least so often while text comes. */
const writeMillis = 500
/** Or when so much of it has come. */
const writeCharacters = 4_096
const sweepEvery = Duration.seconds(5)
/** Of an answer. */
const maxContentCharacters = 1024 * 1024
/** How long the end of an answer is tried to be stored; then the sweep ends it as interrupted. */
const endingSchedule = Schedule.exponential(Duration.millis(100)).pipe(
  Schedule.union(Schedule.spaced(Duration.seconds(2))),
  Schedule.intersect(Schedule.recurs(20))
)

const make = Effect.fnUntraced(function* (describe: DescribeFailure) {
  const calls = yield* CallRunner
  const trails = yield* CallTrails
  const ids = yield* IdGenerator
  const timers = yield* Timers
  const messages = yield* MessageStore
  const artifacts = yield* Artifacts
  const images = yield* Images
  const { mayCall } = yield* PersonKeyStore
  const catalog = yield* Catalog
  /** Also of a model that only the project's own credentials can use. */
  const takesTools = (model: string) => catalog.callerSnapshot().byId.get(model)?.capabilities.tools !== false
  const changes = yield* ChangeNotifications
  const node = yield* LedgerNode
  const { kind } = yield* Database
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

  /** Stores what has come since the last time, again and again. */
  const writing = (turn: LiveTurn): Effect.Effect<never> =>
    Effect.suspend(() => {
      let stored = 0
      return Effect.forever(
        Effect.gen(function* () {
          yield* until(turn, () => lengthOf(turn) > stored)
          yield* Effect.raceFirst(
            Effect.sleep(writeMillis),
            until(turn, () => lengthOf(turn) - stored >= writeCharacters)
          )
          const length = lengthOf(turn)
          const isStopped = yield* Effect.exit(messages.write(turn.answer, turn.progress))
          // what could not be stored is tried again, however much of it there is
          if (Exit.isFailure(isStopped)) return yield* Effect.sleep(writeMillis)
          stored = length
          if (isStopped.value) yield* interruptRunning(turn)
        })
      )
    })

  const program = (turn: LiveTurn, spec: NewTurn): Effect.Effect<void> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const tooLong = yield* Deferred.make<void>()
        const cancel = turn.onChange(() => {
          if (turn.content.length >= maxContentCharacters) Deferred.unsafeDone(tooLong, Exit.void)
        })
        const writer = yield* Effect.forkDaemon(Effect.interruptible(writing(turn)))
        const answer = writeAnswer(
          { calls, trails, ids, describe, artifacts, takesTools, imagesOf: images.dataUrls, mayCall },
          turn,
          spec
        )
        const cut = Effect.as(Deferred.await(tooLong), { _tag: "Cut" } as const)
        const exit = yield* Effect.exit(restore(Effect.raceFirst(answer, cut)))
        cancel()
        yield* Fiber.interrupt(writer)
        turn.close()
        yield* stored(turn, endingOf(turn, exit))
        if (live.get(turn.answer.conversationId) === turn) live.delete(turn.answer.conversationId)
        turn.end()
      })
    )

  const stored = (turn: LiveTurn, ending: Ending): Effect.Effect<void> =>
    Effect.suspend(() => messages.end(turn.answer, ending, dateAt(timers.now()))).pipe(
      Effect.retry(endingSchedule),
      // also of a defect: an answer that never ended here could neither be stopped nor be swept
      Effect.catchAllCause((cause) =>
        Effect.annotateLogs(Effect.logError("the end of an answer could not be stored"), {
          reason: whyOf(Cause.squash(cause))
        })
      )
    )

  const stop = (conversation: ConversationId): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      const turn = live.get(conversation)
      if (turn === undefined) return Effect.succeed(false)
      return Effect.as(
        Effect.zipRight(
          interruptRunning(turn),
          until(turn, () => turn.isEnded)
        ),
        true
      )
    })

  const sweep: Effect.Effect<void, StoreUnavailable> = Effect.asVoid(
    Effect.suspend(() =>
      messages.interrupt(
        node.id,
        [...live.values()].map(({ answer }) => answer.id),
        kind === "embedded"
      )
    )
  )
  yield* periodically(sweepEvery, "answers that nobody writes any more could not be ended", sweep)

  // a person has asked another process to stop it; a notification that is missed is made up for by the next write
  const runStop = yield* FiberMap.makeRuntime<never, ConversationId>()
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      changes.onChange((change) => {
        if (change?.kind !== "chat_stop") return
        const turn = [...live.values()].find(({ answer }) => answer.conversationId === change.id)
        if (turn !== undefined) runStop(turn.answer.conversationId, interruptRunning(turn))
      })
    ),
    (cancel) => Effect.sync(cancel)
  )

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
    stop
  })
})

/** How much text there is to be stored. */
const lengthOf = ({ content, reasoning }: LiveTurn): number => content.length + reasoning.length

const until = (turn: LiveTurn, condition: () => boolean): Effect.Effect<void> =>
  Effect.async((resume) => {
    if (condition()) return resume(Effect.void)
    const cancel = turn.onChange(() => {
      if (!condition()) return
      cancel()
      resume(Effect.void)
    })
    return Effect.sync(cancel)
  })

const endingOf = (turn: LiveTurn, exit: Exit.Exit<Written | { readonly _tag: "Cut" }>): Ending => {
  const ending = (status: Ending["status"], error: CallError | null = null): Ending => ({
    ...turn.progress,
    status,
    finishReason: status === "complete" ? turn.finishReason : null,
    error
  })
  if (Exit.isFailure(exit)) {
    if (!Cause.isInterruptedOnly(exit.cause)) return ending("failed", internalError)
    return ending(turn.isStopRequested ? "stopped" : "interrupted")
  }
  switch (exit.value._tag) {
    case "Complete":
      return ending("complete")
    case "Cut":
      return { ...ending("complete"), finishReason: "length" }
    case "Failed":
      return exit.value.error.code === shutdownCode ? ending("interrupted") : ending("failed", exit.value.error)
  }
}

const internalError: CallError = { code: "internal_error", message: "The gateway failed unexpectedly." }
