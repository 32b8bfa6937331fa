import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { ChatRequest, Message } from "../../src/domain/Chat.ts"
import type { Model } from "../../src/domain/Model.ts"
import { microUsd } from "../../src/domain/Money.ts"
import { costOf, type Prices, plainTerms } from "../../src/domain/Prices.ts"
import { type SupportTable, shapingParameters, tuningParameters } from "../../src/domain/Support.ts"
import { usage } from "../../src/domain/Usage.ts"
import * as Estimate from "../../src/ledger/Estimate.ts"
import { chatRequest } from "../support/ChatRequests.ts"
import { modelOf } from "../support/Models.ts"

const support = Object.fromEntries(
  [...shapingParameters, ...tuningParameters].map((parameter) => [parameter, "native"])
) as SupportTable

const prices: Prices = { input: 2_500_000, output: 10_000_000, cacheRead: 250_000, cacheWrite: 3_125_000, tiers: [] }

const model = (parts: Partial<Model> = {}): Model =>
  modelOf("acme/large", {
    prices,
    contextTokens: 200_000,
    outputTokens: 64_000,
    imageTokens: 3_000,
    quality: 0.8,
    support,
    ...parts
  })

const request = (messages: ReadonlyArray<Message>, parts: Partial<ChatRequest> = {}): ChatRequest =>
  chatRequest({ messages, ...parts })

const says = (content: string): Message => ({ role: "user", content })
const middle = () => 0.5
const measure = (asked: ChatRequest) => Estimate.estimatePrompt(asked, middle)
const measured = (content: string) => measure(request([says(content)]))
/** What the framing alone counts. */
const empty = measured("")
const tokensOf = (content: string) => measured(content).estimatedTokens - empty.estimatedTokens

