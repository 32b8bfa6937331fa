import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { ChatRequest, Message, UserPart } from "../../src/domain/Chat.ts"
import type { Capability, Model } from "../../src/domain/Model.ts"
import { plainTerms } from "../../src/domain/Prices.ts"
import { type Parameter, tuningParameters } from "../../src/domain/Support.ts"
import { intersectPolicies } from "../../src/policy/EffectivePolicy.ts"
import { filterEligible } from "../../src/routing/Eligibility.ts"
import { extrasOf, leftOutOf } from "../../src/routing/LeftOut.ts"
import { tableOf } from "../../src/routing/ModelTable.ts"
import { requirementsOf } from "../../src/routing/Requirements.ts"
import { configuration, controls, model, prices, project, request, supporting } from "./models.ts"

const ask = (
  pool: ReadonlyArray<Model>,
  more: Partial<ChatRequest> = {},
  options: { promptTokens?: number; billingMode?: "managed" | "byok"; pinned?: boolean } = {}
) => {
  const asked = request(more)
  const { eligible, ...rest } = filterEligible(tableOf(pool), {
    policy: intersectPolicies(project(), null, asked.routing),
    maxOutputTokens: asked.maxOutputTokens,
    requirements: requirementsOf(asked, options.pinned ?? false),
    promptTokens: options.promptTokens ?? 10,
    imagesAndFiles: 0,
    billingMode: options.billingMode ?? "managed",
    terms: plainTerms,
    termsOf: () => plainTerms,
    reasons: () => false
  })
  return { ...rest, eligible: eligible.flatMap((at) => pool[at] ?? []) }
}

const lacking = (capability: Capability, value: boolean | null = false): Model => {
  const full = model("acme/lacking")
  return { ...full, capabilities: { ...full.capabilities, [capability]: value } }
}

const user = (...content: ReadonlyArray<UserPart>): ReadonlyArray<Message> => [
  { role: "system", content: "Be brief." },
  { role: "user", content: [{ type: "text", text: "Look:" }, ...content] }
]
const tool = { type: "function", function: { name: "f" } } as const
const image = (url: string): UserPart => ({ type: "image_url", image_url: { url } })

