/** Counts of two kinds over the last `windowMillis`, in a fixed number of slots; a slot that has passed is dropped. */
export class SlidingWindow {
  private readonly first: Float64Array
  private readonly second: Float64Array
  private readonly slotMillis: number
  private slot = Number.NEGATIVE_INFINITY

  constructor(windowMillis: number, slots = 10) {
    this.first = new Float64Array(slots)
    this.second = new Float64Array(slots)
    this.slotMillis = windowMillis / slots
  }

  add(nowMillis: number, first: number, second: number): void {
    const at = this.advance(nowMillis)
    this.first[at] = (this.first[at] ?? 0) + first
    this.second[at] = (this.second[at] ?? 0) + second
  }

  totals(nowMillis: number): { readonly first: number; readonly second: number } {
    this.advance(nowMillis)
    let first = 0
    let second = 0
    for (const count of this.first) first += count
    for (const count of this.second) second += count
    return { first, second }
  }

  clear(): void {
    this.first.fill(0)
    this.second.fill(0)
  }

  /** Clears the slots that have passed and returns the current one. */
  private advance(nowMillis: number): number {
    const slots = this.first.length
    const slot = Math.floor(nowMillis / this.slotMillis)
    if (slot - this.slot >= slots) {
      this.clear()
      this.slot = slot
    } else {
      while (this.slot < slot) {
        this.slot++
        this.first[this.slot % slots] = 0
        this.second[this.slot % slots] = 0
      }
    }
    return this.slot % slots
  }
}