describe("Measuring a prompt", () => {
  it("the estimate is within a factor of two and a half of real tokenizers for text of every kind", () => {
    // Counted with the encoding o200k_base.
    const samples: ReadonlyArray<readonly [text: string, tokens: number]> = [
      ["The quick brown fox jumps over the lazy dog. ".repeat(20), 201],
      ["function add(a, b) {\n  return a + b;\n}\n".repeat(20), 280],
      ["1234567890 ".repeat(20), 100],
      ["Быстрая коричневая лиса прыгает через ленивую собаку. ".repeat(20), 382],
      ["敏捷的棕色狐狸跳过了懒狗。".repeat(20), 280],
      ['{"name":"get_weather","arguments":{"city":"Paris","unit":"celsius"}}\n'.repeat(20), 360],
      ["🙂👍🏽 ".repeat(20), 81]
    ]
    for (const [text, tokens] of samples) {
      const ratio = tokensOf(text) / tokens
      expect(ratio, text.slice(0, 30)).toBeGreaterThan(0.4)
      expect(ratio, text.slice(0, 30)).toBeLessThan(2.5)
    }
  })

  it("long opaque runs count by their length", () => {
    expect(tokensOf("A".repeat(30_000))).toBeGreaterThanOrEqual(20_000)
    expect(tokensOf("a1B2c3".repeat(5_000))).toBeGreaterThanOrEqual(20_000)
  })

  it("measuring is linear in the length of hostile text", () => {
    const time = (text: string) => {
      const started = process.cpuUsage()
      measured(text)
      return process.cpuUsage(started).user / 1_000
    }
    time("warm up ".repeat(100_000))
    for (const unit of ["a", "a1", " ", "\n", "!", "é", "漢", "\ud800", "a!"]) {
      expect(time(unit.repeat(1_000_000 / unit.length)), JSON.stringify(unit)).toBeLessThan(2_000)
    }
  })

  it("each page of a PDF counts as an image for money, and the file as one for limits", () => {
    const pages = Buffer.from("%PDF-1.7 ".concat("<< /Type /Page >> ".repeat(5))).toString("base64")
    const part = (head: string, filename?: string) => {
      const file = { file_data: head + pages, ...(filename !== undefined && { filename }) }
      return { type: "file" as const, file }
    }
    const parts = [
      part("data:application/pdf;base64,"),
      part("data:application/octet-stream;base64,", "a.PDF"),
      part("data:application/octet-stream;base64,"),
      part("data:application/pdf;base64,%")
    ]
    const media = measure(request([{ role: "user", content: parts }]))
    expect(media).toMatchObject({ files: 4, furtherPages: 8 })
    const bound = Estimate.promptTokensBound(media, model())
    expect(bound - Estimate.textTokensBound(media)).toBe(12 * 3_000)
    expect(Estimate.imagesBound(media)).toBe(12)
    expect(Estimate.likelyTokensWithMedia(media, 3_000) - Estimate.likelyPromptTokens(media)).toBe(4 * 3_000)
  })

  it("an image or a file counts as one, whatever the length of its data", () => {
    const data = `data:image/png;base64,${"A".repeat(1_000_000)}`
    const media = measure(
      request([
        {
          role: "user",
          content: [
            { type: "text", text: "what is this?" },
            { type: "image_url", image_url: { url: data } },
            { type: "file", file: { file_data: data } },
            { type: "input_audio", input_audio: { data: "A".repeat(12_800), format: "mp3" } }
          ]
        }
      ])
    )
    expect(media).toMatchObject({ images: 1, files: 1, audioTokens: 100 })
    expect(media.utf8Bytes).toBe(measured("what is this?").utf8Bytes)
    expect(Estimate.promptTokensBound(media, model())).toBe(
      Estimate.promptTokensBound(measured("what is this?"), model()) + 2 * 3_000 + 100
    )
  })

  it.each([
    ["data:text/plain;base64,", undefined],
    ["data:application/json;base64,", "data.docx"],
    ["data:application/octet-stream;base64,", "notes.md"],
    ["data:;base64,", undefined]
  ])("a file that is text counts as its text (%s, %s)", (head, filename) => {
    const words = "the quick brown fox, größer and 漢字 ".repeat(2_000)
    const file = {
      ...(filename !== undefined && { filename }),
      file_data: head + Buffer.from(words).toString("base64")
    }
    const inFile = measure(request([{ role: "user", content: [{ type: "file", file }] }]))
    const asText = measured(words)
    const framing = 8
    expect(inFile).toMatchObject({
      files: 0,
      utf8Bytes: asText.utf8Bytes + framing + (filename?.length ?? 0)
    })
    const boundOf = (measure: Estimate.PromptEstimate) => Estimate.promptTokensBound(measure, model())
    expect(boundOf(inFile) / boundOf(asText)).toBeCloseTo(1, 2)
  })

  it.each([
    "data:application/pdf;base64,AAAA",
    "data:application/octet-stream;base64,AAAA",
    "data:text/plain;base64,A",
    "https://example.com/notes.txt"
  ])("a file whose length nothing says counts as one (%s)", (file_data) => {
    expect(measure(request([{ role: "user", content: [{ type: "file", file: { file_data } }] }]))).toMatchObject({
      files: 1,
      utf8Bytes: measured("").utf8Bytes
    })
  })

  it("everything that a provider reads counts: tools, formats, tool calls and earlier reasoning", () => {
    const plain = request([says("hi")])
    const more: ReadonlyArray<ChatRequest> = [
      { ...plain, tools: [{ type: "function", function: { name: "f", description: "x".repeat(400) } }] },
      { ...plain, responseFormat: { type: "json_schema", json_schema: { name: "x".repeat(400) } } },
      request([says("hi"), { role: "tool", tool_call_id: "1", content: "x".repeat(400) }]),
      request([
        says("hi"),
        {
          role: "assistant",
          tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "x".repeat(400) } }]
        }
      ]),
      request([
        says("hi"),
        { role: "assistant", reasoning_details: [{ type: "reasoning.encrypted", data: "x".repeat(400) }] }
      ]),
      request([says("hi"), { role: "assistant", content: [{ type: "refusal", refusal: "x".repeat(400) }] }])
    ]
    const before = measure(plain)
    for (const request of more) {
      const after = measure(request)
      expect(after.utf8Bytes - before.utf8Bytes).toBeGreaterThanOrEqual(400)
      expect(after.estimatedTokens - before.estimatedTokens).toBeGreaterThan(200)
    }
  })

  it("the estimate never shrinks when text is added", () => {
    fc.assert(
      fc.property(fc.fullUnicodeString(), fc.fullUnicodeString(), (text, more) => {
        const shorter = measured(text)
        const longer = measure(request([says(text), says(more)]))
        expect(longer.utf8Bytes).toBeGreaterThanOrEqual(shorter.utf8Bytes)
        expect(longer.estimatedTokens).toBeGreaterThanOrEqual(shorter.estimatedTokens)
        expect(Estimate.promptTokensBound(longer, model())).toBeGreaterThanOrEqual(
          Estimate.promptTokensBound(shorter, model())
        )
      })
    )
  })
})

