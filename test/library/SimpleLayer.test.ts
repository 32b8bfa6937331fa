import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Gateway, makeRequest, SimpleLayer } from "../../src/index.ts"

it.scoped.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
  "a credit of %d is refused where the Layer is built, not at each call",
  (creditMicroUsd) =>
    Effect.gen(function* () {
      const { issues } = yield* Effect.flip(Layer.build(SimpleLayer({ creditMicroUsd })))
      expect(issues).toEqual([{ path: "creditMicroUsd", message: "must be a whole number of micro-USD, at least 0" }])
    })
)

it.effect("a model whose vendor has no credential says so, and no variable of the service", () =>
  Effect.gen(function* () {
    const request = yield* makeRequest({ model: "openai/gpt-5", messages: [{ role: "user", content: "Hi." }] })
    const { message } = yield* Effect.flip((yield* Gateway).complete(request))
    expect(message).toBe("The model 'openai/gpt-5' requires a credential of openai, which this gateway does not have.")
  }).pipe(Effect.provide(SimpleLayer()))
)
