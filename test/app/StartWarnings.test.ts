import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { warningsOf } from "../../src/app/StartWarnings.ts"
import { makeSnapshot } from "../../src/catalog/Catalog.ts"
import { testModel } from "../../src/testing/index.ts"
import { settingsGiven } from "../config/Load.ts"

const warned = (env: Readonly<Record<string, string>>) =>
  Effect.map(settingsGiven({ env }), (settings) =>
    warningsOf(settings, env, makeSnapshot([testModel("acme/large")], [])).map(
      ({ message, path }) => `${path} ${message}`
    )
  )

it.effect("payments whose refunds and disputes would not reach any balance are warned about", () =>
  Effect.gen(function* () {
    const stripe = { STRIPE_SECRET_KEY: "sk_test_1" }
    expect(yield* warned(stripe)).toEqual([
      "STRIPE_WEBHOOK_SECRET is not set: refunds and disputes take nothing from balances, and a payment whose buyer does not come back is not credited"
    ])
    expect(yield* warned({ ...stripe, STRIPE_WEBHOOK_SECRET: "whsec_0123456789abcdef" })).toEqual([])
    expect(yield* warned({})).toEqual([])
  })
)