describe("The output cap", () => {
  const prompt = measured("hello")
  const cap = (wanted: number | undefined, parts: Partial<Model> = {}) =>
    Estimate.outputCap(request([], { maxOutputTokens: wanted }), { model: model(parts), terms: plainTerms }, prompt)

  it("the output cap is the client's, else the profile's, else the model's limit", () => {
    const profile = { effort: null, maxOutputTokens: 8_000, apiVersion: null }
    expect(cap(1_000)).toBe(1_000)
    expect(cap(100_000)).toBe(64_000)
    expect(cap(undefined)).toBe(64_000)
    expect(cap(undefined, { profile })).toBe(8_000)
    expect(cap(10_000, { profile })).toBe(8_000)
    expect(cap(undefined, { outputTokens: null, contextTokens: null })).toBe(16_384)
    expect(cap(50_000, { outputTokens: null, contextTokens: null })).toBe(50_000)
  })

  it("the output cap leaves room for the prompt in the context, and at least one token", () => {
    expect(cap(undefined, { contextTokens: 1_000 })).toBe(1_000 - Estimate.likelyPromptTokens(prompt))
    expect(cap(undefined, { contextTokens: 1 })).toBe(1)
  })
})

const rate = fc.integer({ min: 0, max: 75_000_000 })
const orNull = (rate: fc.Arbitrary<number>) => fc.option(rate, { nil: null })
const rates = { input: rate, output: rate, cacheRead: orNull(rate), cacheWrite: orNull(rate) }
const anyPrices: fc.Arbitrary<Prices> = fc.record({
  ...rates,
  tiers: fc
    .array(fc.record({ ...rates, abovePromptTokens: fc.integer({ min: 0, max: 400 }) }), { maxLength: 3 })
    .map((tiers) => tiers.sort((a, b) => a.abovePromptTokens - b.abovePromptTokens))
})
const anyCall = fc.record({
  prices: anyPrices,
  text: fc.string({ maxLength: 600 }),
  wanted: fc.option(fc.integer({ min: 1, max: 10_000 }), { nil: undefined }),
  reasoning: fc.boolean()
})

