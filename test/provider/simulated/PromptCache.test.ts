import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ChatRequest, Message, Tool } from "../../../src/domain/Chat.ts"
import { costOf } from "../../../src/domain/Prices.ts"
import { usage } from "../../../src/domain/Usage.ts"
import { models } from "../../../src/provider/simulated/Models.ts"
import { promptTokens } from "../../../src/provider/simulated/Prompt.ts"
import { cacheRules, SeenPrompts } from "../../../src/provider/simulated/PromptCache.ts"
import { call } from "../protocols/calls.ts"

const requestOf = (messages: ReadonlyArray<Message>, tools: ReadonlyArray<Tool> = []): ChatRequest =>
  call({ messages, tools }).request
const system = (tokens: number, text = "x"): Message => ({ role: "system", content: text.repeat(4 * tokens) })
const user = (content: string): Message => ({ role: "user", content })
const tool: Tool = { type: "function", function: { name: "search", parameters: { type: "object" } } }

describe("the simulated prompt cache", () => {
  it("reads what an earlier prompt began with, in steps, and never what comes after a difference", () => {
    const seen = new SeenPrompts()
    const read = (request: ChatRequest) => seen.read("sim/best", request, 85, 0)
    expect(read(requestOf([system(2_000), user("one")]))).toBe(0)
    expect(read(requestOf([system(2_000), user("two")]))).toBe(1_920)
    expect(read(requestOf([system(2_000, "y"), user("one")]))).toBe(0)
    expect(read(requestOf([system(2_000), user("one")], [tool]))).toBe(0)
    expect(read(requestOf([system(2_000), user("one"), user("more")]))).toBe(1_920)
  })

  it("keeps no short prefix, none for longer than its time after the last use, and none for another model", () => {
    const seen = new SeenPrompts()
    const long = requestOf([system(1_024), user("one")])
    const ttl = cacheRules.ttlSeconds * 1_000
    expect(seen.read("sim/best", requestOf([system(1_023)]), 85, 0)).toBe(0)
    expect(seen.read("sim/best", requestOf([system(1_023)]), 85, 0)).toBe(0)
    expect(seen.read("sim/best", long, 85, 0)).toBe(0)
    expect(seen.read("sim/fast", long, 85, 0)).toBe(0)
    expect(seen.read("sim/best", long, 85, ttl)).toBe(1_024)
    expect(seen.read("sim/best", long, 85, 2 * ttl)).toBe(1_024)
    expect(seen.read("sim/best", long, 85, 3 * ttl + 1)).toBe(0)
  })

  it("never reads more than the prompt has", () => {
    const text = fc.string({ unit: "binary", maxLength: 3_000 })
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), fc.integer({ min: 0, max: 3 }), (texts, tools) => {
        const seen = new SeenPrompts()
        const request = requestOf(
          texts.map(user),
          Array.from({ length: tools }, () => tool)
        )
        seen.read("sim/best", request, 85, 0)
        expect(seen.read("sim/best", request, 85, 0)).toBeLessThanOrEqual(promptTokens(request, 85))
      })
    )
  })

  it("has a rate in the catalog: a tenth of the input rate, to the micro-USD", () => {
    for (const { cache, prices } of models) {
      if (prices === null) throw new Error("a simulated model has prices")
      expect(cache).toEqual(cacheRules)
      expect(costOf(prices, usage({ cacheReadTokens: 10_000_000 }))).toBe(prices.input)
    }
  })
})
