import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Catalog } from "../../src/catalog/Catalog.ts"
import type { InvalidConfiguration } from "../../src/domain/InvalidConfiguration.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { ProviderLayer, type ProviderOptions } from "../../src/provider/ProviderLayer.ts"
import { ProviderReplacement } from "../../src/provider/ProviderReplacement.ts"

const limits = {
  inputPriceMicroUsdPerMillion: 1,
  outputPriceMicroUsdPerMillion: 1,
  contextTokens: 1_000,
  outputTokens: 100
}
const key = Redacted.make("sk-secret")
const own = { id: "acme", protocol: "openai-chat", baseUrl: "http://127.0.0.1:9/v1", apiKey: key, models: [] } as const
const layerOf = (options: ProviderOptions) => Layer.provide(ProviderLayer(options), Timers.layer)
const model = (more: object) => [{ ...limits, id: "acme/small", ...more }]

/** As `process.env["…"]` of a variable that is not set, in spite of its type. */
const unset = Redacted.make(undefined as unknown as string)

const minimal = (id: string) => [{ ...limits, id, reasoningEfforts: ["xhigh"] as const }]

const unsentEffort = "cannot be sent: the protocol of this provider has no such effort for the model"
const wrongUrl = "must be an http or https URL without credentials, query or fragment"
const wrongSecret = "must hold visible ASCII characters only, without spaces, and at least one"
const wrongProxy = "must be the URL of an HTTP proxy, such as http://proxy.example.com:3128"
const wrongNumber = "must be a whole number, at least 0"
const wrongCount = "must be a whole number, at least 1"
const wrongModelId = "must start with the id of its provider and a slash"

