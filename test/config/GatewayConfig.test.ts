import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe } from "vitest"
import { issuesGiven, settingsGiven } from "./Load.ts"

const model = {
  id: "acme/large",
  inputPriceMicroUsdPerMillion: 2_500_000,
  outputPriceMicroUsdPerMillion: 10_000_000,
  contextTokens: 200_000,
  outputTokens: 64_000
}
const provider = { id: "acme", protocol: "openai-chat", baseUrl: "http://127.0.0.1:9001/v1", models: [model] }

/** Every key of the contract, with the values that its page shows. */
const whole = {
  providers: [
    {
      ...provider,
      apiKeyEnv: "ACME_KEY",
      outputCapField: "max_tokens",
      billsAbortedCalls: false,
      models: [
        {
          ...model,
          upstreamModel: "large",
          displayName: "Large",
          cacheReadPriceMicroUsdPerMillion: null,
          cacheWritePriceMicroUsdPerMillion: null,
          priceTiers: [],
          inputTokens: null,
          imageTokens: 3000,
          quality: 0.8,
          capabilities: ["tools", "vision", "structured-output", "sampling", "logprobs", "audio-input", "file-input"],
          reasoningEfforts: ["low", "high"],
          reasoningDepth: null,
          toolsForbidEffort: false,
          profile: { effort: null, maxOutputTokens: null, apiVersion: null }
        }
      ]
    }
  ],
  models: { "openai/gpt-5": { quality: 0.9 }, "openai/o3": null },
  policy: {
    allowed_models: null,
    excluded_models: null,
    allowed_providers: null,
    excluded_providers: null,
    max_input_price_microusd_per_million: null,
    max_output_price_microusd_per_million: null,
    default_alpha: 0.65,
    exploration_share: 0.01,
    enable_fallback: true
  },
  routingConfigurations: [
    {
      slug: "cheap",
      models: ["acme/*"],
      alpha: 0.2,
      max_input_price_microusd_per_million: null,
      max_output_price_microusd_per_million: null,
      enable_fallback: true
    }
  ],
  rateLimits: {
    key: { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null },
    project: { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
  },
  timeouts: {
    connectMillis: 5000,
    firstContentMillis: 15000,
    plainAnswerMillis: 60000,
    idleMillis: 20000,
    totalMillis: 600000
  },
  headHoldMillis: 10000,
  heartbeatMillis: 15000,
  fallback: { maxAttempts: 4 },
  retention: { callDays: 90 }
}

describe("a configuration file", () => {
  it.effect("may leave out every key, and then says what the contract shows", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({ file: {} })
      const shown = yield* settingsGiven({
        file: { ...whole, providers: [], models: {}, policy: {}, routingConfigurations: [] }
      })
      expect(settings).toMatchObject({ providers: [], models: {}, policy: null, routingConfigurations: null })
      for (const key of [
        "rateLimits",
        "timeouts",
        "headHoldMillis",
        "heartbeatMillis",
        "fallback",
        "retention"
      ] as const) {
        for (const { [key]: value } of [settings, shown]) expect({ [key]: value }).toMatchObject({ [key]: whole[key] })
      }
      expect(shown.policy).toEqual({
        models: { allow: null, deny: [] },
        providers: { allow: null, deny: [] },
        maxInputPriceMicroUsdPerMillion: null,
        maxOutputPriceMicroUsdPerMillion: null,
        defaultAlpha: null,
        explorationShare: 0,
        enableFallback: true
      })
      expect(shown.routingConfigurations).toEqual([])
    })
  )

  it.effect("may say everything", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({ file: whole, env: { ACME_KEY: "key-1" } })
      const [acme] = settings.providers
      expect(acme?.connection).toEqual({
        _tag: "Protocol",
        protocol: "openai-chat",
        baseUrl: "http://127.0.0.1:9001/v1",
        outputCapField: "max_tokens",
        billsAbortedCalls: false
      })
      expect(acme?.apiKey === null || acme === undefined ? null : Redacted.value(acme.apiKey)).toBe("key-1")
      expect(acme?.models).toEqual(whole.providers[0]?.models)
      expect(settings.models).toEqual(whole.models)
      expect(settings.policy?.defaultAlpha).toBe(0.65)
      expect(settings.routingConfigurations).toEqual([
        {
          slug: "cheap",
          name: null,
          models: { allow: ["acme/*"], deny: [] },
          providers: { allow: null, deny: [] },
          maxInputPriceMicroUsdPerMillion: null,
          maxOutputPriceMicroUsdPerMillion: null,
          alpha: 0.2,
          enableFallback: true
        }
      ])
      expect(settings.simulated).toBe(false)
    })
  )

  it.effect("carries restrictions, caps and limits as they are written", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({
        file: {
          policy: {
            allowed_models: ["openai/*"],
            excluded_models: ["openai/o3"],
            allowed_providers: [],
            excluded_providers: ["sim"],
            max_input_price_microusd_per_million: 0,
            max_output_price_microusd_per_million: 7,
            default_alpha: 0,
            exploration_share: 0.02,
            enable_fallback: false
          },
          routingConfigurations: [{ slug: "a-1", name: "A", providers: ["openai"], alpha: 1, enable_fallback: false }],
          rateLimits: { key: { requestsPerMinute: 60 } }
        }
      })
      expect(settings.policy).toEqual({
        models: { allow: ["openai/*"], deny: ["openai/o3"] },
        providers: { allow: [], deny: ["sim"] },
        maxInputPriceMicroUsdPerMillion: 0,
        maxOutputPriceMicroUsdPerMillion: 7,
        defaultAlpha: 0,
        explorationShare: 0.02,
        enableFallback: false
      })
      expect(settings.routingConfigurations?.[0]).toMatchObject({
        name: "A",
        models: { allow: null },
        providers: { allow: ["openai"] },
        alpha: 1,
        enableFallback: false
      })
      expect(settings.rateLimits).toEqual({
        key: { requestsPerMinute: 60, tokensPerMinute: null, concurrentRequests: null },
        project: { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
      })
    })
  )

  it.effect("gives non-streaming responses four times the time to first content, unless it says otherwise", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({ file: { timeouts: { firstContentMillis: 100 } } })
      expect(settings.timeouts).toMatchObject({ firstContentMillis: 100, plainAnswerMillis: 400, idleMillis: 20_000 })
      const own = yield* settingsGiven({ file: { timeouts: { plainAnswerMillis: 5 } } })
      expect(own.timeouts).toMatchObject({ firstContentMillis: 15_000, plainAnswerMillis: 5 })
      expect(own.timeouts).toMatchObject({ totalMillis: 600_000, maxTotalMillis: 3_000_000 })
      const exact = yield* settingsGiven({ file: { timeouts: { totalMillis: 5_000 } } })
      expect(exact.timeouts).toMatchObject({ totalMillis: 5_000, maxTotalMillis: 5_000 })
    })
  )

  it.effect("may name a built-in vendor in place of a protocol, whose own choices then stand", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({
        file: { providers: [{ id: "acme", vendor: "openrouter", models: [model] }] }
      })
      expect(settings.providers[0]?.connection).toEqual({
        _tag: "Vendor",
        vendor: "openrouter",
        baseUrl: null,
        outputCapField: null,
        billsAbortedCalls: null
      })
      expect(settings.providers[0]?.apiKey).toBeNull()
    })
  )

  it.effect("may end its base URL in a slash", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({ file: { providers: [{ ...provider, baseUrl: "https://host/v1//" }] } })
      expect(settings.providers[0]?.connection.baseUrl).toBe("https://host/v1")
    })
  )

  const acme = (change: object) => ({ providers: [{ ...provider, ...change }] })
  const large = (change: object) => acme({ models: [{ ...model, ...change }] })
  const tier = { abovePromptTokens: 100, inputPriceMicroUsdPerMillion: 1, outputPriceMicroUsdPerMillion: 1 }
  const path = "providers[0].models[0]"

  it.effect.each<readonly [string, unknown, ReadonlyArray<string>]>([
    ["a list as the file", [], ["(the file): must be an object"]],
    ["null as the file", null, ["(the file): must be an object"]],
    ["an unknown key", { providres: [] }, ["providres: is not a known key; did you mean providers?"]],
    [
      "an unknown key deep inside",
      large({ profile: { efort: "low" } }),
      [`${path}.profile.efort: is not a known key; did you mean effort?`]
    ],
    [
      "a key itself",
      { providers: [{ ...provider, apiKey: "sk-live" }] },
      [
        "providers[0].apiKey: is not a known key: put the key into an environment variable and name that variable in apiKeyEnv"
      ]
    ],
    [
      "an unknown key of a patch",
      { models: { "openai/gpt-5": { id: "x" } } },
      ['models["openai/gpt-5"].id: is not a known key']
    ],
    [
      "a missing field",
      acme({ models: [{ ...model, contextTokens: undefined }] }),
      [`${path}.contextTokens: is required`]
    ],
    [
      "a missing price",
      large({ outputPriceMicroUsdPerMillion: undefined }),
      [`${path}.outputPriceMicroUsdPerMillion: is required`]
    ],
    [
      "a fractional price",
      large({ inputPriceMicroUsdPerMillion: 2.5 }),
      [`${path}.inputPriceMicroUsdPerMillion: must be a whole number of micro-USD from 0 to 1000000000000`]
    ],
    [
      "a negative price",
      large({ inputPriceMicroUsdPerMillion: -1 }),
      [`${path}.inputPriceMicroUsdPerMillion: must be a whole number of micro-USD from 0 to 1000000000000`]
    ],
    [
      "a price as text",
      large({ inputPriceMicroUsdPerMillion: "1" }),
      [`${path}.inputPriceMicroUsdPerMillion: must be a whole number of micro-USD from 0 to 1000000000000`]
    ],
    [
      "no tokens",
      large({ contextTokens: 0 }),
      [`${path}.contextTokens: must be a whole number of tokens from 1 to 1000000000`]
    ],
    ["a quality above 1", large({ quality: 1.1 }), [`${path}.quality: must be a number from 0 to 1`]],
    [
      "an unknown capability",
      large({ capabilities: ["flying"] }),
      [
        `${path}.capabilities[0]: must be one of tools, vision, structured-output, sampling, logprobs, audio-input, file-input`
      ]
    ],
    [
      "an unknown effort",
      large({ reasoningEfforts: ["huge"] }),
      [`${path}.reasoningEfforts[0]: must be one of none, minimal, low, medium, high, xhigh, max`]
    ],
    [
      "a depth out of range",
      large({ reasoningDepth: { min: 0, max: 5 } }),
      [`${path}.reasoningDepth.min: must be a whole number from 1 to 100`]
    ],
    [
      "a depth upside down",
      large({ reasoningDepth: { min: 6, max: 5 } }),
      [`${path}.reasoningDepth: must have a min that is not above its max`]
    ],
    [
      "a profile's effort that is not offered",
      large({ reasoningEfforts: ["low"], profile: { effort: "high" } }),
      [`${path}.profile.effort: must be one of the model's reasoningEfforts`]
    ],
    [
      "tiers that do not ascend",
      large({ priceTiers: [tier, tier] }),
      [`${path}.priceTiers[1].abovePromptTokens: must be greater than in the tier before`]
    ],
    [
      "an unknown key of a tier",
      large({ priceTiers: [{ ...tier, tokens: 1 }] }),
      [`${path}.priceTiers[0].tokens: is not a known key`]
    ],
    [
      "a model of another provider",
      large({ id: "other/large" }),
      [`${path}.id: must start with the id of its provider and a slash`]
    ],
    [
      "a model id without a provider",
      large({ id: "large" }),
      [
        `${path}.id: must be a model id of the form <provider>/<model>`,
        `${path}.id: must start with the id of its provider and a slash`
      ]
    ],
    ["a model twice", acme({ models: [model, model] }), ["providers[0].models[1].id: is given twice"]],
    ["a provider twice", { providers: [provider, { ...provider, models: [] }] }, ["providers[1].id: is given twice"]],
    [
      "a built-in provider's id",
      acme({ id: "openai", models: [] }),
      ["providers[0].id: is the id of a built-in provider"]
    ],
    [
      "the simulated provider's id",
      acme({ id: "sim", models: [] }),
      ["providers[0].id: is the id of a built-in provider"]
    ],
    [
      "an id that no model id could start with",
      acme({ id: "a/b", models: [] }),
      ["providers[0].id: must be 1 to 63 characters of a-z, 0-9, '.', '_' and '-', the first a letter or digit"]
    ],
    [
      "both protocol and vendor",
      acme({ vendor: "openai" }),
      ["providers[0]: needs exactly one of protocol and vendor"]
    ],
    [
      "neither protocol nor vendor",
      acme({ protocol: undefined }),
      ["providers[0]: needs exactly one of protocol and vendor"]
    ],
    [
      "prices and capabilities that the protocol has no field for",
      acme({
        protocol: "bedrock-converse",
        models: [
          {
            ...model,
            serviceTierPrices: [
              { serviceTier: "flex", inputPriceMicroUsdPerMillion: 1, outputPriceMicroUsdPerMillion: 1 }
            ],
            webSearchPriceMicroUsd: 0,
            audioOutputPriceMicroUsdPerMillion: null,
            capabilities: ["tools", "audio-input"]
          }
        ]
      }),
      ["serviceTierPrices", "webSearchPriceMicroUsd", "capabilities[1]"].map(
        (field) => `${path}.${field}: has no effect: the protocol of this provider has no field for it`
      )
    ],
    [
      "the name of an output cap that the protocol does not let choose, and a version that it does not have",
      acme({
        protocol: "gemini",
        outputCapField: "max_completion_tokens",
        models: [{ ...model, profile: { effort: null, apiVersion: "2023-06-01" } }]
      }),
      ["providers[0].outputCapField", `${path}.profile.apiVersion`].map(
        (field) => `${field}: has no effect: the protocol of this provider has no field for it`
      )
    ],
    [
      "a version of a protocol that has none, in a patch",
      { models: { "openai/gpt-5": { profile: { apiVersion: "2023-06-01" } } } },
      ['models["openai/gpt-5"].profile.apiVersion: has no effect: the protocol of this provider has no field for it']
    ],
    [
      "efforts that the protocol has no name for, also as what is sent by default",
      acme({
        protocol: "gemini",
        models: [{ ...model, reasoningEfforts: ["none", "low", "max"], profile: { effort: "max" } }]
      }),
      ["reasoningEfforts[0]", "reasoningEfforts[2]", "profile.effort"].map(
        (field) => `${path}.${field}: cannot be sent: the protocol of this provider has no such effort for the model`
      )
    ],
    [
      "one that a family of models behind the protocol has no name for",
      acme({
        protocol: "bedrock-converse",
        models: [{ ...model, upstreamModel: "us.amazon.nova-2-lite-v1:0", reasoningEfforts: ["none", "low", "xhigh"] }]
      }),
      [`${path}.reasoningEfforts[2]: cannot be sent: the protocol of this provider has no such effort for the model`]
    ],
    [
      "one in a patch",
      { models: { "google/gemini": { reasoningEfforts: ["high", "xhigh"] } } },
      [
        'models["google/gemini"].reasoningEfforts[1]: cannot be sent: the protocol of this provider has no such effort for the model'
      ]
    ],
    [
      "a depth of a protocol that has names alone",
      acme({ protocol: "anthropic-messages", models: [{ ...model, reasoningDepth: { min: 1, max: 100 } }] }),
      [`${path}.reasoningDepth: has no effect: the protocol of this provider has no field for it`]
    ],
    [
      "the same in a patch of a configured model",
      {
        ...acme({ protocol: "anthropic-messages" }),
        models: { [model.id]: { webSearchPriceMicroUsd: 5 } }
      },
      [`models["${model.id}"].webSearchPriceMicroUsd: has no effect: the protocol of this provider has no field for it`]
    ],
    [
      "the same in a patch of the catalog",
      { models: { "google/gemini": { webSearchPriceMicroUsd: 5 } } },
      [
        'models["google/gemini"].webSearchPriceMicroUsd: has no effect: the protocol of this provider has no field for it'
      ]
    ],
    [
      "an unknown protocol",
      acme({ protocol: "soap" }),
      ["providers[0].protocol: must be one of openai-chat, anthropic-messages, gemini, bedrock-converse"]
    ],
    [
      "an unknown vendor",
      acme({ protocol: undefined, vendor: "nobody" }),
      ["providers[0].vendor: must be one of openai, openrouter, azure"]
    ],
    [
      "a protocol without a base URL",
      acme({ baseUrl: undefined }),
      ["providers[0].baseUrl: is required with a protocol"]
    ],
    [
      "a vendor without a place of its own, and no base URL",
      acme({ protocol: undefined, vendor: "azure", baseUrl: undefined }),
      ["providers[0].baseUrl: is required with the vendor azure"]
    ],
    ...[
      "ftp://host/v1",
      "host/v1",
      "http://",
      "http://user:pass@host/v1",
      "http://host/v1?key=1",
      "http://host/v1#x",
      "http:\\\\host",
      "http://ho st/",
      1
    ].map(
      (baseUrl) =>
        [
          `${baseUrl} as a base URL`,
          acme({ baseUrl }),
          ["providers[0].baseUrl: must be an http or https URL without credentials, query or fragment"]
        ] as const
    ),
    [
      "a variable that is not set",
      acme({ apiKeyEnv: "ACME_KEY" }),
      [
        "providers[0].apiKeyEnv: names an environment variable that is not set, or holds nothing that a header can carry"
      ]
    ],
    [
      "an unknown output cap field",
      acme({ outputCapField: "tokens" }),
      ["providers[0].outputCapField: must be one of max_tokens, max_completion_tokens"]
    ],
    [
      "a patch that removes what is not there",
      { models: { "openai/gpt-55": null } },
      ['models["openai/gpt-55"]: is not a model of the catalog; did you mean openai/gpt-5?']
    ],
    [
      "an incomplete patch of an unknown model",
      { models: { "openai/gpt-55": { quality: 1 } } },
      [
        'models["openai/gpt-55"]: is not a model of the catalog; a new one needs inputPriceMicroUsdPerMillion, outputPriceMicroUsdPerMillion, contextTokens, outputTokens; did you mean openai/gpt-5?'
      ]
    ],
    [
      "a patch of an unknown provider",
      { models: { "nobody/x": { quality: 1 } } },
      ['models["nobody/x"]: is not a model of the catalog, and its provider is not known either']
    ],
    [
      "a model that a simulated provider does not have",
      {
        models: {
          "sim/other": {
            inputPriceMicroUsdPerMillion: 1,
            outputPriceMicroUsdPerMillion: 1,
            contextTokens: 1_000,
            outputTokens: 100
          }
        }
      },
      ['models["sim/other"]: is not a model of the catalog, and none can be added to its provider']
    ],
    [
      "a patch that is no object",
      { models: { "openai/gpt-5": 1 } },
      ['models["openai/gpt-5"]: must be an object, or null to remove the model']
    ],
    [
      "a wrong field of a patch",
      { models: { "openai/gpt-5": { quality: 2 } } },
      ['models["openai/gpt-5"].quality: must be a number from 0 to 1']
    ],
    [
      "a slug twice",
      { routingConfigurations: [{ slug: "a" }, { slug: "a" }] },
      ["routingConfigurations[1].slug: is given twice"]
    ],
    [
      "a slug with capitals",
      { routingConfigurations: [{ slug: "Cheap" }] },
      ["routingConfigurations[0].slug: must be 1 to 120 characters of a-z, 0-9 and '-'"]
    ],
    [
      "an empty slug",
      { routingConfigurations: [{ slug: "" }] },
      ["routingConfigurations[0].slug: must be 1 to 120 characters of a-z, 0-9 and '-'"]
    ],
    ["no slug", { routingConfigurations: [{}] }, ["routingConfigurations[0].slug: is required"]],
    [
      "an alpha above 1",
      { routingConfigurations: [{ slug: "a", alpha: 1.01 }] },
      ["routingConfigurations[0].alpha: must be a number from 0 to 1, or null"]
    ],
    [
      "an alpha below 0",
      { policy: { default_alpha: -0.1 } },
      ["policy.default_alpha: must be a number from 0 to 1, or null"]
    ],
    [
      "more exploration than 2 %",
      { policy: { exploration_share: 0.03 } },
      ["policy.exploration_share: must be a number from 0 to 0.02, or null"]
    ],
    [
      "a list entry that is no text",
      { policy: { allowed_models: [1] } },
      ["policy.allowed_models[0]: must be an id, <prefix>/* or *"]
    ],
    [
      "text in place of a list",
      { policy: { allowed_models: "a" } },
      ["policy.allowed_models: must be a list of ids, or null"]
    ],
    [
      "no time at all",
      { timeouts: { idleMillis: 0 } },
      ["timeouts.idleMillis: must be a whole number of milliseconds from 1 to 2147483647"]
    ],
    [
      "more time than a timer holds",
      { timeouts: { totalMillis: 2 ** 31 } },
      ["timeouts.totalMillis: must be a whole number of milliseconds from 1 to 2147483647"]
    ],
    [
      "a retention of less than the 24 hours of activity",
      { retention: { callDays: 1 } },
      ["retention.callDays: must be a whole number of days from 2 to 36500, or null"]
    ],
    ["no attempts", { fallback: { maxAttempts: 0 } }, ["fallback.maxAttempts: must be a whole number from 1 to 32"]],
    [
      "a limit of nothing",
      { rateLimits: { key: { requestsPerMinute: 0 } } },
      ["rateLimits.key.requestsPerMinute: must be a whole number from 1 to 1000000000, or null"]
    ]
  ])("refuses %s", ([, file, issues]) =>
    Effect.gen(function* () {
      expect(yield* issuesGiven({ file })).toEqual(issues)
    })
  )

  it.effect("is told all of its issues at once, those between its parts and those of its shape", () =>
    Effect.gen(function* () {
      const file = {
        surprise: 1,
        providers: [
          { ...provider, apiKeyEnv: "UNSET", models: [{ ...model, quality: "good" }, model] },
          { id: "acme", vendor: "nobody", models: [{ id: "other/x" }] }
        ],
        models: { "openai/none": null },
        routingConfigurations: [{ slug: "a", alpha: 7 }, { slug: "a" }]
      }
      const issues = yield* issuesGiven({ file, env: { PORT: "x", OPENAI_API_KEY: "two words" } })
      expect(issues.map((line) => line.slice(0, line.indexOf(":")))).toEqual([
        "PORT",
        "OPENAI_API_KEY",
        "surprise",
        "providers[0].models[0].quality",
        "providers[1].models[0].inputPriceMicroUsdPerMillion",
        "providers[1].models[0].outputPriceMicroUsdPerMillion",
        "providers[1].models[0].contextTokens",
        "providers[1].models[0].outputTokens",
        "routingConfigurations[0].alpha",
        "providers[1].id",
        "providers[0].apiKeyEnv",
        "providers[1].vendor",
        "providers[1].models[0].id",
        "providers[0].models[1].id",
        'models["openai/none"]',
        "routingConfigurations[1].slug"
      ])
    })
  )
})
