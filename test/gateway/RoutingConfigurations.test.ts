import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { describe } from "vitest"
import { Caller, Gateway } from "../../src/index.ts"
import { ScriptedProvider, TestGateway, testModel } from "../../src/testing/index.ts"
import { unrestricted } from "../support/ChatRequests.ts"
import { scriptedGateway } from "./scriptedGateway.ts"

describe("A routing configuration", () => {
  const configuration = (slug: string, isActive: boolean) => ({
    id: `id-of-${slug}`,
    slug,
    alpha: null,
    enableFallback: true,
    isActive,
    models: { allow: null, deny: [] },
    providers: { allow: null, deny: [] },
    maxInputPriceMicroUsdPerMillion: null,
    maxOutputPriceMicroUsdPerMillion: null
  })
  const configured = () =>
    scriptedGateway({
      scripts: { one: [ScriptedProvider.answer("hi")] },
      models: [testModel("one/m")],
      configurations: [configuration("fast", true), configuration("other", true), configuration("old", false)]
    })
  const naming = (model: string, routingConfig?: string) => {
    const { complete, run } = configured()
    return run(
      Effect.map(
        complete({
          model,
          routing: { ...unrestricted, routingConfig }
        }),
        ({ completion, failure }) => failure?._tag ?? completion?.metadata.routing_config
      )
    )
  }

  it.effect.each([
    ["auto:fast", undefined, "fast"],
    ["auto", "fast", "fast"],
    ["auto", "id-of-fast", "fast"],
    ["auto:fast", "fast", "fast"],
    ["auto:fast", "id-of-fast", "fast"],
    ["auto:fast", "other", "InvalidRequest"],
    ["auto:old", undefined, "ModelNotFound"],
    ["auto", "old", "RoutingConfigNotFound"],
    ["auto", "none", "RoutingConfigNotFound"]
  ] as const)("model %s with routing_config %s resolves to %s", ([model, routingConfig, outcome]) =>
    Effect.gen(function* () {
      expect(yield* naming(model, routingConfig)).toBe(outcome)
    })
  )

  it.effect("only active routing configurations are listed", () => {
    const { run } = configured()
    return run(
      Effect.gen(function* () {
        const { configurations } = yield* (yield* Gateway).models
        expect(configurations.map(({ slug }) => slug)).toEqual(["fast", "other"])
      }).pipe(Effect.provideService(Caller, TestGateway.testCaller))
    )
  })
})
