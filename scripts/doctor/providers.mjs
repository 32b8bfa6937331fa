// @ts-check
// The providers of the synthetic applications: how each counts tokens, caches prompts and bills, from their documentation.
// None of it is shared with src/analysis, which has to explain these bills.
import { createHash } from "node:crypto"

/**
 * @typedef {{ readonly letters: number, readonly digits: number, readonly indentation: number, readonly punctuation: number }} Tokenizer
 * letters, digits, indentation, punctuation: how many characters of such a run one token holds
 * @typedef {{ readonly input: number, readonly output: number, readonly cacheRead: number | null, readonly cacheWrite: number | null }} Rates
 * micro-USD per million tokens
 * @typedef {{ readonly provider: string, readonly model: string, readonly family: "anthropic" | "openai" | "gemini" | "none", readonly tokenizer: Tokenizer, readonly rates: Rates, readonly minTokens: number, readonly missRate: number }} Route
 * missRate: share of the calls for which a provider without a guarantee has nothing cached
 */

/** Near o200k. @type {Tokenizer} */
const openai = { letters: 7, digits: 3, indentation: 16, punctuation: 2 }
/** More tokens for the same text. @type {Tokenizer} */
const claude = { letters: 5, digits: 2, indentation: 8, punctuation: 1 }
/** Every digit is a token. @type {Tokenizer} */
const gemini = { letters: 8, digits: 1, indentation: 12, punctuation: 2 }
/** @type {Tokenizer} */
const mistral = { letters: 6, digits: 1, indentation: 8, punctuation: 1 }

/** @param {string} model @param {Rates} rates @param {Pick<Route, "family" | "tokenizer" | "minTokens"> & Partial<Route>} rest @returns {Route} */
const route = (model, rates, rest) => ({
  provider: model.split("/")[0] ?? "",
  model,
  rates,
  missRate: 0,
  ...rest
})
const anthropic = { family: /** @type {const} */ ("anthropic"), tokenizer: claude, minTokens: 1_024 }
const openaiAuto = { family: /** @type {const} */ ("openai"), tokenizer: openai, minTokens: 1_024 }
const implicit = { family: /** @type {const} */ ("gemini"), tokenizer: gemini, missRate: 0.03 }

/** @param {number} input @param {number} output @param {number | null} cacheRead @param {number | null} cacheWrite @returns {Rates} */
const rates = (input, output, cacheRead, cacheWrite) => ({ input, output, cacheRead, cacheWrite })

/** Pairs with the same prices, so that a change between them costs the cache and nothing else. @type {ReadonlyArray<readonly [Route, Route?]>} */
export const routes = [
  [
    route("anthropic/claude-sonnet-4-5", rates(3_000_000, 15_000_000, 300_000, 3_750_000), anthropic),
    route("anthropic/claude-sonnet-4-6", rates(3_000_000, 15_000_000, 300_000, 3_750_000), anthropic)
  ],
  [
    route("openai/gpt-5.1", rates(1_250_000, 10_000_000, 125_000, null), openaiAuto),
    route("openai/gpt-5", rates(1_250_000, 10_000_000, 125_000, null), openaiAuto)
  ],
  [
    route("openai/gpt-4.1", rates(2_000_000, 8_000_000, 500_000, null), openaiAuto),
    route("openai/o3", rates(2_000_000, 8_000_000, 500_000, null), openaiAuto)
  ],
  [route("google/gemini-2.5-flash", rates(300_000, 2_500_000, 30_000, null), { ...implicit, minTokens: 1_024 })],
  [
    route("mistral/mistral-large-2512", rates(500_000, 1_500_000, null, null), {
      family: "none",
      tokenizer: mistral,
      minTokens: 0
    })
  ]
]

const pieces = /\p{Lu}?\p{Ll}+|\p{L}+|\p{N}+|[^\S\n]{2,}|\n+|[^\p{L}\p{N}\s]+|\s/gu
/** @type {Map<Tokenizer, Map<string, number>>} */
const counted = new Map()

/** @param {Tokenizer} tokenizer @param {string} text */
export const countTokens = (tokenizer, text) => {
  const known = counted.get(tokenizer) ?? new Map()
  counted.set(tokenizer, known)
  const before = known.get(text)
  if (before !== undefined) return before
  let tokens = 0
  for (const [piece] of text.matchAll(pieces)) {
    const first = piece.charCodeAt(0)
    if (piece === " ") continue
    if (first === 10) tokens += 1
    else if (first <= 32) tokens += Math.ceil(piece.length / tokenizer.indentation)
    else if (/^\p{N}/u.test(piece)) tokens += Math.ceil(piece.length / tokenizer.digits)
    // a long run of letters is no word: its parts are rarer
    else if (/^\p{L}/u.test(piece)) tokens += Math.ceil(piece.length / (piece.length > 24 ? 2.5 : tokenizer.letters))
    else tokens += Math.ceil(piece.length / tokenizer.punctuation)
  }
  known.set(text, tokens)
  return tokens
}

/**
 * @typedef {{ readonly text: string, readonly mark: "5m" | "1h" | null }} PromptBlock
 * @typedef {{ readonly blocks: ReadonlyArray<PromptBlock>, readonly at: number, readonly output: string, readonly reasoningTokens: number, readonly route: Route, readonly cancelled: boolean, readonly evicted: boolean, readonly luck: number }} Billable
 * evicted: the provider has lost what it had cached; luck: decides whether a provider without a guarantee has it
 * @typedef {{ readonly inputTokens: number, readonly cacheReadTokens: number, readonly cacheWriteTokens: number, readonly outputTokens: number, readonly reasoningTokens: number }} Counts
 */

