/** Enough for a large installation; with 48 bits of each hash about 4 MB. */
export const maxKnownKeys = 100_000
/** Digits kept of a hash: 48 bits are a safe integer, and an unknown key matches one of 100,000 with a probability of 1 in 3 thousand million. */
const digits = 12

/**
 * The hashes of keys that are probably active. They decide which budget a lookup counts against, never that a key is valid, so
 * the set may be incomplete and out of date. When it is full, the oldest entry is removed.
 */
export class KnownKeys {
  private readonly known = new Set<number>()

  has(hash: string): boolean {
    return this.known.has(startOf(hash))
  }

  add(hash: string): void {
    const start = startOf(hash)
    this.known.delete(start)
    if (this.known.size >= maxKnownKeys) {
      for (const oldest of this.known) {
        this.known.delete(oldest)
        break
      }
    }
    this.known.add(start)
  }

  delete(hash: string): void {
    this.known.delete(startOf(hash))
  }
}

const startOf = (hash: string): number => Number.parseInt(hash.slice(0, digits), 16)