const cases: ReadonlyArray<readonly [what: string, options: ProviderOptions, ...issues: ReadonlyArray<string>]> = [
  ["no vendor", { credentials: new Map([["opnai", key]]) }, "credentials.opnai: is not the id of a built-in vendor"],
  [
    "a vendor whose hosts are its customers'",
    { credentials: new Map([["azure", key]]) },
    "credentials.azure: needs a base URL of its own: name the vendor in `own`"
  ],
  ["an empty key", { credentials: new Map([["openai", Redacted.make("")]]) }, `credentials.openai: ${wrongSecret}`],
  ["a key that is not set", { credentials: new Map([["openai", unset]]) }, `credentials.openai: ${wrongSecret}`],
  ["a key with a line break", { own: [{ ...own, apiKey: Redacted.make("k\n") }] }, `own[0].apiKey: ${wrongSecret}`],
  [
    "a region that would be another host, and an identity that lacks half",
    {
      bedrock: {
        region: "x.evil.example/",
        auth: { _tag: "Signature", accessKeyId: key, secretAccessKey: Redacted.make(""), sessionToken: null }
      }
    },
    "bedrock.region: must be a region such as us-east-1",
    `bedrock.auth.secretAccessKey: ${wrongSecret}`
  ],
  ["a base URL that is none", { own: [{ ...own, baseUrl: "localhost:8000" }] }, `own[0].baseUrl: ${wrongUrl}`],
  ["a base URL with a query", { own: [{ ...own, baseUrl: "https://h/v1?key=k" }] }, `own[0].baseUrl: ${wrongUrl}`],
  [
    "a protocol without a base URL",
    { own: [{ ...own, baseUrl: undefined }] },
    "own[0].baseUrl: is required with a protocol"
  ],
  [
    "a vendor that needs a base URL",
    { own: [{ ...own, vendor: "azure", baseUrl: undefined }] },
    "own[0].baseUrl: is required with the vendor azure"
  ],
  ["neither protocol nor vendor", { own: [{ ...own, protocol: undefined }] }, "own[0]: needs a protocol or a vendor"],
  [
    "a protocol of no server",
    { own: [{ ...own, protocol: "simulated" }] },
    "own[0].protocol: must be one of openai-chat, anthropic-messages, gemini, bedrock-converse"
  ],
  [
    "an output cap by name where the protocol has one name only",
    {
      own: [
        { ...own, protocol: "anthropic-messages", outputCapField: "max_completion_tokens" },
        { ...own, id: "claude", vendor: "anthropic", protocol: undefined, outputCapField: "max_tokens" },
        { ...own, id: "chat", outputCapField: "max_completion_tokens" }
      ]
    },
    "own[0].outputCapField: has no effect: the protocol of this provider has no field for it",
    "own[1].outputCapField: has no effect: the protocol of this provider has no field for it"
  ],
  ["an id with a slash", { own: [{ ...own, id: "a/b" }] }, "own[0].id: must be a name without slashes and spaces"],
  [
    "a model of another provider",
    { own: [{ ...own, models: model({ id: "other/small" }) }] },
    `own[0].models[0].id: ${wrongModelId}`
  ],
  [
    "prices and limits that are not whole numbers",
    {
      own: [{ ...own, models: model({ inputPriceMicroUsdPerMillion: 0.5, outputTokens: Number.NaN, quality: 2 }) }],
      patches: { "openai/gpt-5": { priceTiers: [{ ...limits, abovePromptTokens: -1 }] } }
    },
    `own[0].models[0].inputPriceMicroUsdPerMillion: ${wrongNumber}`,
    `own[0].models[0].outputTokens: ${wrongCount}`,
    "own[0].models[0].quality: must be a number from 0 to 1",
    `patches["openai/gpt-5"].priceTiers[0].abovePromptTokens: ${wrongNumber}`
  ],
  [
    "limits of no token at all",
    { own: [{ ...own, models: model({ contextTokens: 0, outputTokens: 0, inputTokens: 0, imageTokens: 0 }) }] },
    `own[0].models[0].contextTokens: ${wrongCount}`,
    `own[0].models[0].outputTokens: ${wrongCount}`,
    `own[0].models[0].inputTokens: ${wrongCount}`
  ],
  [
    "patches of models that there are not",
    {
      own: [{ ...own, models: model({}) }],
      simulated: true,
      patches: {
        "openai/gpt-55": null,
        "acme/smal": { quality: 1 },
        "acme/large": limits,
        "sim/other": limits,
        "nobody/x": limits
      }
    },
    'patches["openai/gpt-55"]: is not a model of the catalog; did you mean openai/gpt-5?',
    'patches["acme/smal"]: is not a model of the catalog; a new one needs inputPriceMicroUsdPerMillion, outputPriceMicroUsdPerMillion, contextTokens, outputTokens; did you mean acme/small?',
    'patches["sim/other"]: is not a model of the catalog, and none can be added to its provider',
    'patches["nobody/x"]: is not a model of the catalog, and its provider is not known either'
  ],
  [
    "efforts that the protocol has no name for, also as what is sent by default",
    {
      own: [
        {
          ...own,
          protocol: "gemini",
          models: model({ reasoningEfforts: ["none", "low"], profile: { effort: "max" } })
        },
        {
          ...own,
          id: "aws",
          protocol: "bedrock-converse",
          models: [
            {
              ...limits,
              id: "aws/nova",
              upstreamModel: "us.amazon.nova-2-lite-v1:0",
              reasoningEfforts: ["none", "low", "xhigh"]
            }
          ]
        },
        { ...own, id: "mine", protocol: undefined, vendor: "google", models: minimal("mine/m") }
      ],
      patches: {
        "acme/small": { reasoningEfforts: ["max"] },
        "google/gemini-3.1-pro-preview": { reasoningEfforts: ["xhigh"] }
      }
    },
    `own[0].models[0].reasoningEfforts[0]: ${unsentEffort}`,
    `own[0].models[0].profile.effort: ${unsentEffort}`,
    "own[0].models[0].profile.effort: must be one of the model's reasoningEfforts",
    `own[1].models[0].reasoningEfforts[2]: ${unsentEffort}`,
    `own[2].models[0].reasoningEfforts[0]: ${unsentEffort}`,
    `patches["acme/small"].reasoningEfforts[0]: ${unsentEffort}`,
    `patches["google/gemini-3.1-pro-preview"].reasoningEfforts[0]: ${unsentEffort}`
  ],
  [
    "settings that have no effect, and ranges and tiers in the wrong order",
    {
      own: [
        {
          ...own,
          models: model({
            reasoningDepth: { min: 9, max: 1 },
            profile: { apiVersion: "2023-06-01" },
            priceTiers: [
              { ...limits, abovePromptTokens: 5 },
              { ...limits, abovePromptTokens: 5 }
            ]
          })
        }
      ]
    },
    "own[0].models[0].priceTiers[1].abovePromptTokens: must be greater than in the tier before",
    "own[0].models[0].profile.apiVersion: has no effect: the protocol of this provider has no field for it",
    "own[0].models[0].reasoningDepth: must have a min that is not above its max"
  ],
  [
    "proxies that are none",
    { proxy: { https: Redacted.make("http://proxy:3128/path"), http: Redacted.make("http://%zz:p@proxy:3128") } },
    `proxy.https: ${wrongProxy}`,
    `proxy.http: ${wrongProxy}`
  ],
  [
    "two providers with one id",
    { own: [own, own], credentials: new Map([["openai", key]]), simulated: true },
    "own[1].id: is the id of another provider"
  ],
  [
    "two models with one id",
    { own: [{ ...own, models: [...model({}), ...model({ outputTokens: 10 })] }] },
    "own[0].models[1].id: is given twice"
  ],
  [
    "the id of a built-in provider that there is",
    { own: [{ ...own, id: "openai" }], callerCredentials: true },
    "own[0].id: is the id of another provider"
  ],
  [
    "the id of a simulated provider",
    { own: [{ ...own, id: "sim" }], simulated: true },
    "own[0].id: is the id of another provider"
  ]
]

describe("options of providers that are wrong", () => {
  it.scoped.each(cases)("%s: the Layer fails and names them, without their values", ([, options, ...issues]) =>
    Effect.gen(function* () {
      const error: InvalidConfiguration = yield* Effect.flip(Layer.build(layerOf(options)))
      expect(error._tag).toBe("InvalidConfiguration")
      expect(error.message.split("\n")).toEqual(issues)
    })
  )

  it.scoped("an unknown vendor: what there is instead is named", () =>
    Effect.gen(function* () {
      const { issues } = yield* Effect.flip(Layer.build(layerOf({ own: [{ ...own, vendor: "opnai" }] })))
      expect(issues).toEqual([
        { path: "own[0].vendor", message: expect.stringMatching(/^must be one of alibaba, .*openai.*zai$/) }
      ])
    })
  )

  it.effect("do not replace those that are right", () =>
    Effect.gen(function* () {
      const replacement = yield* ProviderReplacement
      const models = () => Effect.map(Catalog, (catalog) => catalog.snapshot().models.map(({ id }) => id))
      const { issues } = yield* Effect.flip(replacement.replace({ own: [own, own] }))
      expect(issues).toEqual([{ path: "own[1].id", message: "is the id of another provider" }])
      expect(yield* models()).toEqual(["acme/small"])
      yield* replacement.replace({ own: [] })
      expect(yield* models()).toEqual([])
    }).pipe(Effect.provide(layerOf({ own: [{ ...own, models: model({}) }] })))
  )
})
