import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { providerOptions } from "../../src/app/ProviderSettings.ts"
import { Catalog } from "../../src/catalog/Catalog.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { ProviderLayer } from "../../src/provider/ProviderLayer.ts"
import { loadGiven } from "../config/Load.ts"

it.effect("a model whose vendor has no credential names the variables that the operator can set", () =>
  Effect.gen(function* () {
    const settings = yield* loadGiven({ env: { OPENAI_API_KEY: "sk-1" } })
    const providers = ProviderLayer(providerOptions(settings)).pipe(Layer.provide(Timers.layer))
    const { unavailable } = yield* Effect.provide(
      Effect.map(Catalog, (catalog) => catalog.snapshot()),
      providers
    )
    const needs = new Map(unavailable.map(({ needs, providerId }) => [providerId, needs]))
    expect(needs.get("google")).toEqual(["GEMINI_API_KEY", "GOOGLE_API_KEY"])
    expect([...needs.keys()]).not.toContain("openai")
    expect([...needs.keys()]).not.toContain("amazon-bedrock")
  })
)
