import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import type { ChatRequest } from "../../src/domain/Chat.ts"
import { shapingParameters, tuningParameters } from "../../src/domain/Support.ts"
import { intersectPolicies } from "../../src/policy/EffectivePolicy.ts"
import { classify } from "../../src/routing/quality/Classify.ts"
import { expectedOutputTokens, qualityFor } from "../../src/routing/quality/QualityTable.ts"
import { featuresOf, fromRecorded, recorded } from "../../src/routing/RequestFeatures.ts"
import { requirementFor } from "../../src/routing/Requirements.ts"
import { type RankContext, rank, replay } from "../../src/routing/Router.ts"
import { controls, healthy, model, prices, project, request, supporting } from "./models.ts"

const tool = { type: "function", function: { name: "f" } } as const
const image = { type: "image_url", image_url: { url: "https://example.org/a.png" } } as const
const audio = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } } as const

const asked: fc.Arbitrary<Partial<ChatRequest>> = fc.record(
  {
    messages: fc
      .record({
        text: fc.string({ maxLength: 300 }),
        part: fc.option(fc.constantFrom(image, audio), { nil: undefined })
      })
      .map(({ part, text }) => [
        { role: "user" as const, content: [{ type: "text" as const, text }, ...(part === undefined ? [] : [part])] }
      ]),
    tools: fc.constantFrom([], [tool]),
    toolChoice: fc.constantFrom("auto" as const, "none" as const, "required" as const),
    maxOutputTokens: fc.constantFrom(1, 100, 50_000),
    responseFormat: fc.constantFrom({ type: "text" }, { type: "json_object" }),
    temperature: fc.constant(0.3),
    stop: fc.constantFrom([], ["x"]),
    logprobs: fc.boolean(),
    topLogprobs: fc.constantFrom(0, 3),
    modalities: fc.constantFrom(["text"], ["text", "audio"]),
    serviceTier: fc.constantFrom("auto", "flex", "unheard-of"),
    webSearchOptions: fc.constant({})
  },
  { requiredKeys: ["messages"] }
)

const row = fc.record({
  provider: fc.constantFrom("acme", "beta", "cera"),
  input: fc.integer({ min: 0, max: 20_000_000 }),
  output: fc.integer({ min: 0, max: 80_000_000 }),
  quality: fc.double({ min: 0, max: 1, noNaN: true }),
  tools: fc.constantFrom(true, false, null),
  vision: fc.constantFrom(true, false, null),
  context: fc.constantFrom(50, 100_000, null),
  strict: fc.boolean()
})

describe("A decision that is made again from the recorded features", () => {
  it("is the one that was made from the text, for any request and any models", () => {
    fc.assert(
      fc.property(
        asked,
        fc.array(row, { minLength: 1, maxLength: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.boolean(),
        (more, rows, alpha, managed) => {
          const full = model("a/a").capabilities
          const models = rows.map((one, at) =>
            model(`${one.provider}/${at}`, {
              prices: prices(one.input, one.output),
              quality: one.quality,
              capabilities: { ...full, tools: one.tools, vision: one.vision },
              contextTokens: one.context,
              support: one.strict ? supporting({ stop: "refused", logprobs: "refused" }) : model("a/a").support
            })
          )
          const made = request(more)
          const classes = classify(made, 120)
          const features = featuresOf(made, false, 120, classes)
          const context = (own: ReadonlyArray<number>): RankContext => ({
            snapshot: makeSnapshot(models),
            policy: intersectPolicies(project({ defaultAlpha: alpha }), null, controls()),
            quality: qualityFor(own),
            outputTokens: () => expectedOutputTokens(own),
            health: () => healthy,
            nowMillis: 0,
            billingMode: managed ? "managed" : "byok"
          })
          const ranked = rank({ ...context(classes), request: made, features })
          const text = recorded(features)
          const read = text === null ? null : fromRecorded(text)
          if (read === null) throw new Error("the features were not recorded")
          const again = replay(read, context(read.classes))
          expect(again.map((one) => [one.model.id, one.expectedCost])).toEqual(
            Either.isLeft(ranked) ? [] : ranked.right.candidates.map((one) => [one.model.id, one.expectedCost])
          )
        }
      ),
      { numRuns: 500 }
    )
  })

  it("needs about 120 bytes, and no text of the prompt", () => {
    const made = request({ messages: [{ role: "user", content: "My secret is 4711." }], tools: [tool], temperature: 1 })
    const text = recorded(featuresOf(made, false, 1_234, classify(made, 1_234))) ?? ""
    expect(text.length).toBeLessThan(180)
    expect(text).not.toContain("4711")
  })

  it("knows every requirement that a request can have", () => {
    for (const name of [...tuningParameters, ...shapingParameters]) {
      if (name !== "reasoning_effort") expect(requirementFor(`unsupported_${name}`)?.parameter, name).toBe(name)
    }
    expect(fromRecorded('{"v":1,"c":[],"t":1,"n":["unsupported_nothing"]}')).toBeNull()
    expect(fromRecorded('{"v":99,"c":[],"t":1}')).toBeNull()
  })
})