describe("What the request requires", () => {
  const cases: ReadonlyArray<readonly [string, Partial<ChatRequest>, Capability, string, string]> = [
    ["tools", { tools: [tool] }, "tools", "tools", "unsupported_tools"],
    ["a forced tool", { toolChoice: "required" }, "tools", "tool_choice", "unsupported_tool_choice"],
    [
      "tool results",
      { messages: [{ role: "tool", content: "1", tool_call_id: "c" }] },
      "tools",
      "messages[0].role",
      "unsupported_tools"
    ],
    [
      "earlier tool calls",
      {
        messages: [
          { role: "user", content: "x" },
          {
            role: "assistant",
            tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }]
          }
        ]
      },
      "tools",
      "messages[1].tool_calls",
      "unsupported_tools"
    ],
    [
      "an inline image",
      { messages: user(image("data:image/png;base64,AA==")) },
      "vision",
      "messages[1].content[1].type",
      "unsupported_vision"
    ],
    [
      "an image by address",
      { messages: user(image("data:image/png;base64,AA=="), image("HTTPS://example.com/a.png")) },
      "image-url",
      "messages[1].content[2].image_url.url",
      "unsupported_image_url"
    ],
    [
      "audio",
      { messages: user({ type: "input_audio", input_audio: { data: "AA==", format: "wav" } }) },
      "audio-input",
      "messages[1].content[1].type",
      "unsupported_audio_input"
    ],
    [
      "a file",
      { messages: user({ type: "file", file: { file_data: "data:application/pdf;base64,AA==" } }) },
      "file-input",
      "messages[1].content[1].type",
      "unsupported_file_input"
    ],
    [
      "a JSON object",
      { responseFormat: { type: "json_object" } },
      "structured-output",
      "response_format",
      "unsupported_response_format"
    ],
    [
      "a JSON schema",
      { responseFormat: { type: "json_schema", json_schema: {} } },
      "structured-output",
      "response_format",
      "unsupported_response_format"
    ],
    ["log probabilities", { logprobs: true }, "logprobs", "logprobs", "unsupported_logprobs"],
    ["top log probabilities", { topLogprobs: 2 }, "logprobs", "top_logprobs", "unsupported_top_logprobs"]
  ]

  it.each(cases)(
    "%s: a model that cannot is out, for that reason, at that param",
    (_, asked, capability, param, reason) => {
      const able = model("acme/able")
      const sifted = ask([lacking(capability), able], asked)
      expect(sifted.eligible).toEqual([able])
      expect(sifted.excluded).toEqual({ [reason]: 1 })
      expect(sifted.largestExclusion?.param).toBe(param)
    }
  )

  it.each(cases)(
    "%s: a model that may or may not is taken only where no other is certain to",
    (...[, asked, capability, , reason]) => {
      const unknown = lacking(capability, null)
      const able = model("acme/able")
      expect(ask([unknown, able], asked)).toMatchObject({ eligible: [able], excluded: { [reason]: 1 } })
      expect(ask([unknown, { ...able, contextTokens: 5 }], asked)).toMatchObject({
        eligible: [unknown],
        excluded: { context_length: 1 }
      })
    }
  )

  it("a request without requirements excludes no model", () => {
    const none = model("acme/none", {
      capabilities: {
        tools: false,
        vision: false,
        "structured-output": false,
        sampling: false,
        logprobs: false,
        "audio-input": false,
        "file-input": false,
        "image-url": false
      }
    })
    const harmless: Partial<ChatRequest> = {
      toolChoice: "none",
      responseFormat: { type: "text" },
      logprobs: false,
      topLogprobs: 0,
      modalities: ["text"],
      messages: [{ role: "user", content: [{ type: "text", text: "https://example.com" }] }]
    }
    expect(ask([none], harmless).eligible).toEqual([none])
    expect(ask([none], { ...harmless, toolChoice: "auto" }).eligible).toEqual([none])
  })

  const shapes: ReadonlyArray<readonly [Parameter, Partial<ChatRequest>]> = [
    ["tools", { tools: [tool] }],
    ["tool_choice", { toolChoice: { type: "function", function: { name: "f" } } }],
    ["response_format", { responseFormat: { type: "json_object" } }],
    ["response_format.json_schema", { responseFormat: { type: "json_schema", json_schema: {} } }],
    ["response_format.tools", { tools: [tool], responseFormat: { type: "json_object" } }],
    ["response_format.json_schema.stream", { stream: true, responseFormat: { type: "json_schema", json_schema: {} } }],
    ["modalities", { modalities: ["text", "audio"] }],
    ["audio", { audio: { voice: "alloy" } }],
    ["logprobs", { logprobs: true }],
    ["top_logprobs", { topLogprobs: 1 }]
  ]

  it("a model whose provider takes JSON objects alone is asked for no schema", () => {
    const objects = model("acme/objects", { support: supporting({ "response_format.json_schema": "refused" }) })
    expect(ask([objects], { responseFormat: { type: "json_object" } }).eligible).toEqual([objects])
    const schema = { responseFormat: { type: "json_schema", json_schema: {} } }
    expect(ask([objects], schema, { pinned: true }).largestExclusion).toMatchObject({
      param: "response_format",
      what: "a JSON schema as response format"
    })
  })

  it("Gemini takes tools beside a response format from its third version on", () => {
    const gemini = (upstreamModel: string) => model(`acme/${upstreamModel}`, { protocol: "gemini", upstreamModel })
    const old = ["gemini-2.5-pro", "gemini-2.0-flash", "publishers/google/models/gemini-2.5-flash"].map(gemini)
    const current = ["gemini-3-flash-preview", "gemini-3.5-flash", "gemini-20-pro", "gemini-flash-latest"].map(gemini)
    const all = [...old, ...current]
    for (const type of ["json_object", "json_schema"]) {
      const responseFormat = { type, json_schema: {} }
      const both = { tools: [tool], responseFormat }
      expect(ask(all, both)).toMatchObject({ eligible: current, excluded: { "unsupported_response_format.tools": 3 } })
      expect(ask(all, { ...both, toolChoice: "none" }).eligible, "they are sent all the same").toEqual(current)
      expect(ask(all, { responseFormat }).eligible).toEqual(all)
    }
    expect(ask(all, { tools: [tool], responseFormat: { type: "text" } }).eligible).toEqual(all)
  })

  it("a model that streams no JSON schema is asked for one in a whole response", () => {
    const whole = model("acme/whole", { support: supporting({ "response_format.json_schema.stream": "refused" }) })
    const schema = { responseFormat: { type: "json_schema", json_schema: {} } }
    expect(ask([whole], { ...schema, stream: false }).eligible).toEqual([whole])
    expect(ask([whole], { responseFormat: { type: "json_object" }, stream: true }).eligible).toEqual([whole])
    expect(ask([whole], { ...schema, stream: true }, { pinned: true }).largestExclusion).toMatchObject({
      param: "response_format",
      what: "a streamed response with a JSON schema"
    })
  })

  it.each(shapes)("%s shapes the answer: a model that rejects or drops it is excluded", (parameter, asked) => {
    for (const support of ["refused", "dropped"] as const) {
      const without = model("acme/without", { support: supporting({ [parameter]: support }) })
      expect(ask([without], asked)).toMatchObject({ eligible: [], excluded: { [`unsupported_${parameter}`]: 1 } })
      expect(ask([without]).eligible).toEqual([without])
    }
    const translated = model("acme/translated", { support: supporting({ [parameter]: "translated" }) })
    expect(ask([translated], asked).eligible).toEqual([translated])
  })
})

