import { describe, expect, it } from "vitest"
import type { Attempt } from "../../src/domain/Call.ts"
import {
  type GatewayError,
  InsufficientFunds,
  InvalidRequest,
  ModelNotFound,
  NoEligibleModel,
  ProvidersFailed,
  RateLimited,
  RoutingConfigNotFound,
  ServiceRefused,
  StoreUnavailable,
  Unauthenticated,
  UnknownPath
} from "../../src/domain/GatewayError.ts"
import * as Errors from "../../src/http/Errors.ts"

const amounts = (neededMicroUsd: number, availableMicroUsd: number, heldMicroUsd: number) => ({
  neededMicroUsd,
  availableMicroUsd,
  heldMicroUsd
})

const attempt = (model: string, code: string): Attempt => ({
  provider: model.slice(0, model.indexOf("/")),
  model,
  status: "error",
  error: { code, message: `what ${code} means` },
  cost: { amount_microusd: 0, currency: "USD", basis: "charged" },
  latency_ms: 1
})

interface Told {
  readonly status: number
  readonly type: string
  readonly code: string
  readonly param: string | null
  readonly headers: Readonly<Record<string, string>>
}

const told = (error: GatewayError): Told => {
  const {
    error: { code, param, type },
    headers,
    status
  } = Errors.of(error)
  return { status, type, code, param, headers }
}

const table: ReadonlyArray<readonly [string, GatewayError, Told]> = [
  [
    "no valid key",
    new Unauthenticated(),
    {
      status: 401,
      type: "authentication_error",
      code: "invalid_api_key",
      param: null,
      headers: { "www-authenticate": "Bearer" }
    }
  ],
  [
    "a request at fault",
    new InvalidRequest({ code: "invalid_type", message: "not a list", param: "messages" }),
    { status: 400, type: "invalid_request_error", code: "invalid_type", param: "messages", headers: {} }
  ],
  [
    "a rate limit, whole seconds later and not before it ends",
    new RateLimited({ code: "rate_limit_exceeded", message: "too fast", retryAfterMillis: 1_001 }),
    {
      status: 429,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      param: null,
      headers: { "retry-after": "2" }
    }
  ],
  [
    "a rate limit that ends in less than a second",
    new RateLimited({ code: "rate_limit_exceeded", message: "too fast", retryAfterMillis: 0 }),
    {
      status: 429,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      param: null,
      headers: { "retry-after": "1" }
    }
  ],
  [
    "an unknown model",
    new ModelNotFound({ model: "x" }),
    { status: 404, type: "invalid_request_error", code: "model_not_found", param: "model", headers: {} }
  ],
  [
    "nothing to choose from",
    new NoEligibleModel({ excluded: { project_policy: 1 }, param: "model" }),
    { status: 404, type: "invalid_request_error", code: "no_eligible_model", param: "model", headers: {} }
  ],
  [
    "an unknown routing configuration",
    new RoutingConfigNotFound({ routingConfig: "x" }),
    {
      status: 404,
      type: "invalid_request_error",
      code: "routing_config_not_found",
      param: "routing_config",
      headers: {}
    }
  ],
  [
    "an empty balance",
    new InsufficientFunds({ scope: "account", reason: "exhausted", ...amounts(500, 0, 0) }),
    { status: 402, type: "insufficient_quota", code: "insufficient_balance", param: null, headers: {} }
  ],
  [
    "a spend limit that running calls hold, with the time until enough of it has returned",
    new InsufficientFunds({ scope: "project", reason: "held", ...amounts(500, 100, 2_000) }),
    {
      status: 402,
      type: "insufficient_quota",
      code: "spend_limit_exceeded",
      param: null,
      headers: { "retry-after": "6", "x-should-retry": "true" }
    }
  ],
  [
    "a call that is too dear for its key",
    new InsufficientFunds({ scope: "key", reason: "too_large", ...amounts(500, 400, 0) }),
    { status: 402, type: "insufficient_quota", code: "spend_limit_exceeded", param: null, headers: {} }
  ],
  [
    "one model that failed, tried twice, by its own last code",
    new ProvidersFailed({
      attempts: [attempt("one/m", "provider_unreachable"), attempt("one/m", "provider_timeout")],
      retryAfterMillis: null
    }),
    {
      status: 502,
      type: "provider_error",
      code: "provider_timeout",
      param: null,
      headers: { "x-should-retry": "false" }
    }
  ],
  [
    "several models that failed",
    new ProvidersFailed({
      attempts: [attempt("one/m", "provider_error"), attempt("two/m", "provider_error")],
      retryAfterMillis: null
    }),
    {
      status: 502,
      type: "provider_error",
      code: "all_providers_failed",
      param: null,
      headers: { "x-should-retry": "false" }
    }
  ],
  [
    "providers that all name a time, with that time",
    new ProvidersFailed({ attempts: [attempt("one/m", "provider_rate_limited")], retryAfterMillis: 4_500 }),
    {
      status: 502,
      type: "provider_error",
      code: "provider_rate_limited",
      param: null,
      headers: { "retry-after": "5" }
    }
  ],
  [
    "a candidate that could not be paid for, so that nobody was called",
    new ProvidersFailed({ attempts: [], retryAfterMillis: null }),
    {
      status: 502,
      type: "provider_error",
      code: "all_providers_failed",
      param: null,
      headers: { "x-should-retry": "false" }
    }
  ],
  [
    "a database out of reach",
    new StoreUnavailable({ cause: "a password in a connection string" }),
    { status: 503, type: "server_error", code: "store_unavailable", param: null, headers: { "retry-after": "2" } }
  ],
  [
    "a node that goes down",
    new ServiceRefused({ reason: "shutting_down" }),
    { status: 503, type: "server_error", code: "shutting_down", param: null, headers: { "retry-after": "5" } }
  ],
  [
    "an overloaded node",
    new ServiceRefused({ reason: "overloaded" }),
    { status: 503, type: "server_error", code: "overloaded", param: null, headers: { "retry-after": "1" } }
  ],
  [
    "a path where nothing is",
    new UnknownPath({ path: "/x" }),
    { status: 404, type: "invalid_request_error", code: "unknown_path", param: null, headers: {} }
  ]
]

