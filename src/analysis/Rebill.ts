import type { CapturedRates } from "../domain/CapturedCall.ts"
import type { PromptCache } from "../domain/Model.ts"
import { completionTokens, promptTokens, type Usage } from "../domain/Usage.ts"
import { type CacheUse, Prefixes, SimulatedCache } from "./Cache.ts"
import { calibration } from "./Calibration.ts"
import type { CallEdit, Edits } from "./Edits.ts"
import { Interner, type WorkCall, type Workload, type WorkPrices } from "./Workload.ts"

/** One bill of a workload, by position of the call. */
export interface Bill {
  readonly microUsd: Float64Array
  readonly readTokens: Float64Array
}

export interface ModelError {
  readonly route: string
  /** Of the charged amount: how far the bill without edits is from it, 0 and more. */
  readonly share: number
  /** Share of calls whose cached tokens are predicted within 3 % of the prompt. */
  readonly readsExplained: number
  readonly calls: number
}

/**
 * Bills a workload again, with edits: the only place that computes what a change would cost. First it bills without any and is
 * compared with what was charged.
 */
export class Rebill {
  /** Calls whose prefix was not read although nothing in it had changed and its time was not over. */
  readonly lost: ReadonlySet<number>
  readonly modelErrors: ReadonlyArray<ModelError>
  readonly base: Bill
  /** What the cache would have given where nothing is lost. */
  readonly predicted: Bill
  readonly workload: Workload
  private readonly prefixes = new Prefixes()
  private readonly resized = new Interner()
  private readonly factors: ReadonlyMap<string, number>
  /** In seconds, by route, where the provider keeps prefixes longer than it promises. */
  private lifetimes: ReadonlyMap<string, number> = new Map()
  private readonly warm: Int32Array
  private readonly maxRead: Float64Array

  constructor(workload: Workload) {
    const { calls } = workload
    this.workload = workload
    this.factors = factorsOf(workload)
    this.warm = new Int32Array(calls.length)
    this.maxRead = new Float64Array(calls.length).fill(Number.POSITIVE_INFINITY)
    this.lifetimes = this.observedLifetimes()
    let bill = this.bill(noEdits)
    for (let pass = 0; pass < 2 && this.warmUp(bill); pass++) bill = this.bill(noEdits)
    this.predicted = bill
    this.lost = this.lostOf(bill)
    for (const call of this.lost) this.maxRead[call] = calls[call]?.usage?.cacheReadTokens ?? 0
    this.base = this.lost.size === 0 ? bill : this.bill(noEdits)
    this.modelErrors = this.errorsOf(this.base)
  }

  /** Tokens of the block as its route bills them. */
  tokens(call: WorkCall, counted: number): number {
    return Math.round(counted * (this.factors.get(call.route) ?? 1))
  }

  bill(edits: Edits): Bill {
    const { calls } = this.workload
    const microUsd = new Float64Array(calls.length)
    const readTokens = new Float64Array(calls.length)
    const cache = new SimulatedCache(this.prefixes)
    for (let index = 0; index < calls.length; index++) {
      const call = calls[index]
      const edit = edits.get(index)
      if (call === undefined) continue
      if (edit?.drop === true) {
        this.warmFrom(call, index, cache)
        continue
      }
      if (call.usage === null || call.prices === null || call.blocks.length === 0) {
        microUsd[index] = call.chargedMicroUsd
        continue
      }
      this.billCall(call, index, edit, cache, microUsd, readTokens)
    }
    return { microUsd, readTokens }
  }

  /** What calls outside the workload had written before a call that is not made is there for the next one. */
  private warmFrom(call: WorkCall, index: number, cache: SimulatedCache): void {
    const warmBlocks = this.warm[index] ?? 0
    if (warmBlocks === 0 || call.cache === null) return
    const { keys } = this.promptOf(call, undefined)
    cache.warm(call.route, keys.slice(0, warmBlocks), call.at + 1000 * this.ttlOf(call, call.cache))
  }

