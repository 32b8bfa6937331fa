import { describe, expect, it } from "vitest"
import { unmatchedNames } from "../../src/app/UnmatchedNames.ts"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import { testModel } from "../../src/testing/index.ts"

const snapshot = makeSnapshot(
  [testModel("acme/large"), testModel("reseller/maker/small", { alias: "maker/small" })],
  [{ id: "openai/gpt-5", alias: "gpt-5", providerId: "openai", prices: null, needs: ["OPENAI_API_KEY"] }]
)
const nothing = { allow: null, deny: [] }
const rest = {
  maxInputPriceMicroUsdPerMillion: null,
  maxOutputPriceMicroUsdPerMillion: null,
  enableFallback: true
}
const lines = (...settings: Parameters<typeof unmatchedNames>[0][]) =>
  settings.flatMap((one) => unmatchedNames(one, snapshot)).map(({ message, path }) => `${path} ${message}`)
const policy = (models: object, providers: object = {}) => ({
  policy: {
    models: { ...nothing, ...models },
    providers: { ...nothing, ...providers },
    defaultAlpha: null,
    explorationShare: 0,
    ...rest
  },
  routingConfigurations: null
})

describe("an entry of the configured policy", () => {
  it("that matches something is no mistake, by id, bare name, prefix and star", () => {
    expect(lines(policy({ allow: ["acme/large", "large", "acme/*", "*"] }, { allow: ["acme", "*"] }))).toEqual([])
    expect(lines(policy({ allow: ["maker/small", "reseller/maker/*"] }, { allow: ["reseller/*"] }))).toEqual([])
    expect(lines(policy({ deny: ["openai/gpt-5", "openai/*", "maker/*"] }, { deny: ["openai"] }))).toEqual([])
  })

  it("that matches nothing is named, with what it may have meant", () => {
    expect(lines(policy({ allow: ["acme/lagre", "acmee/*"], deny: ["nothing/such"] }, { allow: ["acmee"] }))).toEqual([
      "policy.allowed_models[0] 'acme/lagre' matches no model; did you mean 'acme/large'?",
      "policy.allowed_models[1] 'acmee/*' matches no model; did you mean 'acme/*'?",
      "policy.excluded_models[0] 'nothing/such' matches no model",
      "policy.allowed_providers[0] 'acmee' matches no provider; did you mean 'acme'?"
    ])
  })

  it("that is a prefix and allows nothing is named, also where upstream names or one id are all that it is of", () => {
    expect(lines(policy({ allow: ["maker/*", "acme/large/*"] }))).toEqual([
      "policy.allowed_models[0] 'maker/*' matches no model; did you mean 'reseller/maker/*'?",
      "policy.allowed_models[1] 'acme/large/*' matches no model"
    ])
  })

  it("that allows only what lacks a credential says which", () => {
    expect(lines(policy({ allow: ["gpt-5"] }, { allow: ["openai"] }))).toEqual([
      "policy.allowed_models[0] 'gpt-5' matches no model that can be called: set OPENAI_API_KEY",
      "policy.allowed_providers[0] 'openai' matches no provider that can be called: set OPENAI_API_KEY"
    ])
  })
})

it("an entry of a routing configuration is named with its place", () => {
  const routing = { slug: "cheap", name: null, alpha: null, providers: nothing, ...rest }
  const configurations = [
    { ...routing, models: { ...nothing, allow: ["*"] } },
    { ...routing, models: { ...nothing, allow: ["acme/*", "smal"] } }
  ]
  expect(lines({ policy: null, routingConfigurations: configurations })).toEqual([
    "routingConfigurations[1].models[1] 'smal' matches no model"
  ])
})