describe("The hold", () => {
  it("a hold covers the cost of any usage within the bounds, in every price tier", () => {
    fc.assert(
      fc.property(
        anyCall,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 }),
        (call, parts) => {
          const priced = model({ prices: call.prices, outputTokens: 10_000 })
          const asked = request([says(call.text)], { maxOutputTokens: call.wanted })
          const prompt = measure(asked)
          const bound = Estimate.promptTokensBound(prompt, priced)
          const cap = Estimate.outputCap(asked, { model: priced, terms: plainTerms }, prompt)
          const [total = 0, read = 0, write = 0, output = 0, reasoning = 0] = parts
          const tokens = Math.floor(bound * total)
          const cacheReadTokens = Math.floor(tokens * read)
          const cacheWriteTokens = Math.floor((tokens - cacheReadTokens) * write)
          const outputTokens = Math.floor(cap * output)
          const used = usage({
            inputTokens: tokens - cacheReadTokens - cacheWriteTokens,
            cacheReadTokens,
            cacheWriteTokens,
            outputTokens,
            reasoningTokens: Math.floor((cap - outputTokens) * reasoning)
          })
          expect(
            Estimate.holdOption(prompt, asked, { model: priced, terms: plainTerms }, call.reasoning).max
          ).toBeGreaterThanOrEqual(costOf(call.prices, used))
        }
      )
    )
  })

  it("a hold is never more than the request lets the call cost, where that pays for the prompt", () => {
    fc.assert(
      fc.property(anyCall, fc.nat(2_000_000), (call, maxCostMicroUsd) => {
        const route = { model: model({ prices: call.prices, outputTokens: 10_000 }), terms: plainTerms }
        const free = request([says(call.text)], { maxOutputTokens: call.wanted })
        const asked = { ...free, routing: { ...free.routing, maxCostMicroUsd } }
        const prompt = measure(asked)
        const least = Estimate.holdOption(prompt, { ...free, maxOutputTokens: 1 }, route, false).max
        fc.pre(maxCostMicroUsd >= least)
        const { max, min, typical } = Estimate.holdOption(prompt, asked, route, call.reasoning)
        for (const amount of [max, min, typical ?? 0]) expect(amount).toBeLessThanOrEqual(maxCostMicroUsd)
        expect(Estimate.outputCap(asked, route, prompt)).toBeLessThanOrEqual(Estimate.outputCap(free, route, prompt))
      })
    )
  })

  it("a hold pays for the cap that it affords, and not for one token more", () => {
    fc.assert(
      fc.property(anyCall, fc.double({ min: 0, max: 1, noNaN: true }), (call, share) => {
        const priced = model({ prices: call.prices, outputTokens: 10_000 })
        const asked = request([says(call.text)], { maxOutputTokens: call.wanted })
        const prompt = measure(asked)
        const cap = Estimate.outputCap(asked, { model: priced, terms: plainTerms }, prompt)
        const { max: full, min: least } = Estimate.holdOption(
          prompt,
          asked,
          { model: priced, terms: plainTerms },
          call.reasoning
        )
        expect(least).toBeLessThanOrEqual(full)
        const amount = microUsd(least + Math.floor((full - least) * share))
        const affordable = Estimate.affordableOutputTokens(amount, prompt, { model: priced, terms: plainTerms }, cap)
        const costs = (tokens: number) =>
          Estimate.holdOption(
            prompt,
            { ...asked, maxOutputTokens: tokens },
            { model: priced, terms: plainTerms },
            false
          ).max
        expect(affordable).toBeGreaterThanOrEqual(Math.min(cap, call.reasoning ? 4_096 : 256))
        expect(affordable).toBeLessThanOrEqual(cap)
        expect(costs(affordable)).toBeLessThanOrEqual(amount)
        if (affordable < cap) expect(costs(affordable + 1)).toBeGreaterThan(amount)
      })
    )
  })

  it("a hold is for one and a half times the tokens of the prompt, at least one for 1.9 bytes, at most one a byte", () => {
    const bound = (content: string) => Estimate.promptTokensBound(measured(content), model())
    const prose = "The quick brown fox jumps over the lazy dog. ".repeat(100)
    expect(bound(prose)).toBe(Math.ceil(measured(prose).utf8Bytes / 1.9))
    const amharic = "ትናንት ምሽት በወንዙ ዳር ".repeat(100)
    expect(bound(amharic)).toBe(Math.ceil(measured(amharic).highTokens * 1.5))
    const marks = "!?".repeat(500)
    expect(bound(marks)).toBeLessThanOrEqual(measured(marks).utf8Bytes)
    const yi = "\ua000\ua48c".repeat(100)
    expect(bound(yi)).toBe(measured(yi).utf8Bytes)
  })

  it("nothing is held where the price is unknown", () => {
    const prompt = measured("hi")
    const unpriced = model({ prices: null })
    expect(Estimate.holdOption(prompt, request([]), { model: unpriced, terms: plainTerms }, true)).toEqual({
      max: 0,
      min: 0,
      typical: 0
    })
    expect(Estimate.affordableOutputTokens(microUsd(0), prompt, { model: unpriced, terms: plainTerms }, 777)).toBe(777)
  })
})