describe("Efforts", () => {
  const reasoning = {
    efforts: ["low", "high"],
    style: "effort",
    budget: null,
    defaultEffort: null,
    mandatory: false,
    depth: { min: 10, max: 50 }
  } as const
  const thinker = model("acme/thinker", { reasoning })
  const plain = model("acme/plain")

  it("a pinned model accepts only the efforts that it advertises", () => {
    const taken = (effort: ChatRequest["effort"], one: Model) =>
      ask([one], { effort }, { pinned: true }).eligible.length === 1
    expect(["low", "high", 10, 50].map((effort) => taken(effort as ChatRequest["effort"], thinker))).toEqual(
      Array(4).fill(true)
    )
    expect(["none", "medium", 9, 51].map((effort) => taken(effort as ChatRequest["effort"], thinker))).toEqual(
      Array(4).fill(false)
    )
    expect(taken("low", plain)).toBe(false)
    expect(taken(10, { ...thinker, reasoning: { ...reasoning, depth: null } })).toBe(false)
    expect(taken("low", { ...thinker, support: supporting({ reasoning_effort: "refused" }) })).toBe(false)
  })

  it("in auto a named effort excludes no model", () => {
    expect(ask([plain], { effort: "max" }).eligible).toEqual([plain])
  })
})

describe("Tuning parameters", () => {
  const all: Partial<ChatRequest> = {
    temperature: 1,
    topP: 1,
    stop: ["x"],
    frequencyPenalty: 0,
    presencePenalty: 0,
    seed: 1,
    verbosity: "low",
    serviceTier: "auto",
    store: false,
    metadata: {},
    user: "u",
    safetyIdentifier: "s",
    promptCacheKey: "k",
    promptCacheOptions: {},
    promptCacheRetention: "24h",
    prediction: {},
    moderation: {},
    webSearchOptions: {},
    parallelToolCalls: false,
    topK: 5,
    cacheMarks: "5m",
    messages: [{ role: "user", content: "hi", name: "n" }]
  }
  const dropped = (one: Model, asked: Partial<ChatRequest>) => {
    const made = request(asked)
    return leftOutOf(one, made, extrasOf(made), undefined, () => false).dropped
  }

  it.each(tuningParameters)("%s is left out and named where the route drops it, but only when it was sent", (name) => {
    const one = model("acme/large", { support: supporting({ [name]: "dropped" }) })
    expect(dropped(one, all)).toEqual([name])
    expect(dropped(one, {})).toEqual([])
    expect(ask([one], all).eligible).toEqual([one])
  })

  it.each(tuningParameters)("%s excludes the route that refuses it, but only when it was sent", (name) => {
    const one = model("acme/large", { support: supporting({ [name]: "refused" }) })
    expect(ask([one], all)).toMatchObject({ eligible: [], excluded: { [`unsupported_${name}`]: 1 } })
    expect(ask([one]).eligible).toEqual([one])
  })

  it("a model without sampling leaves out temperature and top_p, one that may have it does not", () => {
    expect(dropped(lacking("sampling"), { temperature: 0.2, topP: 0.9, seed: 1 })).toEqual(["temperature", "top_p"])
    expect(dropped(lacking("sampling", null), { temperature: 0.2, topP: 0.9 })).toEqual([])
  })

  it("a token budget for reasoning is left out where the model takes none", () => {
    const asked = { reasoning: { maxTokens: 100, summary: undefined, exclude: false } }
    expect(dropped(model("acme/plain"), asked)).toEqual(["reasoning.max_tokens"])
    const budget = {
      efforts: [],
      style: "budget",
      budget: null,
      defaultEffort: null,
      mandatory: false,
      depth: null
    } as const
    expect(dropped(model("acme/budget", { reasoning: budget }), asked)).toEqual([])
    expect(dropped(model("acme/named", { reasoning: { ...budget, style: "effort" } }), asked)).toEqual([
      "reasoning.max_tokens"
    ])
  })
})

