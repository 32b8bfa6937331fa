import * as Either from "effect/Either"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import type { ChatRequest, RoutingControls } from "../../src/domain/Chat.ts"
import { protocolIds, shapingParameters, tuningParameters } from "../../src/domain/Support.ts"
import { loggedCall } from "../../src/ledger/CallRows.ts"
import { intersectPolicies } from "../../src/policy/EffectivePolicy.ts"
import { sameFigure } from "../../src/routing/ModelTable.ts"
import { classify } from "../../src/routing/quality/Classify.ts"
import { expectedOutputTokens, qualityFor } from "../../src/routing/quality/QualityTable.ts"
import { choose, contextOf } from "../../src/routing/Replay.ts"
import { featuresOf, fromRecorded, recorded } from "../../src/routing/RequestFeatures.ts"
import { requirementFor } from "../../src/routing/Requirements.ts"
import { choicesAt, rank, replay } from "../../src/routing/Router.ts"
import { testCaller } from "../../src/testing/doubles/TestGateway.ts"
import { record } from "../ledger/fixtures.ts"
import { configuration, controls, healthy, model, open, prices, project, request, supporting } from "./models.ts"

const tool = { type: "function", function: { name: "f" } } as const
const image = { type: "image_url", image_url: { url: "https://example.org/a.png" } } as const
const pasted = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } } as const
const file = { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } } as const
const fileAtAddress = { type: "file", file: { file_data: "https://example.org/a.pdf" } } as const
const heic = { type: "image_url", image_url: { url: "data:image/heic;base64,AAAA" } } as const
const zip = { type: "file", file: { file_data: "data:application/zip;base64,AAAA" } } as const
const word = { type: "file", file: { filename: "a.docx", file_data: "data:application/msword;base64,AAAA" } } as const
const byId = { type: "file", file: { file_id: "file-1" } } as const
const audio = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } } as const

const asked: fc.Arbitrary<Partial<ChatRequest>> = fc.record(
  {
    messages: fc
      .record({
        text: fc.string({ maxLength: 300 }),
        part: fc.option(fc.constantFrom(image, audio, pasted, file, fileAtAddress, heic, zip, word, byId), {
          nil: undefined
        })
      })
      .map(({ part, text }) => [
        { role: "user" as const, content: [{ type: "text" as const, text }, ...(part === undefined ? [] : [part])] }
      ]),
    tools: fc.constantFrom([], [tool]),
    toolChoice: fc.constantFrom("auto" as const, "none" as const, "required" as const),
    maxOutputTokens: fc.constantFrom(1, 100, 50_000),
    responseFormat: fc.constantFrom(
      { type: "text" },
      { type: "json_object" },
      { type: "json_schema", json_schema: { schema: {} } }
    ),
    temperature: fc.constant(0.3),
    stop: fc.constantFrom([], ["x"], ["x", "y"], ["1", "2", "3", "4", "5"], ["1", "2", "3", "4", "5", "6"]),
    logprobs: fc.boolean(),
    topLogprobs: fc.constantFrom(0, 3),
    modalities: fc.constantFrom(["text"], ["text", "audio"]),
    serviceTier: fc.constantFrom("auto", "flex", "unheard-of"),
    webSearchOptions: fc.constant({}),
    reasoning: fc
      .constantFrom(["enabled", 4_000] as const, ["adaptive", undefined] as const, ["disabled", undefined] as const)
      .map(([mode, maxTokens]) => ({ mode, maxTokens, summary: undefined, exclude: false })),
    cacheMarks: fc.constant("1h" as const),
    user: fc.constant("u"),
    prediction: fc.constant({})
  },
  { requiredKeys: ["messages"] }
)

