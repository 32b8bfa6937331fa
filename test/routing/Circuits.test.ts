import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { CredentialId } from "../../src/domain/Ids.ts"
import { ProviderError, type ProviderFailure } from "../../src/domain/ProviderError.ts"
import { snapshot } from "../../src/observe/Exposition.ts"
import { render } from "../../src/observe/Prometheus.ts"
import { Health } from "../../src/routing/Health.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { quiet } from "../gateway/virtualTime.ts"
import { samplesOf } from "../support/TextFormat.ts"
import { model } from "./models.ts"

const large = model("watched/large")
const credential = CredentialId.make("01990000-0000-7000-8000-000000000001")

/** Health whose circuits are watched: the lines that are logged, and the metrics as a scrape sees them. */
const watched = Effect.gen(function* () {
  const timers = VirtualTimers.make()
  const lines: Array<Record<string, unknown>> = []
  const logger = Logger.make(({ annotations, logLevel, message }) => {
    lines.push({
      level: logLevel.label,
      message: String(message),
      ...Object.fromEntries(HashMap.toEntries(annotations))
    })
  })
  const layer = Health.layer.pipe(
    Layer.provide(VirtualTimers.layerOf(timers)),
    Layer.provide(Logger.replace(Logger.defaultLogger, logger)),
    Layer.provide(Logger.minimumLogLevel(LogLevel.All))
  )
  const health = yield* Effect.map(Layer.build(layer), (context) => context.unsafeMap.get(Health.key) as Health["Type"])
  const fail = (reason: ProviderFailure, times = 1, of: CredentialId | null = null) => {
    for (let n = 0; n < times; n++) health.failed(large, new ProviderError({ providerId: "watched", reason }), of)
  }
  const open = (scope: string, name = "watched/large") =>
    samplesOf(render(snapshot())).get(`gateway_circuit_open{provider="watched",model="${name}",scope="${scope}"}`)
  return { timers, lines, health, fail, open }
})

it.scoped("an opening and a closing of a route are one line each, and its metric is 1 while calls are kept away", () =>
  Effect.gen(function* () {
    const { fail, health, lines, open, timers } = yield* watched
    fail({ _tag: "ServerError", status: 500 }, 5)
    yield* quiet
    expect(open("route")).toBe(1)
    expect(lines).toEqual([
      {
        level: "INFO",
        message: "circuit opened",
        scope: "route",
        provider: "watched",
        model: "watched/large",
        reason: "ServerError",
        forMillis: 30_000
      }
    ])
    health.succeeded(large, 10)
    yield* quiet
    expect(lines).toHaveLength(1)
    timers.advance(30_000)
    expect(open("route")).toBe(0)
    health.attempted(large)
    health.succeeded(large, 10)
    yield* quiet
    expect(lines.slice(1)).toEqual([
      { level: "INFO", message: "circuit closed", scope: "route", provider: "watched", model: "watched/large" }
    ])
    health.succeeded(large, 10)
    yield* quiet
    expect(lines).toHaveLength(2)
  })
)

it.scoped("a probe that fails opens the circuit again, for longer", () =>
  Effect.gen(function* () {
    const { fail, lines, timers } = yield* watched
    fail({ _tag: "Stalled" }, 5)
    timers.advance(30_000)
    fail({ _tag: "Stalled" })
    yield* quiet
    expect(lines.map(({ forMillis, message }) => [message, forMillis])).toEqual([
      ["circuit opened", 30_000],
      ["circuit opened", 60_000]
    ])
  })
)

it.scoped("a rejected credential is told for the provider; a project's own by its id, and in no metric", () =>
  Effect.gen(function* () {
    const { fail, lines, open } = yield* watched
    fail({ _tag: "CredentialRejected" }, 3)
    fail({ _tag: "CredentialRejected" }, 1, credential)
    yield* quiet
    expect(lines).toMatchObject([
      { message: "circuit opened", scope: "credential", provider: "watched", reason: "CredentialRejected" },
      { message: "circuit opened", scope: "credential", provider: "watched", credential }
    ])
    expect(lines).toHaveLength(2)
    expect(lines[0]).not.toHaveProperty("model")
    expect(open("credential", "")).toBe(1)
    expect(render(snapshot())).not.toContain(credential)
  })
)

it.scoped("rate limits are no event for the log at info, and counted", () =>
  Effect.gen(function* () {
    const { fail, lines, open } = yield* watched
    fail({ _tag: "RateLimited", retryAfterMillis: 5_000 }, 2)
    yield* quiet
    expect(lines.map(({ level, scope }) => [level, scope])).toEqual([["DEBUG", "rate_limit"]])
    expect(open("rate_limit")).toBe(1)
  })
)

it.scoped("what is forgotten with a change of its provider is closed, and a later opening counts again", () =>
  Effect.gen(function* () {
    const { fail, health, lines, open } = yield* watched
    const openings = () =>
      samplesOf(render(snapshot())).get(
        'gateway_circuit_openings_total{provider="watched",scope="credential",reason="CredentialRejected"}'
      ) ?? 0
    const before = openings()
    fail({ _tag: "CredentialRejected" })
    fail({ _tag: "RateLimited", retryAfterMillis: 5_000 })
    fail({ _tag: "CredentialRejected" }, 1, credential)
    health.forget("another")
    expect([open("credential", ""), open("rate_limit")]).toEqual([1, 1])
    health.forget("watched")
    expect([open("credential", ""), open("rate_limit")]).toEqual([0, 0])
    yield* quiet
    // a project's own credential is still rejected
    expect(lines.slice(3)).toEqual([
      { level: "INFO", message: "circuit closed", scope: "credential", provider: "watched" },
      { level: "DEBUG", message: "circuit closed", scope: "rate_limit", provider: "watched", model: "watched/large" }
    ])
    fail({ _tag: "CredentialRejected" })
    yield* quiet
    expect(lines.slice(5)).toMatchObject([{ message: "circuit opened", scope: "credential", provider: "watched" }])
    expect(open("credential", "")).toBe(1)
    expect(openings() - before).toBe(3)
  })
)

it.scoped("the circuits of a project's credential are closed with its old secret", () =>
  Effect.gen(function* () {
    const { fail, health, lines } = yield* watched
    health.uses([{ id: credential, version: "1" }])
    fail({ _tag: "CredentialRejected" })
    fail({ _tag: "CredentialRejected" }, 1, credential)
    health.uses([{ id: credential, version: "1" }])
    yield* quiet
    expect(lines).toHaveLength(2)
    health.uses([{ id: credential, version: "2" }])
    fail({ _tag: "CredentialRejected" }, 1, credential)
    yield* quiet
    expect(lines.slice(2)).toMatchObject([
      { message: "circuit closed", scope: "credential", credential },
      { message: "circuit opened", scope: "credential", credential }
    ])
  })
)
