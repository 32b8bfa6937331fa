/**
 * A map that keeps the `kept` entries that were set last, and at most as many older ones: whenever so many have been set, those that
 * were not are dropped as a whole. To remove the first entry of a full `Map` instead takes 25 µs at 50,000 entries (measured,
 * Node 20), because V8 looks for it behind all that were removed since the last rehash.
 */
export class BoundedMap<K, V extends NonNullable<unknown>> {
  private newer = new Map<K, V>()
  private older = new Map<K, V>()
  private readonly kept: number

  constructor(kept: number) {
    this.kept = kept
  }

  get size(): number {
    return this.newer.size + this.older.size
  }

  get(key: K): V | undefined {
    return this.newer.get(key) ?? this.older.get(key)
  }

  has(key: K): boolean {
    return this.newer.has(key) || this.older.has(key)
  }

  set(key: K, value: V): void {
    this.newer.set(key, value)
    this.older.delete(key)
    if (this.newer.size < this.kept) return
    this.older = this.newer
    this.newer = new Map()
  }

  delete(key: K): void {
    this.newer.delete(key)
    this.older.delete(key)
  }

  clear(): void {
    this.newer.clear()
    this.older.clear()
  }

  /** In any order; what is called may delete the entry. */
  forEach(use: (value: V, key: K) => void): void {
    this.older.forEach(use)
    this.newer.forEach(use)
  }
}