const patterns = fc.array(fc.constantFrom("acme/*", "beta/1", "m0", "*", "nobody/*"), { maxLength: 2 })
const restriction = fc.record({ allow: fc.option(patterns), deny: patterns })
/** What a request restricts by itself. */
const restricting: fc.Arbitrary<Partial<RoutingControls>> = fc.record(
  {
    models: restriction,
    providers: fc.record({ allow: fc.option(fc.constantFrom(["acme"], ["beta", "cera"], [])), deny: fc.constant([]) }),
    alpha: fc.constantFrom(0, 0.3, 1),
    maxInputPriceMicroUsdPerMillion: fc.integer({ min: 0, max: 20_000_000 }),
    maxOutputPriceMicroUsdPerMillion: fc.integer({ min: 0, max: 80_000_000 }),
    enableFallback: fc.boolean(),
    maxCostMicroUsd: fc.integer({ min: 0, max: 20_000 })
  },
  { requiredKeys: [] }
)

const boundOf = (maxMicroUsd: number | undefined) =>
  maxMicroUsd === undefined ? undefined : { maxMicroUsd, textTokens: 150, imagesAndFiles: 1, audioTokens: 7 }

/** What a provider refuses that takes one stop string, no JSON schema and no other tool choice than `auto`. */
const autoOnly = {
  "response_format.json_schema": "refused",
  "tool_choice.required": "refused",
  "stop[1]": "refused"
} as const

const certain = { propensity: 1, qualityVersion: null }

const restrictionsOf = (some: Partial<RoutingControls>) => ({
  models: some.models ?? open.models,
  providers: some.providers ?? open.providers,
  maxInputPriceMicroUsdPerMillion: some.maxInputPriceMicroUsdPerMillion ?? null,
  maxOutputPriceMicroUsdPerMillion: some.maxOutputPriceMicroUsdPerMillion ?? null
})

const mandatory = {
  efforts: ["high"],
  style: "effort",
  budget: null,
  defaultEffort: null,
  mandatory: true,
  depth: null
} as const

