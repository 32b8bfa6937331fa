import { expect, it } from "vitest"
import type { Attempt } from "../../src/domain/Call.ts"
import * as Library from "../../src/index.ts"

const attempt: Attempt = {
  provider: "acme",
  model: "acme/large",
  status: "error",
  error: { code: "provider_error", message: "The provider reported an error." },
  cost: { amount_microusd: 0, currency: "USD", basis: "charged" },
  latency_ms: 3
}
const given = { message: "A sentence that names what is wrong." }

/** One of each exported class of errors, and a fact that its message has to tell. */
const errors: Readonly<Record<string, readonly [error: Error, fact: string]>> = {
  AlreadyExists: [new Library.AlreadyExists(given), given.message],
  ConversationRunning: [new Library.ConversationRunning(given), given.message],
  DatabaseFailed: [
    new Library.DatabaseFailed({ database: "the PostgreSQL database", cause: new Error("it is away") }),
    "the PostgreSQL database failed: it is away"
  ],
  DirectoryInUse: [new Library.DirectoryInUse({ directory: ".data" }), ".data is in use by another process"],
  MasterKeyFailed: [
    new Library.MasterKeyFailed({ path: "master.key", reason: "cannot be read" }),
    "master.key cannot be read"
  ],
  ConfigVersionMismatch: [new Library.ConfigVersionMismatch(given), given.message],
  CredentialRequired: [new Library.CredentialRequired(given), given.message],
  Exhausted: [
    new Library.Exhausted<string, Error>({ failed: [{ candidate: "a", error: new Error("a is away.") }] }),
    "a is away"
  ],
  IdempotencyKeyInProgress: [new Library.IdempotencyKeyInProgress(given), given.message],
  InsufficientFunds: [
    new Library.InsufficientFunds({
      scope: "account",
      reason: "too_large",
      neededMicroUsd: 1_200,
      availableMicroUsd: 100,
      heldMicroUsd: 7
    }),
    "this call needs at least $0.0012, and $0.0001 of it is left, while running calls hold $0.000007"
  ],
  InvalidConfiguration: [
    new Library.InvalidConfiguration({ issues: [{ path: "own[0].baseUrl", message: "must be a URL" }] }),
    "own[0].baseUrl: must be a URL"
  ],
  InvalidRequest: [new Library.InvalidRequest({ code: "invalid_value", param: "n", ...given }), given.message],
  IssuerUnavailable: [new Library.IssuerUnavailable(given), given.message],
  ManagedByConfiguration: [new Library.ManagedByConfiguration(given), given.message],
  ModelNotFound: [new Library.ModelNotFound({ model: "acme/huge" }), "acme/huge"],
  NoEligibleModel: [new Library.NoEligibleModel({ excluded: { price_cap: 3 }, param: "models" }), "3 by price_cap"],
  NotFound: [new Library.NotFound(given), given.message],
  OperatorRequired: [new Library.OperatorRequired(given), given.message],
  PaymentProviderFailed: [new Library.PaymentProviderFailed(given), given.message],
  PaymentsNotConfigured: [new Library.PaymentsNotConfigured(given), given.message],
  ProjectNotEmpty: [new Library.ProjectNotEmpty(given), given.message],
  ProviderError: [
    new Library.ProviderError({ providerId: "acme", reason: { _tag: "ServerError", status: 503 } }),
    "acme has failed: The provider reported an error. (provider_error, ServerError 503)"
  ],
  ProvidersFailed: [
    new Library.ProvidersFailed({ attempts: [attempt], retryAfterMillis: null }),
    "acme/large: The provider reported an error."
  ],
  RateLimited: [
    new Library.RateLimited({ code: "rate_limit_exceeded", retryAfterMillis: 7_000, ...given }),
    given.message
  ],
  RoleRequired: [new Library.RoleRequired(given), given.message],
  RoutingConfigNotFound: [new Library.RoutingConfigNotFound({ routingConfig: "cheap" }), "cheap"],
  SealingUnavailable: [new Library.SealingUnavailable(given), given.message],
  ServiceRefused: [new Library.ServiceRefused({ reason: "overloaded" }), "overloaded"],
  StoreUnavailable: [new Library.StoreUnavailable({ cause: new Error("postgres://user:secret@host") }), "database"],
  StreamBroken: [new Library.StreamBroken({ code: "stream_stalled", ...given }), given.message],
  Unauthenticated: [new Library.Unauthenticated(), "API key"],
  UnknownPath: [new Library.UnknownPath({ path: "/v2" }), "/v2"],
  VersionMismatch: [new Library.VersionMismatch(given), given.message]
}

const isErrorClass = (value: unknown): boolean => typeof value === "function" && value.prototype instanceof Error

it("every exported class of errors is tried here", () => {
  const exported = Object.entries(Library).filter(([, value]) => isErrorClass(value))
  expect(Object.keys(errors).sort()).toEqual(exported.map(([name]) => name).sort())
})

it.each(Object.entries(errors))("%s says its facts in a sentence, and no secret of its cause", (_, [error, fact]) => {
  expect(error.message).toContain(fact)
  expect(error.message).not.toBe("")
  expect(String(error)).not.toContain("An error has occurred")
  expect(`${error.message} ${String(error)}`).not.toContain("secret")
  // an application has no such settings
  expect(error.message).not.toMatch(/\b[A-Z]+_[A-Z_]+\b/)
})

it("the error of a provider of the application keeps its cause", () => {
  const cause = new Error("no connection")
  const error = new Library.ProviderError({ providerId: "mine", reason: { _tag: "Failed", cause } })
  expect(error.cause).toBe(cause)
  expect(error.message).not.toContain("no connection")
  expect(error.callError).toEqual({ code: "provider_error", message: "The provider failed." })
})
