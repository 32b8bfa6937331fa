import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RateLimited } from "../../domain/GatewayError.ts"
import type { UserId } from "../../domain/Ids.ts"

export interface ReportPaceShape {
  /**
   * Runs the report of a person after those that they asked for before, and later when they have asked for many. With
   * `maxWaiting` of them the next one is refused.
   */
  readonly run: <A, E, R>(user: UserId, report: Effect.Effect<A, E, R>) => Effect.Effect<A, E | RateLimited, R>
}

/**
 * Keeps reports from slowing calls, which share the database and this process: one at a time for each person, and of what a
 * person asks for without a pause only so much that the database is idle of it most of the time.
 */
export class ReportPace extends Context.Tag("gateway/account/ReportPace")<ReportPace, ReportPaceShape>() {
  static readonly layer: Layer.Layer<ReportPace> = Layer.sync(this, () => makePace("reports"))
}

/** A pace of its own, for other things that people ask for; `what` names them in the error. */
export const makePace = (what: string): ReportPaceShape => {
  const paces = new Map<UserId, Pace>()
  const tooMany = tooManyOf(what)
  return { run: (user, report) => Effect.suspend(() => runPaced(paces, user, report, tooMany)) }
}

interface Pace {
  readonly turn: Effect.Semaphore
  waiting: number
  /** When the reports so far are paid for. */
  paidAtMillis: number
}

/** A report is paid for after so many times its duration: reports take 2 % of the time at most. */
const pausesPerReport = 49
/** Also a slow report is paid for after a second, so that a page never waits long. */
const maxPauseMillis = 1_000
/** Reports that need not be paid for yet: a person who opens page after page waits for none of them. */
const burstMillis = 30 * maxPauseMillis
export const maxWaiting = 32
/** Above it, those that have nothing left to pay are forgotten. */
const maxPaces = 1_000

const runPaced = <A, E, R>(
  paces: Map<UserId, Pace>,
  user: UserId,
  report: Effect.Effect<A, E, R>,
  tooMany: RateLimited
): Effect.Effect<A, E | RateLimited, R> => {
  const pace = paces.get(user) ?? { turn: Effect.unsafeMakeSemaphore(1), waiting: 0, paidAtMillis: 0 }
  paces.set(user, pace)
  if (pace.waiting >= maxWaiting) return Effect.fail(tooMany)
  pace.waiting += 1
  return Effect.ensuring(
    pace.turn.withPermits(1)(inTurn(pace, report)),
    Effect.map(Clock.currentTimeMillis, (now) => {
      pace.waiting -= 1
      if (paces.size > maxPaces) forgetPaid(paces, now)
    })
  )
}

const inTurn = <A, E, R>(pace: Pace, report: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const arrivedAt = yield* Clock.currentTimeMillis
    yield* Effect.sleep(Duration.millis(Math.max(0, pace.paidAtMillis - burstMillis - arrivedAt)))
    const startedAt = yield* Clock.currentTimeMillis
    return yield* Effect.ensuring(
      report,
      Effect.map(Clock.currentTimeMillis, (now) => {
        const pause = Math.min(maxPauseMillis, (now - startedAt) * pausesPerReport)
        pace.paidAtMillis = Math.max(pace.paidAtMillis, now) + pause
      })
    )
  })

const forgetPaid = (paces: Map<UserId, Pace>, now: number): void => {
  for (const [user, { paidAtMillis, waiting }] of paces) if (waiting === 0 && paidAtMillis <= now) paces.delete(user)
}

const tooManyOf = (what: string) =>
  new RateLimited({
    code: "rate_limit_exceeded",
    message: `${maxWaiting} ${what} of yours are not done yet: wait for them, or ask less often.`,
    retryAfterMillis: maxPauseMillis
  })
