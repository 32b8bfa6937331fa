import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SimpleLayer } from "../../src/index.ts"

it.scoped.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
  "a credit of %d is refused where the Layer is built, not at each call",
  (creditMicroUsd) =>
    Effect.gen(function* () {
      const { issues } = yield* Effect.flip(Layer.build(SimpleLayer({ creditMicroUsd })))
      expect(issues).toEqual([{ path: "creditMicroUsd", message: "must be a whole number of micro-USD, at least 0" }])
    })
)
