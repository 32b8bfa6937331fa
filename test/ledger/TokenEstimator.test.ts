import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import * as Utils from "effect/Utils"
import * as fc from "fast-check"
import * as Estimate from "../../src/ledger/Estimate.ts"
import * as TokenEstimator from "../../src/ledger/TokenEstimator.ts"
import { testModel } from "../../src/testing/index.ts"
import { chatRequest } from "../support/ChatRequests.ts"

const randomOf = (seed: number): TokenEstimator.NextRandom => {
  const random = new Utils.PCGRandom(seed)
  return () => random.number()
}

const estimated = (texts: ReadonlyArray<string>, random: TokenEstimator.NextRandom): number => {
  const measure = TokenEstimator.make(random)
  for (const text of texts) measure.add(text)
  return measure.tokens().likely
}

const pieces = (text: string, length: number): ReadonlyArray<string> =>
  Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length)
  )

/** The same texts, each short enough to be counted in full. */
const counted = (texts: ReadonlyArray<string>): number =>
  texts
    .flatMap((text) => pieces(text, TokenEstimator.maxCounted))
    .reduce((sum, piece) => sum + estimated([piece], randomOf(0)), 0)

const file = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

const russian = "Быстрая коричневая лиса прыгает через ленивую собаку, а потом долго спит под старым деревом у реки. "
const chinese = "敏捷的棕色狐狸跳过了懒狗，然后在河边的老树下睡了很久。"

/** As in a lock file: names, versions, addresses, checksums. */
const records = JSON.stringify(
  Array.from({ length: 400 }, (_, index) => {
    const random = randomOf(index)
    const letters = (count: number, base: number) =>
      Array.from({ length: count }, () => Math.floor(random() * base).toString(base)).join("")
    const name = `${letters(4 + (index % 9), 36)}-${["core", "server", "types", "node"][index % 4]}`
    return {
      name,
      version: `${index % 12}.${Math.floor(random() * 40)}.${Math.floor(random() * 9)}`,
      resolved: `https://packages.example/${name}/-/${name}.tgz`,
      integrity: `sha512-${letters(88, 36)}`,
      license: index % 3 === 0 ? "Apache-2.0" : "MIT",
      optional: index % 5 === 0
    }
  }),
  null,
  2
)

/** Of one kind each, and all kinds one after another. */
const natural: ReadonlyArray<readonly [name: string, text: string]> = [
  ["prose", file("README.md")],
  ["code", file("src/ledger/Estimate.ts") + file("src/provider/transport/HttpProvider.ts")],
  ["data", records],
  ["Russian", russian.repeat(150)],
  ["Chinese", chinese.repeat(500)],
  [
    "mixed",
    file("README.md") + russian.repeat(60) + chinese.repeat(200) + file("src/provider/transport/HttpProvider.ts")
  ]
]
const seeds = Array.from({ length: 20 }, (_, seed) => seed)

describe("The likely tokens of long text", () => {
  it.each(natural)("the estimate is within a tenth of the real count: %s", (_, text) => {
    expect(text.length).toBeGreaterThan(TokenEstimator.maxCounted)
    for (const length of [text.length, 5_000, 1_500, 300]) {
      const texts = pieces(text, length)
      const exact = counted(texts)
      for (const seed of seeds) {
        const ratio = estimated(texts, randomOf(seed)) / exact
        expect(ratio, `pieces of ${length}, seed ${seed}`).toBeGreaterThan(0.9)
        expect(ratio, `pieces of ${length}, seed ${seed}`).toBeLessThan(1.1)
      }
    }
  })

  it("the estimate has no bias, so that text with many tokens cannot hide between the samples", () => {
    const sparse = " ".repeat(3_000)
    const dense = "!?".repeat(500)
    const text = (sparse + dense).repeat(50)
    const exact = counted([text])
    const mean = seeds.reduce((sum, seed) => sum + estimated([text], randomOf(seed)), 0) / seeds.length
    expect(mean / exact).toBeGreaterThan(0.9)
    expect(mean / exact).toBeLessThan(1.1)
  })

  it("the estimate is the same for the same random numbers", () => {
    const code = file("src/provider/transport/HttpProvider.ts")
    expect(estimated([code], randomOf(7))).toBe(estimated([code], randomOf(7)))
    expect(estimated([code], randomOf(7))).not.toBe(estimated([code], randomOf(8)))
  })
})

/** Tokens of short texts, counted with gpt-tokenizer 4.0.0. */
interface TokenCount {
  readonly name: string
  readonly text: string
  readonly o200k: number
  readonly cl100k: number
}
const tokenCounts: { readonly natural: ReadonlyArray<TokenCount>; readonly hostile: ReadonlyArray<TokenCount> } =
  JSON.parse(file("test/ledger/tokenCounts.json"))

const streamed = (text: string, length: number): number => {
  const counter = TokenEstimator.counter()
  for (const piece of pieces(text, length)) counter.add(piece)
  return counter.tokens()
}

describe("The tokens of text in a language, or in code", () => {
  it.each(tokenCounts.natural)("the likely tokens are within one and a half times the real count: $name", (sample) => {
    for (const tokens of [estimated([sample.text], randomOf(0)), streamed(sample.text, 5)]) {
      expect(tokens / sample.o200k).toBeGreaterThan(1 / 1.5)
      expect(tokens / sample.o200k).toBeLessThan(1.5)
    }
  })

  it("a text has the same tokens in whatever pieces it comes, but for words that are cut", () => {
    for (const { text } of tokenCounts.natural) {
      const long = text.repeat(50)
      for (const length of [1, 7, 1_000, long.length]) {
        expect(streamed(long, length) / estimated(pieces(long, 8_000), randomOf(0))).toBeCloseTo(1, 1)
      }
    }
  })
})

describe("The tokens that a prompt has at most", () => {
  const all = [...tokenCounts.natural, ...tokenCounts.hostile]

  it.each(all)("no tokenizer takes more than the bound: $name", ({ cl100k, o200k, text }) => {
    const bound = (content: string) => {
      const prompt = Estimate.estimatePrompt(chatRequest({ messages: [{ role: "user", content }] }), () => 0.5)
      return Estimate.promptTokensBound(prompt, testModel("one/m"))
    }
    // framing counts up to the bytes of the text only, and at least as its own bytes
    expect(bound(text)).toBeGreaterThanOrEqual(Math.max(o200k, cl100k))
    expect(bound(text.repeat(50)) / 50).toBeGreaterThanOrEqual(Math.max(o200k, cl100k))
  })
})

it("the bytes of text are exact, whatever it holds and however long it is", () => {
  const unit = fc.oneof(fc.fullUnicodeString(), fc.string16bits())
  fc.assert(
    fc.property(fc.array(unit), fc.integer({ min: 1, max: 2_000 }), (texts, times) => {
      const measure = TokenEstimator.make(() => 0.5)
      const encoder = new TextEncoder()
      let bytes = 0
      for (const text of texts) {
        measure.add(text.repeat(times))
        bytes += encoder.encode(text.repeat(times)).length
      }
      expect(measure.utf8Bytes()).toBe(bytes)
    }),
    { numRuns: 50 }
  )
})
