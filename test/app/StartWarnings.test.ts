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

it.effect.each([{ DATABASE_URL: "postgres://gateway@127.0.0.1:5432/gateway" }, { DATA_DIR: ":memory:" }])(
  "a service on a database without a directory, and without a master key, is warned about: nothing can be sealed there",
  (database) =>
    Effect.gen(function* () {
      expect(yield* warned(database)).toEqual([
        "GATEWAY_MASTER_KEY is not set: what needs sealing, such as credentials, is unavailable"
      ])
      expect(yield* warned({ ...database, GATEWAY_MASTER_KEY: "A".repeat(44) })).toEqual([])
    })
)

it.effect("a service that other machines reach and whose links would lead to this one is warned about", () =>
  Effect.gen(function* () {
    const elsewhere = { HOST: "0.0.0.0", PORT: "8080", METRICS_TOKEN: "metrics" }
    expect(yield* warned(elsewhere)).toEqual([
      "PUBLIC_URL is not set: links, redirects and cookies are those of http://127.0.0.1:8080"
    ])
    expect(yield* warned({ ...elsewhere, PUBLIC_URL: "https://gateway.example.com" })).toEqual([])
  })
)

it.effect("a service to which each client can name its own address is warned about", () =>
  Effect.gen(function* () {
    const warning = "TRUSTED_PROXIES has every address: each client can say by which one it is counted and recorded"
    for (const all of ["0.0.0.0/0", "10.0.0.0/8,::/0"])
      expect(yield* warned({ TRUSTED_PROXIES: all })).toEqual([warning])
    expect(yield* warned({ TRUSTED_PROXIES: "10.0.0.0/8" })).toEqual([])
  })
)
