import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base"
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base"

/** A provider that bills planted calls: its own tokenizer and its own cache, which share nothing with those of the engine. */

export interface SimulatedRoute {
  readonly id: string
  readonly kind: "claude" | "openai" | "gemini"
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite?: number
  /** Tokens of this provider for each of `tokensOf`. */
  readonly factor: number
}

export const simulatedRoutes: ReadonlyArray<SimulatedRoute> = [
  {
    id: "anthropic/claude-a",
    kind: "claude",
    input: 3e6,
    output: 15e6,
    cacheRead: 3e5,
    cacheWrite: 3.75e6,
    factor: 1.2
  },
  { id: "openai/gpt-a", kind: "openai", input: 1.25e6, output: 10e6, cacheRead: 1.25e5, factor: 1 },
  { id: "google/gemini-a", kind: "gemini", input: 1.5e6, output: 9e6, cacheRead: 1.5e5, factor: 1.07 },
  {
    id: "anthropic/claude-b",
    kind: "claude",
    input: 1e6,
    output: 5e6,
    cacheRead: 1e5,
    cacheWrite: 1.25e6,
    factor: 1.2
  },
  { id: "openai/gpt-b", kind: "openai", input: 2.5e5, output: 2e6, cacheRead: 2.5e4, factor: 1 }
]

const counted = new Map<string, number>()
/** OpenAI's own tokenizer, and for the others another one than that of the engine. */
export const tokensOf = (text: string, kind: SimulatedRoute["kind"]): number => {
  const name = `${kind === "openai"} ${text}`
  const known = counted.get(name)
  if (known !== undefined) return known
  const tokens = kind === "openai" ? o200k(text) : cl100k(text)
  counted.set(name, tokens)
  return tokens
}

export interface BilledCall {
  readonly route: SimulatedRoute
  readonly at: number
  readonly blocks: ReadonlyArray<{ readonly text: string; readonly mark: boolean }>
  readonly outputTokens: number
  /** Whose cache it finds. */
  readonly cacheRoute: string
  /** The mark asks for an hour, at twice the rate of input. */
  readonly long: boolean
  /** The provider has dropped what it had. */
  readonly evicted: boolean
}

export interface ProviderBill {
  readonly input: number
  readonly read: number
  readonly written: number
  readonly microUsd: number
}

const ttlMillis = 300_000
const longTtlMillis = 3_600_000

export const billed = (calls: ReadonlyArray<BilledCall>): ReadonlyArray<ProviderBill> => {
  const lastUse = new Map<string, number>()
  return calls.map(({ at, blocks, cacheRoute, evicted, long, outputTokens, route }) => {
    const lengths: Array<number> = []
    const names: Array<string> = []
    let name = cacheRoute
    let total = 0
    for (const { text } of blocks) {
      name = `${name}/${nameOf(text)}`
      names.push(name)
      total += Math.round((tokensOf(text, route.kind) + 4) * route.factor)
      lengths.push(total)
    }
    const min = 1024
    const lastMark = blocks.findLastIndex(({ mark }) => mark)
    const until = route.kind === "claude" ? lastMark : blocks.length - 1
    let read = 0
    let hit: string | undefined
    for (let i = until; i >= 0 && !evicted; i--) {
      const used = lastUse.get(names[i] ?? "")
      if (used === undefined || at - used > (long ? longTtlMillis : ttlMillis) || (lengths[i] ?? 0) < min) continue
      read = lengths[i] ?? 0
      hit = names[i]
      break
    }
    let written = 0
    if (route.kind === "claude") {
      if (hit !== undefined) lastUse.set(hit, at)
      blocks.forEach(({ mark }, i) => {
        if (!mark || (lengths[i] ?? 0) < min) return
        lastUse.set(names[i] ?? "", at)
        written = Math.max(written, (lengths[i] ?? 0) - read)
      })
    } else {
      if (route.kind === "openai") read = read - (read % 128)
      if (total >= min) for (const each of names) lastUse.set(each, at)
    }
    const input = total - read - written
    const microUsd = Math.ceil(
      (input * route.input +
        read * route.cacheRead +
        written * (long ? 2 * route.input : (route.cacheWrite ?? 0)) +
        outputTokens * route.output) /
        1e6
    )
    return { input, read, written, microUsd }
  })
}

const names = new Map<string, number>()
const nameOf = (text: string): number => {
  const known = names.get(text)
  if (known !== undefined) return known
  names.set(text, names.size)
  return names.size - 1
}
