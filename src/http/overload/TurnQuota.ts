/** Calls that may be admitted in one turn of the event loop, before anything has been measured. */
const startQuota = 256
const maxQuota = 1_024
/** Call fibers that take longer than this in one turn delay every other call several times. */
const targetMillis = 10
const growth = 1.1
/** The maximum decrease after one turn: a single long turn may be a garbage collection. */
const minDecrease = 0.5

/**
 * How many calls may be admitted in one turn of the event loop. A call takes several turns, so its latency depends on their
 * length: on a saturated node, turns of any length could persist, each admitting the work of the next.
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
   * A new turn begins; `fibersMillis` is the time of the fibers of the preceding turn. Rejections are not included: a smaller quota
   * would not reduce them.
   */
  turn(fibersMillis: number): void {
    if (fibersMillis > targetMillis) {
      this.quota = Math.max(1, this.quota * Math.max(minDecrease, targetMillis / fibersMillis))
    } else if (this.isUsedUp) this.quota = Math.min(maxQuota, this.quota * growth + 1)
    this.used = 0
  }
}
