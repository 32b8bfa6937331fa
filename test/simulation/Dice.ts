/** Seeded pseudo-random numbers (mulberry32): the same seed gives the same sequence on every machine. */
export class Dice {
  private state: number

  constructor(seed: number) {
    this.state = (seed * 0x9e37_79b9) >>> 0
  }

  /** From 0 to 1, 1 excluded. */
  readonly next = (): number => {
    this.state = (this.state + 0x6d2b_79f5) >>> 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  of<A>(values: ReadonlyArray<A>): A {
    const value = values[Math.floor(this.next() * values.length)]
    if (value === undefined) throw new Error("nothing to choose from")
    return value
  }

  /** Milliseconds to the next event of a Poisson process. */
  exponential(meanMillis: number): number {
    return -Math.log(1 - this.next()) * meanMillis
  }

  fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(this.next() * 256)
  }
}
