import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { describe } from "vitest"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { ProviderError } from "../../src/domain/ProviderError.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { ProviderLayer } from "../../src/provider/ProviderLayer.ts"
import { changedProviders, ProviderReplacement } from "../../src/provider/ProviderReplacement.ts"
import { Providers } from "../../src/provider/Providers.ts"
import { Health } from "../../src/routing/Health.ts"
import { VirtualTimers } from "../../src/testing/index.ts"
import { call, Recorder } from "./protocols/calls.ts"

const model = {
  inputPriceMicroUsdPerMillion: 1,
  outputPriceMicroUsdPerMillion: 1,
  contextTokens: 1_000,
  outputTokens: 100
}
const own = (id: string, key: string | null = null, baseUrl = "http://127.0.0.1:9/v1") => ({
  id,
  protocol: "openai-chat" as const,
  baseUrl,
  vendor: undefined,
  outputCapField: undefined,
  billsAbortedCalls: undefined,
  apiKey: key === null ? null : Redacted.make(key),
  models: [{ ...model, id: `${id}/m` }]
})

const layer = ProviderLayer({ own: [own("one")] }).pipe(Layer.provide(Layer.sync(Timers, () => VirtualTimers.make())))

it.effect("other providers and models take effect immediately, and calls ranked before keep theirs", () =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const providers = yield* Providers
    const before = catalog.snapshot().byId.get("one/m")
    if (before === undefined) return yield* Effect.dieMessage("the model is in the catalog")

    yield* (yield* ProviderReplacement).replace({
      own: [own("two")],
      credentials: new Map([["openai", Redacted.make("k")]])
    })

    const { byId, unavailable } = catalog.snapshot()
    expect(byId.has("one/m")).toBe(false)
    expect(byId.has("two/m")).toBe(true)
    expect(byId.has("openai/gpt-5")).toBe(true)
    expect(unavailable.some(({ id }) => id === "openai/gpt-5")).toBe(false)
    expect(providers.takesCredentials("openai")).toBe(true)
    providers.open(call({}, { model: before }), new Recorder()).close()
    expect(() => providers.open(call({}, { model: { ...before } }), new Recorder())).toThrow(
      "no provider is registered"
    )
  }).pipe(Effect.provide(layer))
)

it.effect("a model says what it needs while only the credential of its built-in vendor is missing", () =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const needed = (id: string) => catalog.snapshot().unavailable.find((one) => one.id === id)?.needs
    expect(needed("openai/gpt-5")).toEqual(["a credential of openai"])
    yield* (yield* ProviderReplacement).replace({ patches: { "openai/gpt-5": null } })
    expect(needed("openai/gpt-5")).toBeUndefined()
    expect(needed("one/m")).toBeUndefined()
  }).pipe(Effect.provide(layer))
)

it.effect("a provider with another credential begins without a history, all others keep theirs", () =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const health = yield* Health
    const replacement = yield* ProviderReplacement
    yield* replacement.replace({ own: [own("one", "wrong"), own("two", "right")] })
    for (const id of ["one/m", "two/m"]) {
      const failing = catalog.snapshot().byId.get(id)
      if (failing === undefined) return yield* Effect.dieMessage("the model is in the catalog")
      health.failed(
        failing,
        new ProviderError({ providerId: failing.providerId, reason: { _tag: "CredentialRejected" } })
      )
    }
    yield* replacement.replace({ own: [own("one", "repaired"), own("two", "right")] })
    const rests = catalog.snapshot().models.map((one) => [one.id, health.of(one).openUntilMillis > 0])
    expect(rests).toEqual([
      ["one/m", false],
      ["two/m", true]
    ])
  }).pipe(Effect.provide(layer))
)

describe("a provider has changed", () => {
  const key = (text: string) => new Map([["openai", Redacted.make(text)]])
  const bearer = (text: string) => ({ region: "eu", auth: { _tag: "Bearer", token: Redacted.make(text) } }) as const

  it("with its credential, its connection, its coming and its going, not with its models", () => {
    expect(changedProviders({ credentials: key("a") }, { credentials: key("b") })).toEqual(["openai"])
    expect(changedProviders({ credentials: key("a") }, { credentials: key("a") })).toEqual([])
    expect(changedProviders({}, { bedrock: bearer("a") })).toEqual(["amazon-bedrock"])
    expect(changedProviders({ bedrock: bearer("a") }, { bedrock: bearer("b") })).toEqual(["amazon-bedrock"])
    expect(changedProviders({ own: [own("one")] }, { own: [own("one", null, "http://127.0.0.1:8/v1")] })).toEqual([
      "one"
    ])
    expect(changedProviders({ own: [own("one")] }, { own: [{ ...own("one"), models: [] }] })).toEqual([])
    expect(changedProviders({ own: [own("one")] }, {})).toEqual(["one"])
  })
})
