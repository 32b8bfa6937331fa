import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { buildModels, type OwnVendor } from "../../src/catalog/Build.ts"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import { builtInCatalog } from "../../src/catalog/CatalogFile.ts"
import type { Settings } from "../../src/config/Settings.ts"
import type { RoutingRestrictions } from "../../src/domain/Chat.ts"
import { type SupportTable, shapingParameters, tuningParameters } from "../../src/domain/Support.ts"
import { settingsGiven } from "./Load.ts"

const support = Object.fromEntries(
  [...shapingParameters, ...tuningParameters].map((parameter) => [parameter, "native"])
) as SupportTable

const ownVendors = (settings: Settings): ReadonlyArray<OwnVendor> =>
  settings.providers.map((provider) => ({
    id: provider.id,
    protocol: provider.connection._tag === "Protocol" ? provider.connection.protocol : "openai-chat",
    support,
    billsAbortedCalls: provider.connection.billsAbortedCalls ?? false,
    models: provider.models
  }))

describe("what the settings hand over", () => {
  it.effect("makes the catalog of configured, patched and removed models", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({
        file: {
          providers: [
            {
              id: "acme",
              protocol: "gemini",
              baseUrl: "http://127.0.0.1:9001/v1beta",
              models: [
                {
                  id: "acme/family/large",
                  inputPriceMicroUsdPerMillion: 1,
                  outputPriceMicroUsdPerMillion: 2,
                  contextTokens: 10,
                  outputTokens: 5
                }
              ]
            }
          ],
          models: {
            "openai/gpt-5": { quality: 0.9, profile: { effort: "low" } },
            "openai/o3": null,
            "acme/family/large": { displayName: "Large" }
          }
        }
      })
      const openai = { id: "openai", protocol: "openai-chat" as const, support, billsAbortedCalls: false }
      const models = makeSnapshot(
        buildModels({
          data: builtInCatalog,
          vendors: [openai],
          configured: ownVendors(settings),
          patches: settings.models
        })
      )
      expect(models.byId.size).toBe(16)
      expect(models.byId.has("openai/o3")).toBe(false)
      expect(models.byId.get("openai/gpt-5")).toMatchObject({
        quality: 0.9,
        profile: { effort: "low", maxOutputTokens: 65_536 }
      })
      expect(models.byId.get("acme/family/large")).toMatchObject({
        upstreamModel: "family/large",
        displayName: "Large",
        prices: { input: 1, output: 2, tiers: [] },
        capabilities: { vision: true, "image-url": false }
      })
    })
  )

  it.effect("makes limits of the policy and of every routing configuration", () =>
    Effect.gen(function* () {
      const settings = yield* settingsGiven({ file: { policy: {}, routingConfigurations: [{ slug: "all" }] } })
      const all: RoutingRestrictions = {
        models: { allow: null, deny: [] },
        providers: { allow: null, deny: [] },
        maxInputPriceMicroUsdPerMillion: null,
        maxOutputPriceMicroUsdPerMillion: null
      }
      const given: ReadonlyArray<RoutingRestrictions | null> = [
        settings.policy,
        ...(settings.routingConfigurations ?? [])
      ]
      expect(given).toEqual([expect.objectContaining(all), expect.objectContaining(all)])
    })
  )
})
