import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { RateLimited } from "../../domain/GatewayError.ts"
import type { UserId } from "../../domain/Ids.ts"

export interface PaceShape {
  /**
   * Runs what a person asks for after what they asked for before, and later when they have asked for much. With `maxWaiting` of
   * them the next one is refused.
   */
  readonly run: <A, E, R>(user: UserId, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | RateLimited, R>
}

/** One at a time for each person; `what` names, in the error, what is paced. */
export const makePace = (what: string): PaceShape => {
  const paces = new Map<UserId, Pace>()
  const tooMany = tooManyOf(what)
  return { run: (user, effect) => Effect.suspend(() => runPaced(paces, user, effect, tooMany)) }
}

interface Pace {
  readonly turn: Effect.Semaphore
  waiting: number
  /** When what has run so far is paid for. */
  paidAtMillis: number
}

/** An effect is paid for after so many times its duration: what is paced takes 2 % of the time at most. */
const pausesPerRun = 49
/** Also a slow one is paid for after a second, so that a page never waits long. */
const maxPauseMillis = 1_000
/** What need not be paid for yet: a person who opens page after page waits for none of it. */
const burstMillis = 30 * maxPauseMillis
export const maxWaiting = 32
/** Above it, those that have nothing left to pay are forgotten. */
const maxPaces = 1_000

const runPaced = <A, E, R>(
  paces: Map<UserId, Pace>,
  user: UserId,
  effect: Effect.Effect<A, E, R>,
  tooMany: RateLimited
): Effect.Effect<A, E | RateLimited, R> => {
  const pace = paces.get(user) ?? { turn: Effect.unsafeMakeSemaphore(1), waiting: 0, paidAtMillis: 0 }
  paces.set(user, pace)
  if (pace.waiting >= maxWaiting) return Effect.fail(tooMany)
  pace.waiting += 1
  return Effect.ensuring(
    pace.turn.withPermits(1)(inTurn(pace, effect)),
    Effect.map(Clock.currentTimeMillis, (now) => {
      pace.waiting -= 1
      if (paces.size > maxPaces) forgetPaid(paces, now)
    })
  )
}

const inTurn = <A, E, R>(pace: Pace, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const arrivedAt = yield* Clock.currentTimeMillis
    yield* Effect.sleep(Duration.millis(Math.max(0, pace.paidAtMillis - burstMillis - arrivedAt)))
    const startedAt = yield* Clock.currentTimeMillis
    return yield* Effect.ensuring(
      effect,
      Effect.map(Clock.currentTimeMillis, (now) => {
        const pause = Math.min(maxPauseMillis, (now - startedAt) * pausesPerRun)
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
    message: `${maxWaiting} of your ${what} are still pending: wait for them, or send fewer requests.`,
    retryAfterMillis: maxPauseMillis
  })
