import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { make, viewOf } from "../../../src/app/reload/LiveSettings.ts"
import { reloadable } from "../../../src/app/reload/Reloadable.ts"
import { settingsGiven } from "../../config/Load.ts"

it.effect("takes what can be changed, keeps the rest and names it", () =>
  Effect.gen(function* () {
    const current = yield* settingsGiven({ env: { PORT: "1", METRICS_TOKEN: "a", DRAIN_GRACE: "1 second" } })
    const loaded = yield* settingsGiven({
      env: { PORT: "2", METRICS_TOKEN: "b", DRAIN_GRACE: "1 second", OPENAI_API_KEY: "k" },
      file: {
        headHoldMillis: 7,
        timeouts: { firstContentMillis: 9, totalMillis: 5_000 },
        rateLimits: { key: { requestsPerMinute: 3 } }
      }
    })
    const { needStart, next } = reloadable(current, loaded)
    expect(needStart).toEqual(["PORT", "METRICS_TOKEN", "timeouts of connection and call in GATEWAY_CONFIG"])
    expect(next).toMatchObject({
      port: 1,
      metricsToken: Redacted.make("a"),
      headHoldMillis: 7,
      simulated: false,
      rateLimits: { key: { requestsPerMinute: 3 } }
    })
    expect(next.timeouts).toMatchObject({ firstContentMillis: 9, totalMillis: current.timeouts.totalMillis })
    expect([...next.vendorKeys.keys()]).toEqual(["openai"])
    expect(
      reloadable(current, yield* settingsGiven({ env: { PORT: "1", METRICS_TOKEN: "a", DRAIN_GRACE: "1 second" } }))
        .needStart
    ).toEqual([])
  })
)

it.effect("the proxies that are trusted wait for a start", () =>
  Effect.gen(function* () {
    const given = (list: string) => settingsGiven({ env: { TRUSTED_PROXIES: list } })
    const current = yield* given("10.0.0.0/8,192.0.2.1")
    expect(reloadable(current, yield* given("10.0.0.0/8 192.0.2.1")).needStart).toEqual([])
    const { needStart, next } = reloadable(current, yield* given("10.0.0.0/9"))
    expect(needStart).toEqual(["TRUSTED_PROXIES"])
    expect(next.trustedProxies).toEqual(current.trustedProxies)
  })
)

const stripe = { STRIPE_SECRET_KEY: "sk_a", STRIPE_WEBHOOK_SECRET: "whsec_0123456789abcdef" }
const oidc = { OIDC_ISSUER: "https://a.example", OIDC_CLIENT_ID: "x", OIDC_CLIENT_SECRET: "one" }

it.effect.each([
  [stripe, { STRIPE_WEBHOOK_SECRET: "whsec_fedcba9876543210" }, ["STRIPE_WEBHOOK_SECRET"]],
  [{}, stripe, ["STRIPE_SECRET_KEY"]],
  [oidc, { OIDC_CLIENT_SECRET: "two", OIDC_OPERATOR: "groups=ops" }, ["OIDC_CLIENT_SECRET", "OIDC_OPERATOR"]],
  [{ HTTPS_PROXY: "http://127.0.0.1:1" }, { NO_PROXY: "a.example" }, ["NO_PROXY"]]
] as const)("of several variables that make up a setting names those that were changed", ([before, change, names]) =>
  Effect.gen(function* () {
    const current = yield* settingsGiven({ env: before })
    expect(reloadable(current, yield* settingsGiven({ env: { ...before, ...change } })).needStart).toEqual(names)
  })
)

it.effect("what is built from live settings sees the change", () =>
  Effect.gen(function* () {
    const first = yield* settingsGiven({})
    const live = make(first)
    const limits = viewOf(() => live.settings.rateLimits.key)
    expect(limits.requestsPerMinute).toBe(null)
    live.replace(yield* settingsGiven({ file: { rateLimits: { key: { requestsPerMinute: 3 } } } }))
    expect(limits.requestsPerMinute).toBe(3)
    expect({ ...live.settings }).toEqual(live.current())
  })
)