describe("Prices and lengths", () => {
  it("a model without prices is not routable where the customer is charged", () => {
    const unpriced = model("acme/unpriced", { prices: null })
    expect(ask([unpriced])).toMatchObject({ eligible: [], excluded: { unpriced: 1 }, permitted: 0 })
    expect(ask([unpriced], {}, { billingMode: "byok" }).eligible).toEqual([unpriced])
  })

  it("prompt and requested output have to fit the context", () => {
    const fits = (promptTokens: number, maxOutputTokens: number | undefined, more: Partial<Model>) =>
      ask([model("acme/m", more)], { maxOutputTokens }, { promptTokens }).eligible.length === 1
    const small = { contextTokens: 1_000, outputTokens: 100 }
    expect(fits(999, undefined, small)).toBe(true)
    expect(fits(1_000, undefined, small)).toBe(false)
    expect(fits(950, 50, small)).toBe(true)
    expect(fits(950, 51, small)).toBe(false)
    expect(fits(900, 5_000, small)).toBe(true)
    expect(fits(901, 5_000, small)).toBe(false)
    expect(fits(500, undefined, { ...small, inputTokens: 499 })).toBe(false)
    expect(fits(499, undefined, { ...small, inputTokens: 499 })).toBe(true)
    expect(fits(1e9, 1e9, { contextTokens: null, outputTokens: null })).toBe(true)
  })
})

describe("The number of tools", () => {
  const tools = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ type: "function", function: { name: `f${at}` } }) as const)
  const few = model("openai/few", { rules: { maxIdCharacters: 64, isOpenAi: true } })
  const many = model("beta/many")

  it("excludes the models of OpenAI, which takes 128", () => {
    expect(ask([few, many], { tools: tools(128) }).eligible).toHaveLength(2)
    const sifted = ask([few, many], { tools: tools(129) })
    expect(sifted.eligible).toEqual([many])
    expect(sifted.excluded).toEqual({ unsupported_tools_over_128: 1 })
    expect(ask([few], { tools: tools(129) }, { pinned: true }).largestExclusion).toMatchObject({
      param: "tools",
      what: "more than 128 tools"
    })
  })
})

describe("The number of stop strings", () => {
  const stops = (count: number) => Array.from({ length: count }, (_, at) => `stop ${at}`)
  const few = model("acme/few", { protocol: "gemini" })
  const many = model("beta/many")

  it("excludes the models whose protocol takes fewer", () => {
    expect(ask([few, many], { stop: stops(5) }).eligible).toHaveLength(2)
    const sifted = ask([few, many], { stop: stops(6) })
    expect(sifted.eligible).toEqual([many])
    expect(sifted.excluded).toEqual({ unsupported_stop_over_5: 1 })
    expect(ask([few], { stop: stops(6) }, { pinned: true }).largestExclusion).toMatchObject({
      param: "stop",
      what: "more than 5 stop sequences"
    })
  })

  it("excludes the models whose provider takes one", () => {
    const one = model("acme/one", { support: supporting({ "stop[1]": "refused" }) })
    expect(ask([one], { stop: stops(1) }).eligible).toEqual([one])
    expect(ask([one, few, many], { stop: stops(2) })).toMatchObject({
      eligible: [few, many],
      excluded: { unsupported_stop_over_1: 1 }
    })
    expect(ask([one, few, many], { stop: stops(6) })).toMatchObject({
      eligible: [many],
      excluded: { unsupported_stop_over_1: 1, unsupported_stop_over_5: 1 }
    })
    expect(ask([one], { stop: stops(2) }, { pinned: true }).largestExclusion).toMatchObject({
      param: "stop",
      what: "more than 1 stop sequence"
    })
  })

  it("excludes none that is not sent them", () => {
    const dropping = { ...few, support: supporting({ stop: "dropped" }) }
    expect(ask([dropping], { stop: stops(64) }).eligible).toEqual([dropping])
  })
})

