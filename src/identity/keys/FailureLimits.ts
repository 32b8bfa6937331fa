import type { TimersShape } from "../../domain/Timers.ts"

/** Failed attempts per address and minute: a key cannot be guessed, the limit bounds the cost of trying. */
const maxFailuresPerMinute = 1_000
const windowMillis = 60_000
const maxAddresses = 10_000

/** Failed authentications by address, in fixed windows of a minute from the first failure. */
export class FailureLimits {
  private readonly windows = new Map<string, Window>()
  private readonly timers: TimersShape

  constructor(timers: TimersShape) {
    this.timers = timers
  }

  /** For how many milliseconds the address is over its limit, or 0. */
  blockedMillis(address: string): number {
    const window = this.windows.get(address)
    if (window === undefined || window.count < maxFailuresPerMinute) return 0
    return Math.max(0, window.endsAtMillis - this.timers.now())
  }

  /** Counts one failure; returns for how many milliseconds the address is over its limit, or 0. */
  count(address: string): number {
    const blockedMillis = this.blockedMillis(address)
    if (blockedMillis > 0) return blockedMillis
    const now = this.timers.now()
    const window = this.windows.get(address)
    if (window !== undefined && now < window.endsAtMillis) {
      window.count += 1
      return 0
    }
    this.windows.delete(address)
    if (this.windows.size >= maxAddresses) this.evictOldest()
    this.windows.set(address, { count: 1, endsAtMillis: now + windowMillis })
    return 0
  }

  /** For an attempt that was counted in advance and did not fail. */
  uncount(address: string): void {
    const window = this.windows.get(address)
    if (window !== undefined && window.count > 0) window.count -= 1
  }

  /** Only one: clearing the map would lift the limit of every address in it. */
  private evictOldest(): void {
    for (const oldest of this.windows.keys()) {
      this.windows.delete(oldest)
      return
    }
  }
}

interface Window {
  count: number
  readonly endsAtMillis: number
}
