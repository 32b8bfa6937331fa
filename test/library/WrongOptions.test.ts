import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import {
  AccountLayer,
  DatabaseLayer,
  defaultOptions,
  Gateway,
  type GatewayNeeds,
  HttpRoutesLayer,
  IdempotencyLayer,
  InvalidConfiguration,
  LedgerLayer,
  makeModel,
  makeProvider,
  PolicyLayer,
  ProductionLayer,
  ProviderLayer,
  RateLimits,
  SimpleLayer,
  Timers
} from "../../src/index.ts"

const none = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
const rateLimits = {
  key: { ...none, requestsPerMinute: 0, tokensPerMinute: Number.NaN },
  project: { ...none, concurrentRequests: 1.5 }
}
const { deadlines } = defaultOptions
const millis = "must be a whole number of milliseconds from 1 to 2147483647"
const count = "must be a whole number from 1 to 1000000000, or null"
const days = "must be a whole number of days from 2 to 36500, or null"
const attempts = "must be a whole number from 1 to 32"
const duration = "must be a finite duration above zero"
const postgresUrl = "must be a URL of the form postgres://user:password@host:port/database"
const wrongRateLimits = [
  `key.requestsPerMinute: ${count}`,
  `key.tokensPerMinute: ${count}`,
  `project.concurrentRequests: ${count}`
]
const within = (name: string, issues: ReadonlyArray<string>) => issues.map((issue) => `${name}.${issue}`)

/** As `process.env["…"]` of a variable that is not set, in spite of its type. */
const unset = Redacted.make(undefined as unknown as string)

const wrongGateway = {
  deadlines: {
    firstContentMillis: 0,
    plainAnswerMillis: -1,
    idleMillis: 0.5,
    totalMillis: Number.POSITIVE_INFINITY,
    maxTotalMillis: Number.NaN
  },
  maxAttempts: 33
}
const wrongDeadlines = [
  `deadlines.firstContentMillis: ${millis}`,
  `deadlines.plainAnswerMillis: ${millis}`,
  `deadlines.idleMillis: ${millis}`,
  `deadlines.totalMillis: ${millis}`,
  `deadlines.maxTotalMillis: ${millis}`,
  `maxAttempts: ${attempts}`
]

const cases: ReadonlyArray<
  readonly [what: string, layer: Layer.Layer<never, unknown, never>, issues: ReadonlyArray<string>]
> = [
  ["deadlines and attempts of a gateway", layerOf(Gateway.layerWith(wrongGateway)), wrongDeadlines],
  ["no attempt at all", layerOf(Gateway.layerWith({ deadlines, maxAttempts: 0 })), [`maxAttempts: ${attempts}`]],
  [
    "attempts that are no number",
    layerOf(Gateway.layerWith({ deadlines, maxAttempts: Number.NaN })),
    [`maxAttempts: ${attempts}`]
  ],
  ["rate limits of the policy", layerOf(PolicyLayer({ rateLimits })), within("rateLimits", wrongRateLimits)],
  ["rate limits in memory", layerOf(RateLimits.layerMemory(rateLimits)), wrongRateLimits],
  [
    "rate limits of accounts, and less than two days of calls",
    layerOf(AccountLayer({ rateLimits, callDays: 1 })),
    [...within("rateLimits", wrongRateLimits), `callDays: ${days}`]
  ],
  [
    "days of calls without an end",
    layerOf(AccountLayer({ callDays: Number.POSITIVE_INFINITY })),
    [`callDays: ${days}`]
  ],
  [
    "a deadline of connections",
    Layer.provide(layerOf(ProviderLayer({ connectMillis: 0 })), Timers.layer),
    [`connectMillis: ${millis}`]
  ],
  [
    "a database that is no URL, and its numbers",
    layerOf(DatabaseLayer({ url: Redacted.make("nonsense"), maxConnections: 1, statementTimeoutMillis: Number.NaN })),
    [
      `url: ${postgresUrl}`,
      "maxConnections: must be a whole number from 2 to 1000: a statement of the ledger can hold two",
      "statementTimeoutMillis: must be a whole number of milliseconds from 1 to 2147482647"
    ]
  ],
  ["a database URL that is not set", layerOf(DatabaseLayer({ url: unset })), [`url: ${postgresUrl}`]],
  [
    "a database URL with a line break",
    layerOf(DatabaseLayer({ url: Redacted.make("postgres://h/d\n") })),
    [`url: ${postgresUrl}`]
  ],
  [
    "a database in two places",
    layerOf(DatabaseLayer({ url: Redacted.make("postgres://h/d"), directory: "data" })),
    ["directory: cannot be given beside url: one database is opened"]
  ],
  [
    "no directory",
    layerOf(DatabaseLayer({ directory: "" })),
    ["directory: must be the path of a directory, or :memory:"]
  ],
  [
    "an empty secret",
    layerOf(IdempotencyLayer({ secret: Redacted.make("") })),
    ["secret: must be a text that is not empty"]
  ],
  [
    "a secret that is not set",
    layerOf(IdempotencyLayer({ secret: unset })),
    ["secret: must be a text that is not empty"]
  ],
  [
    "times of the recovery",
    layerOf(LedgerLayer({ interval: 0, silence: Number.NaN, maxCallDuration: Number.POSITIVE_INFINITY })),
    [`interval: ${duration}`, `silence: ${duration}`, `maxCallDuration: ${duration}`]
  ],
  [
    "an interval that is no shorter than the silence of a dead process",
    layerOf(LedgerLayer({ interval: "1 minute" })),
    ["silence: must be longer than interval: a process that is alive would count as dead"]
  ],
  [
    "a silence that is no longer than the interval",
    layerOf(LedgerLayer({ silence: "5 seconds" })),
    ["silence: must be longer than interval: a process that is alive would count as dead"]
  ],
  [
    "times of the routes, and a prefix without a slash",
    Layer.provide(
      layerOf(
        HttpRoutesLayer({ prefix: "ai" as "/ai", headHoldMillis: -1, heartbeatMillis: 0, drainGrace: Number.NaN })
      ),
      HttpLayerRouter.layer
    ),
    [
      "prefix: must begin with a slash and end without one, or be / alone",
      "headHoldMillis: must be a whole number of milliseconds from 0 to 2147483647",
      `heartbeatMillis: ${millis}`,
      "drainGrace: must be a finite duration, at least zero"
    ]
  ],
  [
    "everything of a simple gateway",
    layerOf(SimpleLayer({ gateway: wrongGateway, creditMicroUsd: -1, connectMillis: -1 })),
    [
      `connectMillis: ${millis}`,
      ...within("gateway", wrongDeadlines),
      "creditMicroUsd: must be a whole number of micro-USD, at least 0"
    ]
  ],
  [
    "everything of the whole stack",
    layerOf(
      ProductionLayer({
        database: { url: Redacted.make("mysql://h/d") },
        providers: { credentials: new Map([["openai", Redacted.make("")]]), connectMillis: 0.5 },
        gateway: wrongGateway,
        idempotency: { secret: Redacted.make("") },
        rateLimits,
        callDays: 0
      })
    ),
    [
      `database.url: ${postgresUrl}`,
      "providers.credentials.openai: must hold visible ASCII characters only, without spaces, and at least one",
      `providers.connectMillis: ${millis}`,
      ...within("gateway", wrongDeadlines),
      ...within("rateLimits", wrongRateLimits),
      `callDays: ${days}`,
      "idempotency.secret: must be a text that is not empty"
    ]
  ]
]