describe("a client is told of", () => {
  for (const [what, error, expected] of table) {
    it(what, () => {
      expect(told(error)).toEqual(expected)
    })
  }
})

it("a client's own text is quoted up to 120 characters", () => {
  expect(Errors.of(new ModelNotFound({ model: "x".repeat(120) })).error.message).toContain(`'${"x".repeat(120)}'`)
  expect(Errors.of(new ModelNotFound({ model: "x".repeat(121) })).error.message).toContain(`'${"x".repeat(120)}…'`)
})

it("a failed call names its attempts, and what was passed over if there is any", () => {
  const attempts = [attempt("one/m", "provider_error")]
  const skipped = [{ model: "two/m", reason: "unaffordable" }] as const
  const metadataOf = (more: object) =>
    Errors.of(new ProvidersFailed({ attempts, retryAfterMillis: null, ...more })).error.metadata
  expect(metadataOf({ skipped })).toEqual({ attempts, skipped })
  expect(metadataOf({})).toEqual({ attempts })
})

it("nothing of why the database is out of reach is told", () => {
  expect(JSON.stringify(Errors.of(new StoreUnavailable({ cause: "a password" })))).not.toContain("password")
})

it("a stream that this node has ended is no failure of a provider", () => {
  expect(Errors.inBand({ code: "server_shutdown", message: null }, "one/m")).toMatchObject({
    type: "server_error",
    code: "server_shutdown"
  })
  expect(Errors.inBand({ code: "stream_stalled", message: "The provider stopped sending." }, "one/m")).toMatchObject({
    message: "one/m: The provider stopped sending.",
    type: "provider_error",
    code: "stream_stalled"
  })
})
