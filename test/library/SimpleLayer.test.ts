import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { SimpleLayer } from "../../src/index.ts"

it.scoped.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
  "a credit of %d is refused where the Layer is built, not at each call",
  (creditMicroUsd) =>
    Effect.gen(function* () {
      const built = yield* Effect.exit(Layer.build(SimpleLayer({ creditMicroUsd })))
      expect(Exit.isFailure(built) && Cause.pretty(built.cause)).toContain(
        `not an amount of micro-USD: ${creditMicroUsd}`
      )
    })
)