describe("The type of an image or a file", () => {
  const claude = model("acme/claude", { protocol: "anthropic-messages" })
  const nova = model("beta/nova", { protocol: "bedrock-converse" })
  const gpt = model("cera/gpt")
  const file = (mediaType: string): UserPart => ({ type: "file", file: { file_data: `data:${mediaType};base64,AAAA` } })

  it("a text file needs file input only where it is not sent as text", () => {
    const capabilities = { ...claude.capabilities, "file-input": false }
    const blind = [claude, nova, gpt].map((one) => ({ ...one, capabilities }))
    for (const part of [file("text/plain"), file("text/csv"), file("application/json")]) {
      expect(ask([claude, nova, gpt], { messages: user(part) }).eligible).toHaveLength(3)
      const sifted = ask(blind, { messages: user(part) })
      expect(sifted.eligible.map(({ id }) => id)).toEqual(["cera/gpt"])
      expect(sifted.excluded).toEqual({ unsupported_text_file: 2 })
    }
    expect(ask(blind, { messages: user(file("text/plain"), file("application/pdf")) }).eligible).toEqual([])
  })

  it("excludes the models of Gemini's protocol for GIF images, however they are sent", () => {
    const gemini = model("dora/gemini", { protocol: "gemini" })
    for (const part of [image("data:image/gif;base64,AAAA"), file("image/gif")]) {
      const sifted = ask([claude, gemini], { messages: user(part) })
      expect(sifted.eligible.map(({ id }) => id)).toEqual(["acme/claude"])
      expect(sifted.excluded).toEqual({ unsupported_gif: 1 })
    }
    expect(ask([gemini], { messages: user(image("data:image/png;base64,AAAA")) }).eligible).toEqual([gemini])
  })

  it.each([
    ["image/heic", image("data:image/heic;base64,AAAA"), ["cera/gpt"], "image_type", "image_url.url"],
    ["application/zip", file("application/zip"), ["cera/gpt"], "file_type", "file.file_data"],
    ["application/msword", file("application/msword"), ["beta/nova", "cera/gpt"], "document_type", "file.file_data"],
    ["a file id", { type: "file", file: { file_id: "f" } }, ["acme/claude", "cera/gpt"], "file_id", "file.file_id"]
  ] as const)("excludes the models whose protocol does not take it: %s", (_, part, ids, reason, field) => {
    const pool = [claude, nova, gpt]
    const sifted = ask(pool, { messages: user(part, part) })
    expect(sifted.eligible.map(({ id }) => id)).toEqual(ids)
    expect(sifted.excluded).toEqual({ [`unsupported_${reason}`]: pool.length - ids.length })
    const pinned = ask(
      pool.filter(({ id }) => !ids.some((one) => one === id)),
      { messages: user(part) }
    )
    expect(pinned.largestExclusion?.param).toBe(`messages[1].content[1].${field}`)
  })
})

describe("One reason for each model", () => {
  it("policy comes first, then prices, then requirements, then length", () => {
    const out = model("beta/out", { prices: null, contextTokens: 1, support: supporting({ tools: "refused" }) })
    const steps = [
      out,
      { ...out, id: "acme/a", providerId: "acme" },
      model("acme/b", { contextTokens: 1, support: supporting({ tools: "refused" }) }),
      model("acme/c", { contextTokens: 1 }),
      model("acme/d")
    ]
    const sifted = ask(steps, { tools: [tool], routing: controls({ providers: { allow: ["acme"], deny: [] } }) })
    expect(sifted.excluded).toEqual({ request_restriction: 1, unpriced: 1, unsupported_tools: 1, context_length: 1 })
    expect(sifted.eligible.map((one) => one.id)).toEqual(["acme/d"])
    expect(sifted).toMatchObject({ byProject: 0, permitted: 3, capable: 2 })
  })

  it("every model of the pool is eligible or counted exactly once", () => {
    const some = fc.record({
      provider: fc.constantFrom("acme", "beta"),
      price: fc.option(fc.integer({ min: 0, max: 10 })),
      tools: fc.option(fc.boolean()),
      vision: fc.option(fc.boolean()),
      context: fc.option(fc.integer({ min: 1, max: 30 }))
    })
    fc.assert(
      fc.property(fc.array(some), fc.boolean(), (rows, managed) => {
        const pool = rows.map((row, index) => {
          const full = model(`${row.provider}/${index}`)
          return {
            ...full,
            prices: row.price === null ? null : prices(row.price, row.price),
            capabilities: { ...full.capabilities, tools: row.tools, vision: row.vision },
            contextTokens: row.context
          }
        })
        const asked = request({ tools: [tool], messages: user(image("data:,")) })
        const sifted = filterEligible(tableOf(pool), {
          policy: intersectPolicies(
            project({ providers: { allow: null, deny: ["beta"] } }),
            configuration({ maxInputPriceMicroUsdPerMillion: 8 }),
            controls()
          ),
          maxOutputTokens: asked.maxOutputTokens,
          requirements: requirementsOf(asked, false),
          promptTokens: 10,
          imagesAndFiles: 0,
          billingMode: managed ? "managed" : "byok",
          terms: plainTerms,
          termsOf: () => plainTerms,
          reasons: () => false
        })
        const counted = Object.values(sifted.excluded).reduce((sum, count) => sum + count, 0)
        expect(counted + sifted.eligible.length).toBe(pool.length)
        expect(sifted.byProject).toBe(pool.filter((one) => one.providerId === "beta").length)
      })
    )
  })
})