const minute = 60_000
const perBlock = 4
const lookback = 20

/** Bills calls in the order of time, as the providers would. @param {ReadonlyArray<Billable>} calls @returns {Array<Counts>} */
export const bill = (calls) => {
  /** By prefix of an explicit cache. @type {Map<string, number>} */
  const written = new Map()
  /** Prompts of an automatic cache, by route and first block. @type {Map<string, Array<{ texts: ReadonlyArray<string>, lastsUntil: number }>>} */
  const seen = new Map()
  return calls.map((call) => {
    const { route } = call
    const sizes = call.blocks.map(({ text }) => countTokens(route.tokenizer, text) + perBlock)
    const prompt = sizes.reduce((sum, size) => sum + size, 0)
    const outputTokens = countTokens(route.tokenizer, call.output)
    const rest = { outputTokens, reasoningTokens: call.reasoningTokens }
    const { read, write } =
      route.family === "anthropic"
        ? explicit(call, sizes, written)
        : route.family === "none"
          ? { read: 0, write: 0 }
          : automatic(call, sizes, seen)
    return { inputTokens: prompt - read - write, cacheReadTokens: read, cacheWriteTokens: write, ...rest }
  })
}

/**
 * At most four marks. What is read is the longest prefix that was written at a mark, looked for at each mark and up to 20 blocks
 * before it; it lives five minutes or an hour from its last use.
 * @param {Billable} call @param {ReadonlyArray<number>} sizes @param {Map<string, number>} written
 */
const explicit = ({ at, blocks, evicted, route }, sizes, written) => {
  const hashes = prefixHashes(route.model, blocks)
  const marks = blocks.flatMap(({ mark }, index) => (mark === null ? [] : [{ index, mark }])).slice(-4)
  const upTo = (/** @type {number} */ index) => sizes.slice(0, index + 1).reduce((sum, size) => sum + size, 0)
  let readIndex = -1
  for (const { index } of marks) {
    for (let candidate = index; candidate >= Math.max(0, index - lookback); candidate--) {
      const hash = hashes[candidate] ?? ""
      if (!evicted && candidate > readIndex && (written.get(hash) ?? 0) >= at) readIndex = candidate
    }
  }
  const read = readIndex < 0 ? 0 : upTo(readIndex)
  let write = 0
  for (const { index, mark } of marks) {
    if (upTo(index) < route.minTokens) continue
    written.set(hashes[index] ?? "", at + (mark === "1h" ? 60 : 5) * minute)
    if (index > readIndex) write = upTo(index) - read
  }
  if (readIndex >= 0) {
    const hash = hashes[readIndex] ?? ""
    written.set(hash, Math.max(written.get(hash) ?? 0, at + 5 * minute))
  }
  return { read, write }
}

/**
 * The longest common prefix with an earlier prompt, in steps of 128 tokens, idle for at most ten minutes. A prefix may end inside
 * a block.
 * @param {Billable} call @param {ReadonlyArray<number>} sizes @param {Map<string, Array<{ texts: ReadonlyArray<string>, lastsUntil: number }>>} seen
 */
const automatic = ({ at, blocks, evicted, luck, route }, sizes, seen) => {
  const texts = blocks.map(({ text }) => text)
  const key = route.model
  const entries = (seen.get(key) ?? []).filter(({ lastsUntil }) => lastsUntil >= at)
  let common = 0
  for (const entry of evicted || luck < route.missRate ? [] : entries) {
    let tokens = 0
    for (const [index, text] of texts.entries()) {
      const other = entry.texts[index]
      if (other === text) {
        tokens += sizes[index] ?? 0
        continue
      }
      if (other !== undefined) tokens += countTokens(route.tokenizer, text.slice(0, sameCharacters(text, other)))
      break
    }
    common = Math.max(common, tokens)
  }
  const prompt = sizes.reduce((sum, size) => sum + size, 0)
  if (prompt >= route.minTokens) {
    const kept = entries.filter((entry) => !startsWith(texts, entry.texts))
    seen.set(key, [...kept, { texts, lastsUntil: at + 10 * minute }])
  }
  const step = route.family === "openai" ? 128 : 1
  // the last token is never read: the model has to compute something
  const readable = Math.floor(Math.min(common, prompt - 1) / step) * step
  return { read: readable < route.minTokens ? 0 : readable, write: 0 }
}

/** @param {string} a @param {string} b */
const sameCharacters = (a, b) => {
  let at = 0
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  return at
}

/** @param {ReadonlyArray<string>} texts @param {ReadonlyArray<string>} beginning */
const startsWith = (texts, beginning) =>
  beginning.length <= texts.length && beginning.every((text, index) => text === texts[index])

/** @param {string} model @param {ReadonlyArray<PromptBlock>} blocks */
const prefixHashes = (model, blocks) => {
  let hash = model
  return blocks.map(({ text }) => {
    hash = createHash("sha1").update(hash).update("\0").update(text).digest("base64")
    return hash
  })
}

/** In micro-USD, rounded up once per call. @param {Rates} rates @param {Counts} counts @param {boolean} longWrite */
export const amountOf = (rates, counts, longWrite) =>
  Math.ceil(
    (counts.inputTokens * rates.input +
      counts.cacheReadTokens * (rates.cacheRead ?? rates.input) +
      counts.cacheWriteTokens * (longWrite ? 2 * rates.input : (rates.cacheWrite ?? rates.input)) +
      (counts.outputTokens + counts.reasoningTokens) * rates.output) /
      1_000_000
  )
