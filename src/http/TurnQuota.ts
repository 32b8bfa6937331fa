/** Calls that may be admitted in one turn of the event loop, before anything has been measured. */
const startQuota = 256
const maxQuota = 1_024
/** Fibers of calls that take longer than this in a turn make every other call wait for them several times over. */
const targetMillis = 10
const growth = 1.1
/** At most so much less after one turn: a single long one may be a collection of garbage. */
const minDecrease = 0.5

/**
 * How many calls may be admitted in one turn of the event loop. A call goes through several turns, so that its latency
 * follows their length: on a node that is fully used, turns of any length could go on for ever, each bringing the work of
 * the next.
 */
export class TurnQuota {
  private quota = startQuota
  private used = 0

  get left(): number {
    return Math.max(0, Math.floor(this.quota) - this.used)
  }

  get isUsedUp(): boolean {
    return this.left === 0
  }

  use(): void {
    this.used += 1
  }

  /**
   * A new turn begins; the fibers of the one before have taken so long. Refusals are not part of it: a smaller quota would
   * not make them fewer.
   */
  turn(fibersMillis: number): void {
    if (fibersMillis > targetMillis) {
      this.quota = Math.max(1, this.quota * Math.max(minDecrease, targetMillis / fibersMillis))
    } else if (this.isUsedUp) this.quota = Math.min(maxQuota, this.quota * growth + 1)
    this.used = 0
  }
}