  private billCall(
    call: WorkCall,
    index: number,
    edit: CallEdit | undefined,
    cache: SimulatedCache,
    microUsd: Float64Array,
    readTokens: Float64Array
  ): void {
    const prices = call.prices
    if (prices === null || call.usage === null) return
    const { keys, tokens, marks } = this.promptOf(call, edit)
    let prompt = 0
    for (const each of tokens) prompt += each
    const rates = ratesOf(prices, prompt)
    const rules = ruled(call, rates)
    const long = rules !== null && (edit?.longTtl === true || call.blocks.some(({ mark }) => mark === "1h"))
    const cached =
      rules === null
        ? noCache
        : cache.use({
            route: edit?.cacheRoute ?? call.route,
            rules,
            at: call.at,
            keys,
            tokens,
            marks,
            ttlMillis: 1000 * (long ? (rules.longTtl?.seconds ?? rules.ttlSeconds) : this.ttlOf(call, rules)),
            warmBlocks: this.warm[index] ?? 0,
            maxReadTokens: this.maxReadOf(index, edit)
          })
    // it was charged as if nothing of it had been cached
    const used = call.isEstimated ? noCache : cached
    const writeRate =
      long && rules?.longTtl !== null && rules !== null
        ? rates.input * rules.longTtl.writeFactor
        : (rates.cacheWrite ?? rates.input)
    const uncached = prompt - used.readTokens - used.writtenTokens
    const sum =
      uncached * rates.input +
      used.readTokens * (rates.cacheRead ?? rates.input) +
      used.writtenTokens * writeRate +
      completionTokens(call.usage) * rates.output
    microUsd[index] = Math.ceil(sum / 1_000_000) + (prices.webSearchMicroUsd ?? 0)
    readTokens[index] = used.readTokens
  }

  private ttlOf({ route }: WorkCall, { ttlSeconds }: PromptCache): number {
    return this.lifetimes.get(route) ?? ttlSeconds
  }

  /**
   * A provider without marks keeps a prefix for at least as long as it says, and often longer. The time that explains the reads of most
   * calls of a route counts: else an edit that leaves a pause out of the calls would seem to lose reads that come all the same.
   */
  private observedLifetimes(): ReadonlyMap<string, number> {
    const best = new Map<string, { readonly seconds: number; readonly explained: number }>()
    for (const times of lifetimeFactors) {
      const seconds = new Map<string, number>()
      for (const { cache, route } of this.workload.calls) {
        if (cache?.mode === "auto") seconds.set(route, times * cache.ttlSeconds)
      }
      if (seconds.size === 0) return seconds
      this.lifetimes = seconds
      const explained = this.explainedReads(this.bill(noEdits))
      for (const [route, each] of seconds) {
        const count = explained.get(route) ?? 0
        if (count > (best.get(route)?.explained ?? -1)) best.set(route, { seconds: each, explained: count })
      }
    }
    return new Map([...best].map(([route, { seconds }]) => [route, seconds]))
  }

  /** By route: calls whose cached tokens are near those of the bill. */
  private explainedReads({ readTokens }: Bill): ReadonlyMap<string, number> {
    const routes = new Map<string, number>()
    this.workload.calls.forEach(({ route, usage }, index) => {
      if (usage !== null && isExplained(usage, readTokens[index] ?? 0)) routes.set(route, (routes.get(route) ?? 0) + 1)
    })
    return routes
  }

  private promptOf(call: WorkCall, edit: CallEdit | undefined) {
    const keys: Array<number> = []
    const tokens: Array<number> = []
    let marks: Array<number> = []
    let instructions = -1
    for (const position of orderOf(call, edit)) {
      const block = call.blocks[position]
      if (block === undefined) continue
      const resized = edit?.resize?.get(position)
      if (resized?.tokens === 0) continue
      const base = edit?.canonical?.has(position) === true ? -block.canonical : block.key
      keys.push(resized === undefined ? base : -1e9 - this.resized.keyOf(`${base} ${resized.form}`))
      tokens.push(this.tokens(call, resized?.tokens ?? block.tokens))
      if (block.kind === "tool" || block.kind === "system") instructions = keys.length - 1
      if (block.mark !== null) marks.push(keys.length - 1)
    }
    if (edit?.marks === "none") marks = []
    if (edit?.marks === "auto") {
      marks = [...new Set([...marks, instructions, keys.length - 1])].filter((mark) => mark >= 0).sort(ascending)
    }
    return { keys, tokens, marks }
  }

  private maxReadOf(index: number, edit: CallEdit | undefined): number {
    const max = this.maxRead[index] ?? Number.POSITIVE_INFINITY
    if (edit?.restore === undefined || max === Number.POSITIVE_INFINITY) return max
    const predicted = this.predicted.readTokens[index] ?? 0
    return edit.restore >= 1 ? Number.POSITIVE_INFINITY : max + edit.restore * Math.max(0, predicted - max)
  }

