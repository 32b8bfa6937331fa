import type { TimersShape } from "../domain/Timers.ts"

/** Failed attempts an address may make in a minute: guessing a key is hopeless anyway, the limit keeps it cheap. */
const maxFailuresPerMinute = 1_000
const windowMillis = 60_000
const maxAddresses = 10_000

/** Attempts to authenticate that have failed, by address: fixed windows of a minute from the first failure. */
export class Failures {
  private readonly windows = new Map<string, Window>()
  private readonly timers: TimersShape

  constructor(timers: TimersShape) {
    this.timers = timers
  }

  /** Counts one; above 0, the address is over its limit for so many milliseconds. */
  count(address: string): number {
    const now = this.timers.now()
    const window = this.windows.get(address)
    if (window !== undefined && now < window.endsAtMillis) {
      if (window.count >= maxFailuresPerMinute) return window.endsAtMillis - now
      window.count += 1
      return 0
    }
    this.windows.delete(address)
    if (this.windows.size >= maxAddresses) this.evictOldest()
    this.windows.set(address, { count: 1, endsAtMillis: now + windowMillis })
    return 0
  }

  /** For an attempt that was counted before its outcome was known and did not fail. */
  takeBack(address: string): void {
    const window = this.windows.get(address)
    if (window !== undefined && window.count > 0) window.count -= 1
  }

  /** One alone: to clear the map would lift the limit from every address in it. */
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
