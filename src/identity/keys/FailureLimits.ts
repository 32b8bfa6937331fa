import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { paced } from "../../domain/PacedLog.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import { clientNetworkOf } from "./ClientNetwork.ts"

/** Failed attempts per client and minute: a key cannot be guessed, the limit bounds the cost of trying. */
const maxFailuresPerMinute = 1_000
const windowMillis = 60_000
const maxClients = 10_000

/** Failed authentications by the client that an address stands for, in fixed windows of a minute from the first failure. */
export class FailureLimits {
  private readonly windows = new Map<string, Window>()
  private readonly timers: TimersShape
  private readonly reached: (client: string) => void

  /** `reached` hears of each client that comes to its limit, once in its window. */
  constructor(timers: TimersShape, reached: (client: string) => void = () => {}) {
    this.timers = timers
    this.reached = reached
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
export const loggedLimits = (timers: TimersShape, what: "API key" | "identity"): Effect.Effect<FailureLimits> =>
  Effect.map(Effect.runtime<never>(), (runtime) => {
    const fork = Runtime.runFork(runtime)
    const pace = paced(timers, windowMillis)
    const line = Effect.logWarning(
      `an address has sent ${maxFailuresPerMinute} requests without a valid ${what} within a minute: more of them get 429 until it is over`
    )
    return new FailureLimits(timers, (address) => void fork(pace(Effect.annotateLogs(line, { address }))))
  })

interface Window {
  count: number
  readonly endsAtMillis: number
}
