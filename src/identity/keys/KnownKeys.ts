import { BoundedMap } from "../../domain/BoundedMap.ts"

/** Enough for a large installation; with 48 bits of each hash at most 8 MB. */
export const keptKnownKeys = 100_000
/** Digits kept of a hash: 48 bits are a safe integer, and an unknown key matches one of 100,000 with a probability of 1 in 3 thousand million. */
const digits = 12

/**
 * The hashes of keys that are probably active. They decide which budget a lookup counts against, never that a key is valid, so
 * the set may be incomplete and out of date. It is bounded: the oldest entries are dropped.
 */
export class KnownKeys {
  private readonly known = new BoundedMap<number, true>(keptKnownKeys)

  has(hash: string): boolean {
    return this.known.has(startOf(hash))
  }

  add(hash: string): void {
    this.known.set(startOf(hash), true)
  }

  delete(hash: string): void {
    this.known.delete(startOf(hash))
  }
}

const startOf = (hash: string): number => Number.parseInt(hash.slice(0, digits), 16)