const row = fc.record({
  provider: fc.constantFrom("acme", "beta", "cera"),
  input: fc.integer({ min: 0, max: 20_000_000 }),
  output: fc.integer({ min: 0, max: 80_000_000 }),
  quality: fc.double({ min: 0, max: 1, noNaN: true }),
  tools: fc.constantFrom(true, false, null),
  vision: fc.constantFrom(true, false, null),
  context: fc.constantFrom(50, 100_000, null),
  protocol: fc.constantFrom(...protocolIds),
  stop: fc.constantFrom("native" as const, "refused" as const, "dropped" as const),
  alwaysReasons: fc.boolean(),
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
        restricting,
        fc.option(restricting),
        fc.nat(50),
        (more, rows, alpha, managed, own, configured, images) => {
          const full = model("a/a").capabilities
          const models = rows.map((one, at) =>
            model(`${one.provider}/${at}`, {
              prices: prices(one.input, one.output),
              quality: one.quality,
              capabilities: { ...full, tools: one.tools, vision: one.vision },
              contextTokens: one.context,
              imageTokens: one.input % 1_000,
              protocol: one.protocol,
              reasonsByDefault: one.alwaysReasons,
              reasoning: one.alwaysReasons ? mandatory : null,
              support: supporting({
                stop: one.stop,
                ...(one.strict && { logprobs: "refused", ...autoOnly })
              })
            })
          )
          const routing = controls(own)
          const made = request({ ...more, routing })
          const slug =
            configured === null
              ? null
              : configuration({ ...restrictionsOf(configured), alpha: configured.alpha ?? null })
          const current = project({ defaultAlpha: alpha })
          const classes = classify(made, 120)
          const features = featuresOf(made, false, 120, classes, boundOf(own.maxCostMicroUsd), images)
          const ranked = rank({
            snapshot: makeSnapshot(models),
            policy: intersectPolicies(current, slug, made.routing),
            quality: qualityFor(classes),
            outputTokens: sameFigure(expectedOutputTokens(classes)),
            health: () => healthy,
            nowMillis: 0,
            billingMode: managed ? "managed" : "byok",
            request: made,
            features
          })
          const text = recorded(features, certain)
          const read = text === null ? null : fromRecorded(text)
          if (read === null) throw new Error("the features were not recorded")
          const rules = {
            snapshot: makeSnapshot(models),
            project: current,
            configurations: slug === null ? [] : [slug]
          }
          const past = { features: read, routingConfig: slug?.slug ?? null }
          const context = contextOf(past, { ...rules, billingMode: managed ? "managed" : "byok" })
          if (context === null) throw new Error("its routing configuration is there")
          const again = replay(read, context)
          expect(again.map((one) => [one.model.id, one.expectedCost])).toEqual(
            Either.isLeft(ranked) ? [] : ranked.right.candidates.all().map((one) => [one.model.id, one.expectedCost])
          )
          // the first at any alpha, without sorting
          for (const other of [context.policy.alpha, 0, 0.5, 1]) {
            const sorted = replay(read, { ...context, policy: { ...context.policy, alpha: other } })
            expect(choicesAt(read, context, [0.2, other])[1]).toEqual(sorted[0])
          }
        }
      ),
      { numRuns: 500 }
    )
  })

  it("needs about 120 bytes, and no text of the prompt", () => {
    const made = request({ messages: [{ role: "user", content: "My secret is 4711." }], tools: [tool], temperature: 1 })
    const text = recorded(featuresOf(made, false, 1_234, classify(made, 1_234)), certain) ?? ""
    expect(text.length).toBeLessThan(180)
    expect(text).not.toContain("4711")
  })

  it("is not recorded where the row would cut it, and has how likely the choice was where that was left to chance", () => {
    const naming = (count: number) => {
      const deny = Array.from({ length: count }, (_, at) => `acme/model-${at}`)
      return featuresOf(request({ routing: controls({ models: { allow: null, deny } }) }), false, 10, [])
    }
    const text = recorded(naming(100), certain) ?? ""
    expect(fromRecorded(text)?.controls.models.deny).toHaveLength(100)
    expect(JSON.parse(loggedCall("id", testCaller, record({ features: text }), () => undefined).call)).toMatchObject({
      features: text
    })
    expect(recorded(naming(200), certain)).toBeNull()
    expect(JSON.parse(recorded(naming(1), { propensity: 0.25, qualityVersion: 3 }) ?? "")).toMatchObject({
      p: 0.25,
      q: 3
    })
    expect(JSON.parse(recorded(naming(1), certain) ?? "")).not.toHaveProperty("p")
    expect(JSON.parse(recorded(naming(1), certain) ?? "")).not.toHaveProperty("q")
  })

  it("needs the routing configuration that was used", () => {
    const features = featuresOf(request(), false, 10, [])
    const rules = { snapshot: makeSnapshot([model("a/a")]), project: project(), billingMode: "managed" } as const
    const call = { features, routingConfig: "cheap" }
    expect(choose(call, { ...rules, configurations: [] }, [])).toBeNull()
    expect(choose(call, { ...rules, configurations: [configuration()] }, [])?.own?.model.id).toBe("a/a")
  })

  it("knows every requirement that a request can have", () => {
    const reasons = new Map<string, string>([
      ["tool_choice.required", "unsupported_forced_tool"],
      ["stop[1]", "unsupported_stop_over_1"]
    ])
    for (const name of [...tuningParameters, ...shapingParameters]) {
      const reason = reasons.get(name) ?? `unsupported_${name}`
      if (name !== "reasoning_effort") expect(requirementFor(reason)?.parameter, name).toBe(name)
    }
    expect(fromRecorded('{"v":2,"c":[],"t":1,"n":["unsupported_nothing"]}')).toBeNull()
    // the first version left out what the request itself restricts
    expect(fromRecorded('{"v":1,"c":[],"t":1}')).toBeNull()
    expect(fromRecorded('{"v":99,"c":[],"t":1}')).toBeNull()
  })
})
