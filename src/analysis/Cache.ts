import type { PromptCache } from "../domain/Model.ts"

/** One prompt as the cache sees it. */
export interface CachedPrompt {
  readonly route: string
  readonly rules: PromptCache
  /** In milliseconds since the epoch. */
  readonly at: number
  readonly keys: ReadonlyArray<number>
  /** Tokens of each block. */
  readonly tokens: ReadonlyArray<number>
  /** Positions of the blocks that end a marked prefix, ascending. */
  readonly marks: ReadonlyArray<number>
  readonly ttlMillis: number
  /** Blocks that calls outside the workload have written before, from the first. */
  readonly warmBlocks: number
  /** The most that can be read: a provider may have lost what it should have kept. */
  readonly maxReadTokens: number
}

export interface CacheUse {
  readonly readTokens: number
  readonly writtenTokens: number
}

/** Prefixes as nodes of a tree, shared by all simulations of one workload: equal prefixes are equal numbers. */
export class Prefixes {
  private readonly nodes = new Map<number, Map<number, number>>()
  private count = 0
  /** The node of a prefix with one more block; 0 is the empty prefix. */
  child(node: number, key: number): number {
    let children = this.nodes.get(node)
    if (children === undefined) {
      children = new Map()
      this.nodes.set(node, children)
    }
    let child = children.get(key)
    if (child === undefined) {
      child = ++this.count
      children.set(key, child)
    }
    return child
  }
}

/**
 * A provider's prompt cache, as its documentation describes it: a prefix that was written is read until `ttlMillis` after its
 * last use. With explicit marks only marked prefixes are written; else every prefix that ends with a block.
 */
export class SimulatedCache {
  private readonly expiries = new Map<string, Map<number, number>>()
  private readonly prefixes: Prefixes
  constructor(prefixes: Prefixes) {
    this.prefixes = prefixes
  }

  use(prompt: CachedPrompt): CacheUse {
    const { at, keys, rules, ttlMillis } = prompt
    if (rules.mode === "none") return nothing
    const expiry = this.expiryOf(prompt.route)
    const last = rules.mode === "explicit" ? (prompt.marks.at(-1) ?? -1) : keys.length - 1
    const nodes: Array<number> = []
    const ends: Array<number> = []
    let node = 0
    let sum = 0
    let readBlock = -1
    for (let block = 0; block <= last; block++) {
      node = this.prefixes.child(node, keys[block] ?? 0)
      sum += prompt.tokens[block] ?? 0
      nodes.push(node)
      ends.push(sum)
      const live = block < prompt.warmBlocks || (expiry.get(node) ?? Number.NEGATIVE_INFINITY) >= at
      if (live && sum >= rules.minTokens) readBlock = block
    }
    const readTokens = Math.min(prompt.maxReadTokens, readBlock < 0 ? 0 : stepped(ends[readBlock] ?? 0, rules))
    const until = at + ttlMillis
    if (rules.mode === "auto") {
      if (sum < rules.minTokens) return nothing
      for (const each of nodes) expiry.set(each, Math.max(until, expiry.get(each) ?? until))
      return { readTokens, writtenTokens: Math.max(0, stepped(sum, rules) - readTokens) }
    }
    const lost = readBlock >= 0 && readTokens < (ends[readBlock] ?? 0)
    if (readBlock >= 0 && !lost) expiry.set(nodes[readBlock] ?? 0, until)
    let writtenTokens = 0
    for (const mark of prompt.marks) {
      const end = ends[mark] ?? 0
      if (end < rules.minTokens) continue
      expiry.set(nodes[mark] ?? 0, until)
      writtenTokens = Math.max(writtenTokens, end - readTokens)
    }
    return { readTokens, writtenTokens }
  }

  /** A prefix of these blocks, and all that begin it, are there until then. */
  warm(route: string, keys: ReadonlyArray<number>, until: number): void {
    const expiry = this.expiryOf(route)
    let node = 0
    for (const key of keys) {
      node = this.prefixes.child(node, key)
      expiry.set(node, Math.max(until, expiry.get(node) ?? until))
    }
  }

  private expiryOf(route: string): Map<number, number> {
    const known = this.expiries.get(route)
    if (known !== undefined) return known
    const expiry = new Map<number, number>()
    this.expiries.set(route, expiry)
    return expiry
  }
}

const nothing: CacheUse = { readTokens: 0, writtenTokens: 0 }

/** Providers count cached tokens in steps. */
const stepped = (tokens: number, { stepTokens }: PromptCache): number => Math.floor(tokens / stepTokens) * stepTokens
