import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import { RateLimited, Unauthenticated } from "../../domain/GatewayError.ts"
import { paced } from "../../domain/PacedLog.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import { clientNetworkOf } from "./ClientNetwork.ts"

/** Failed attempts per client and minute: a key cannot be guessed, the limit bounds the cost of trying. */
const maxFailuresPerMinute = 1_000
const windowMillis = 60_000
const maxClients = 10_000

/** What an address has sent none of that is valid. */
type Credential = "API key" | "identity"

/** Failed authentications by the client that an address stands for, in fixed windows of a minute from the first failure. */
export class FailureLimits {
  private readonly windows = new Map<string, Window>()
  private readonly timers: TimersShape
  private readonly credential: Credential
  private readonly reached: (client: string) => void

  /** `reached` hears of each client that comes to its limit, once in its window. */
  constructor(timers: TimersShape, credential: Credential, reached: (client: string) => void = () => {}) {
    this.timers = timers
    this.credential = credential
    this.reached = reached
  }

  /** Runs an attempt, and counts it where it fails with `Unauthenticated`: beforehand, so that concurrent ones do not exceed the limit. */
  guard<A, E, R>(address: string, attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E | RateLimited, R> {
    return Effect.suspend((): Effect.Effect<A, E | RateLimited, R> => {
      const error = this.fail(address)
      if (error !== undefined) return Effect.fail(error)
      // whoever leaves before the answer has not failed either
      return Effect.onExit(attempt, (exit) =>
        isUnauthenticated(exit) ? Effect.void : Effect.sync(() => this.uncount(address))
      )
    })
  }

  /** The error of a client that is over its limit. */
  blocked(address: string): RateLimited | undefined {
    return this.errorOf(this.blockedMillis(address))
  }

  /** Counts one failure; the error of a client that is over its limit. */
  fail(address: string): RateLimited | undefined {
    return this.errorOf(this.count(address))
  }

  /** For how many milliseconds the client is over its limit, or 0. */
  blockedMillis(address: string): number {
    return this.windows.size === 0 ? 0 : this.blockedMillisOf(clientNetworkOf(address))
  }

  /** Counts one failure; returns for how many milliseconds the client is over its limit, or 0. */
  count(address: string): number {
    const client = clientNetworkOf(address)
    const blockedMillis = this.blockedMillisOf(client)
    if (blockedMillis > 0) return blockedMillis
    const now = this.timers.now()
    const window = this.windows.get(client)
    if (window !== undefined && now < window.endsAtMillis) {
      window.count += 1
      if (window.count === maxFailuresPerMinute) this.reached(client)
      return 0
    }
    this.windows.delete(client)
    if (this.windows.size >= maxClients) this.evictOldest()
    this.windows.set(client, { count: 1, endsAtMillis: now + windowMillis })
    return 0
  }

  /** For an attempt that was counted in advance and did not fail. */
  uncount(address: string): void {
    const window = this.windows.get(clientNetworkOf(address))
    if (window !== undefined && window.count > 0) window.count -= 1
  }

  private errorOf(blockedMillis: number): RateLimited | undefined {
    if (blockedMillis === 0) return undefined
    return new RateLimited({
      code: "rate_limit_exceeded",
      message: `Too many requests without a valid ${this.credential} came from this address.`,
      retryAfterMillis: blockedMillis
    })
  }

  private blockedMillisOf(client: string): number {
    const window = this.windows.get(client)
    if (window === undefined || window.count < maxFailuresPerMinute) return 0
    return Math.max(0, window.endsAtMillis - this.timers.now())
  }

  /** Only one: clearing the map would lift the limit of every client in it. */
  private evictOldest(): void {
    for (const oldest of this.windows.keys()) {
      this.windows.delete(oldest)
      return
    }
  }
}

/** With a line in the log, one a minute, where an address reaches its limit: that of a proxy stands for everybody behind it. */
export const loggedLimits = (timers: TimersShape, credential: Credential): Effect.Effect<FailureLimits> =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    const fork = Runtime.runFork(runtime)
    const pace = paced(timers, windowMillis)
    const line = Effect.logWarning(
      `an address has sent ${maxFailuresPerMinute} requests without a valid ${credential} within a minute: more of them get 429 until it is over`
    )
    return new FailureLimits(timers, credential, (address) => void fork(pace(Effect.annotateLogs(line, { address }))))
  })

interface Window {
  count: number
  readonly endsAtMillis: number
}

const isUnauthenticated = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Option.exists(Cause.failureOption(exit.cause), (error) => error instanceof Unauthenticated)