  /** Calls that read more than this workload has written were preceded by calls that are not in it. */
  private warmUp(bill: Bill): boolean {
    let changed = false
    this.workload.calls.forEach((call, index) => {
      const read = call.usage?.cacheReadTokens ?? 0
      if (read <= (bill.readTokens[index] ?? 0) * 1.05 + 64) return
      let sum = 0
      let blocks = 0
      for (const block of call.blocks) {
        sum += this.tokens(call, block.tokens)
        if (sum > read * 1.05 + 128) break
        blocks++
      }
      if (blocks > (this.warm[index] ?? 0)) {
        this.warm[index] = blocks
        changed = true
      }
    })
    return changed
  }

  /** Where most reads are missing the rules of the cache are not what the catalog says: nothing counts as lost. */
  private lostOf(bill: Bill): ReadonlySet<number> {
    const routes = new Map<string, { predicted: number; lost: Array<number> }>()
    this.workload.calls.forEach((call, index) => {
      const predicted = bill.readTokens[index] ?? 0
      if (call.usage === null || predicted < minLostTokens) return
      const sums = routes.get(call.route) ?? { predicted: 0, lost: [] }
      sums.predicted++
      if (call.usage.cacheReadTokens < predicted / 2) sums.lost.push(index)
      routes.set(call.route, sums)
    })
    return new Set(
      [...routes.values()].flatMap(({ lost, predicted }) => (lost.length > maxLostShare * predicted ? [] : lost))
    )
  }

  private errorsOf(bill: Bill): ReadonlyArray<ModelError> {
    const routes = new Map<string, { charged: number; difference: number; explained: number; calls: number }>()
    this.workload.calls.forEach((call, index) => {
      if (call.usage === null || call.prices === null) return
      const sums = routes.get(call.route) ?? { charged: 0, difference: 0, explained: 0, calls: 0 }
      sums.charged += call.chargedMicroUsd
      sums.difference += (bill.microUsd[index] ?? 0) - call.chargedMicroUsd
      sums.calls++
      if (isExplained(call.usage, this.predicted.readTokens[index] ?? 0)) sums.explained++
      routes.set(call.route, sums)
    })
    return [...routes].map(([route, { calls, charged, difference, explained }]) => ({
      route,
      share: charged === 0 ? 0 : Math.abs(difference) / charged,
      readsExplained: explained / calls,
      calls
    }))
  }
}

export const noEdits: Edits = new Map()

const noCache: CacheUse = { readTokens: 0, writtenTokens: 0 }

/** Of what providers promise: OpenAI, say, five minutes, and up to an hour. */
const lifetimeFactors = [1, 2, 4, 12]

const isExplained = (usage: Usage, predicted: number): boolean =>
  Math.abs(usage.cacheReadTokens - predicted) <= 0.03 * promptTokens(usage) + 128

/** Below this a missing read says more of the provider's counting than of its cache. */
const minLostTokens = 1024
const maxLostShare = 0.6

const ascending = (a: number, b: number): number => a - b

/** Without a rate for reads nothing is known of what a read saves: the cache is left out. */
const ruled = (call: WorkCall, rates: CapturedRates): PromptCache | null =>
  call.cache === null || rates.cacheRead === undefined ? null : call.cache

const ratesOf = (prices: WorkPrices, prompt: number): CapturedRates => {
  let rates: CapturedRates = prices
  for (const tier of prices.tiers ?? []) if (prompt > tier.abovePromptTokens) rates = tier
  return rates
}

const orderOf = (call: WorkCall, edit: CallEdit | undefined): ReadonlyArray<number> => {
  const positions = call.blocks.map((_, position) => position)
  if (edit?.sortTools !== true) return positions
  const tools = positions.filter((position) => call.blocks[position]?.kind === "tool")
  const sorted = [...tools].sort((a, b) => (call.blocks[a]?.canonical ?? 0) - (call.blocks[b]?.canonical ?? 0))
  const order = [...positions]
  tools.forEach((position, rank) => {
    order[position] = sorted[rank] ?? position
  })
  return order
}

const factorsOf = ({ calls }: Workload): ReadonlyMap<string, number> => {
  const routes = new Map<string, Array<{ billed: number; counted: number }>>()
  for (const call of calls) {
    if (call.usage === null) continue
    let counted = 0
    for (const block of call.blocks) counted += block.tokens
    const pairs = routes.get(call.route) ?? []
    pairs.push({ billed: promptTokens(call.usage), counted })
    routes.set(call.route, pairs)
  }
  return new Map([...routes].map(([route, pairs]) => [route, calibration(pairs) ?? 1]))
}
