import { describe, expect, it } from "vitest"
import { type CachedPrompt, Prefixes, SimulatedCache } from "../../src/analysis/Cache.ts"
import type { PromptCache } from "../../src/domain/Model.ts"

const explicit: PromptCache = {
  mode: "explicit",
  minTokens: 1024,
  stepTokens: 1,
  ttlSeconds: 300,
  longTtl: null,
  guaranteed: true
}
const auto: PromptCache = { ...explicit, mode: "auto", stepTokens: 128 }

const prompt = (
  rules: PromptCache,
  at: number,
  keys: ReadonlyArray<number>,
  more: Partial<CachedPrompt> = {}
): CachedPrompt => ({
  route: "p/m",
  rules,
  at,
  keys,
  tokens: keys.map(() => 1000),
  marks: rules.mode === "explicit" ? [keys.length - 1] : [],
  ttlMillis: 300_000,
  warmBlocks: 0,
  maxReadTokens: Number.POSITIVE_INFINITY,
  ...more
})

const uses = (...prompts: ReadonlyArray<CachedPrompt>) => {
  const cache = new SimulatedCache(new Prefixes())
  return prompts.map((each) => {
    const { readTokens, writtenTokens } = cache.use(each)
    return [readTokens, writtenTokens]
  })
}

describe("a cache with explicit marks", () => {
  it("writes up to the mark and reads what was written", () => {
    expect(uses(prompt(explicit, 0, [1, 2]), prompt(explicit, 1, [1, 2, 3]))).toEqual([
      [0, 2000],
      [2000, 1000]
    ])
  })
  it("does not write without a mark", () => {
    expect(uses(prompt(explicit, 0, [1, 2], { marks: [] }), prompt(explicit, 1, [1, 2, 3]))).toEqual([
      [0, 0],
      [0, 3000]
    ])
  })
  it("forgets after its time, which a read renews", () => {
    const at = (...times: ReadonlyArray<number>) =>
      uses(...times.map((time) => prompt(explicit, time, [1, 2]))).map(([read]) => read)
    expect(at(0, 300_000, 600_000)).toEqual([0, 2000, 2000])
    expect(at(0, 300_001)).toEqual([0, 0])
  })
  it("keeps nothing below its minimum", () => {
    expect(uses(prompt(explicit, 0, [1]), prompt(explicit, 1, [1]))).toEqual([
      [0, 0],
      [0, 0]
    ])
  })
  it("of one route knows nothing of another's", () => {
    expect(uses(prompt(explicit, 0, [1, 2]), prompt(explicit, 1, [1, 2], { route: "p/n" }))).toEqual([
      [0, 2000],
      [0, 2000]
    ])
  })
  it("reads nothing after the first block that differs", () => {
    expect(uses(prompt(explicit, 0, [1, 2, 3], { marks: [1, 2] }), prompt(explicit, 1, [1, 2, 4]))).toEqual([
      [0, 3000],
      [2000, 1000]
    ])
    expect(uses(prompt(explicit, 0, [1, 2, 3]), prompt(explicit, 1, [9, 2, 3]))).toEqual([
      [0, 3000],
      [0, 3000]
    ])
  })
})

describe("a cache of every prompt", () => {
  it("reads in steps", () => {
    expect(uses(prompt(auto, 0, [1, 2]), prompt(auto, 1, [1, 2, 3]))).toEqual([
      [0, 1920],
      [1920, 1024]
    ])
  })
  it("reads what calls outside the workload have written", () => {
    expect(uses(prompt(auto, 0, [1, 2], { warmBlocks: 2 }))).toEqual([[1920, 0]])
  })
  it("reads no more than the provider has kept", () => {
    expect(uses(prompt(auto, 0, [1, 2]), prompt(auto, 1, [1, 2], { maxReadTokens: 0 }))).toEqual([
      [0, 1920],
      [0, 1920]
    ])
  })
})
