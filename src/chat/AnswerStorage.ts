import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import { dateAt } from "../domain/Dates.ts"
import { whyOf } from "../domain/RootCause.ts"
import type { TimersShape } from "../domain/Timers.ts"
import { type LiveTurn, until } from "./LiveTurn.ts"
import type { Ending, MessageStoreShape } from "./MessageStore.ts"

/** Written at least so often while text comes. */
const writeMillis = 500
/** Or when so much of it has come. */
const writeCharacters = 4_096
/** How long the end of an answer is tried to be stored; then the sweep ends it as interrupted. */
const endingSchedule = Schedule.exponential(Duration.millis(100)).pipe(
  Schedule.union(Schedule.spaced(Duration.seconds(2))),
  Schedule.intersect(Schedule.recurs(20))
)

/** Stores what has come since the last time, again and again; `stop` runs when the store says that the answer is to end. */
export const storeProgress = (
  messages: Pick<MessageStoreShape, "write">,
  turn: LiveTurn,
  stop: Effect.Effect<void>
): Effect.Effect<never> =>
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
        if (isStopped.value) yield* stop
      })
    )
  })

/** How much text there is to be stored. */
const lengthOf = ({ content, reasoning }: LiveTurn): number => content.length + reasoning.length

export const storeEnding = (
  messages: Pick<MessageStoreShape, "end">,
  timers: Pick<TimersShape, "now">,
  turn: LiveTurn,
  ending: Ending
): Effect.Effect<void> =>
  Effect.suspend(() => messages.end(turn.answer, ending, dateAt(timers.now()))).pipe(
    Effect.retry(endingSchedule),
    // also of a defect: an answer that never ended here could neither be stopped nor be swept
    Effect.catchAllCause((cause) =>
      Effect.annotateLogs(Effect.logError("the end of an answer could not be stored"), {
        reason: whyOf(Cause.squash(cause))
      })
    )
  )