/** Nothing is begun, so that what the Layer needs is not needed. */
function layerOf<A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<never, unknown, never> {
  return layer as unknown as Layer.Layer<never, unknown, never>
}

describe("options that are wrong", () => {
  it.scoped.each(cases)("%s: the Layer fails and names them, without their values", ([, layer, issues]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Layer.build(layer))
      expect(error).toBeInstanceOf(InvalidConfiguration)
      expect(error instanceof InvalidConfiguration && error.message.split("\n")).toEqual(issues)
    })
  )

  it.scoped("what is wrong with a provider of the application has its place in the whole stack too", () =>
    Effect.gen(function* () {
      const model = makeModel({ id: "other/m", prices: { input: 0, output: 0 }, contextTokens: 10, outputTokens: 5 })
      const stack = ProductionLayer({
        database: { directory: ":memory:" },
        providers: { providers: [{ provider: makeProvider("mine", () => Stream.empty), models: [model] }] }
      })
      const error = yield* Effect.flip(Layer.build(stack))
      expect(error.message).toBe("providers.providers[0].models[0].providerId: must be the id of its provider")
    })
  )

  it.scoped("numbers of a model of the application have the bounds of a configured one", () =>
    Effect.gen(function* () {
      const right = makeModel({ id: "mine/m", prices: { input: 0, output: 0 }, contextTokens: 10, outputTokens: 5 })
      const wrong = {
        ...right,
        id: "mine/n",
        prices: { input: -1, output: 0, cacheRead: Number.NaN, cacheWrite: null, tiers: [] },
        contextTokens: 0,
        inputTokens: 0.5,
        imageTokens: -3,
        quality: 7
      }
      const provider = makeProvider("mine", () => Stream.empty)
      const layer = ProviderLayer({ providers: [{ provider, models: [right, wrong] }] })
      const error = yield* Effect.flip(Layer.build(Layer.provide(layer, Timers.layer)))
      const at = "providers[0].models[1]"
      expect(error.issues.map(({ message, path }) => `${path}: ${message}`)).toEqual([
        `${at}.prices.input: must be a whole number, at least 0`,
        `${at}.prices.cacheRead: must be a whole number, at least 0`,
        `${at}.contextTokens: must be a whole number, at least 1`,
        `${at}.inputTokens: must be a whole number, at least 1`,
        `${at}.imageTokens: must be a whole number, at least 0`,
        `${at}.quality: must be a number from 0 to 1`
      ])
    })
  )

  it("a gateway without options cannot fail", () => {
    const layer: Layer.Layer<Gateway, never, GatewayNeeds> = Gateway.layer
    expect(layer).toBeDefined()
  })

  it.scoped.each([
    { callDays: null, rateLimits: { key: none, project: none } },
    { callDays: 2, rateLimits: { key: { ...none, requestsPerMinute: 1 }, project: none } }
  ])("the whole stack takes %o", (options) =>
    Effect.gen(function* () {
      const stack = ProductionLayer({
        database: { directory: ":memory:" },
        providers: { simulated: true, connectMillis: 1 },
        gateway: {
          deadlines: { firstContentMillis: 1, plainAnswerMillis: 1, idleMillis: 1, totalMillis: 2_147_483_647 },
          maxAttempts: 32
        },
        ...options
      })
      expect(Exit.isSuccess(yield* Effect.exit(Layer.build(stack)))).toBe(true)
    })
  )
})
