import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import type { NextStep } from "../../src/domain/CallObserver.ts"
import { CredentialId } from "../../src/domain/Ids.ts"
import { ProviderError, type ProviderFailure } from "../../src/domain/ProviderError.ts"
import { Timers } from "../../src/domain/Timers.ts"
import * as AttemptLog from "../../src/observe/AttemptLog.ts"
import { TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { quiet } from "../gateway/virtualTime.ts"
import { request, requestId } from "../provider/protocols/calls.ts"

const call = {
  requestId,
  caller: TestGateway.testCaller,
  request: request(),
  endpoint: "chat",
  origin: "user",
  startedAtMillis: 0
} as const
const model = testModel("one/m")

interface Failed {
  readonly reason: ProviderFailure
  readonly httpStatus?: number
  readonly next?: NextStep
  readonly number?: number
  readonly own?: boolean
}

const credential = CredentialId.make("01990000-0000-7000-8000-000000000001")

/** The annotations of the log lines that failures leave. */
const logged = (failures: ReadonlyArray<Failed>, timers = VirtualTimers.make()) => {
  const lines: Array<Record<string, unknown>> = []
  const logger = Logger.make(({ annotations, message }) => {
    lines.push({ message: String(message), ...Object.fromEntries(HashMap.toEntries(annotations)) })
  })
  return Effect.gen(function* () {
    const scope = yield* Scope.make()
    const observer = yield* AttemptLog.make({ variableOf: (id) => (id === "one" ? "ONE_API_KEY" : undefined) }).pipe(
      Scope.extend(scope)
    )
    const fail = ({ httpStatus, next, number, own, reason }: Failed) =>
      observer.attemptFailed?.(call, {
        model,
        record: {
          provider: "one",
          model: model.id,
          status: "error",
          error: null,
          cost: { amount_microusd: 0, currency: "USD", basis: "charged" },
          latency_ms: 12
        },
        error: new ProviderError({ providerId: "one", reason, httpStatus }),
        credentialId: own === true ? credential : null,
        firstContentMillis: null,
        usage: null,
        finishReason: null,
        servedModel: null,
        number: number ?? 1,
        next: next ?? { _tag: "GiveUp" }
      })
    for (const failed of failures) fail(failed)
    yield* quiet
    return { lines, fail, timers, close: Scope.close(scope, Exit.void) }
  }).pipe(Effect.provide(Layer.merge(Layer.succeed(Timers, timers), Logger.replace(Logger.defaultLogger, logger))))
}

it.effect("a failed attempt is one log line that says which call, which route, why, and what followed", () =>
  Effect.gen(function* () {
    const next: NextStep = { _tag: "FallBack", model: testModel("two/m") }
    const { lines } = yield* logged([{ reason: { _tag: "ServerError", status: 503 }, number: 2, next }])
    expect(lines).toEqual([
      {
        message: "attempt failed",
        requestId,
        attempt: 2,
        provider: "one",
        model: "one/m",
        reason: "ServerError",
        fault: "provider",
        httpStatus: 503,
        code: "provider_error",
        latencyMillis: 12,
        next: "fallback",
        nextModel: "two/m"
      }
    ])
  })
)

it.effect("a refused credential is named: the service's by its variable, a project's own by its id", () =>
  Effect.gen(function* () {
    const { lines } = yield* logged([
      { reason: { _tag: "CredentialRejected" }, httpStatus: 401 },
      { reason: { _tag: "QuotaExhausted" }, httpStatus: 429, own: true },
      { reason: { _tag: "Unreachable", detail: "dns" } },
      { reason: { _tag: "Insecure", detail: "CERT_HAS_EXPIRED" } }
    ])
    expect(lines).toMatchObject([
      { reason: "CredentialRejected", fault: "credential", httpStatus: 401, variable: "ONE_API_KEY", next: "gave up" },
      { reason: "QuotaExhausted", fault: "quota", httpStatus: 429, credential },
      { reason: "Unreachable", fault: "network", detail: "dns" },
      { reason: "Insecure", fault: "network", detail: "CERT_HAS_EXPIRED" }
    ])
    expect(lines[1]).not.toHaveProperty("variable")
    expect(lines[2]).not.toHaveProperty("variable")
    expect(lines[2]).not.toHaveProperty("httpStatus")
  })
)

it.effect("the text of a provider is never logged", () =>
  Effect.gen(function* () {
    const { lines } = yield* logged([
      { reason: { _tag: "RequestRejected", message: "sk-secret is wrong", param: null } },
      { reason: { _tag: "ContentPolicy", message: "sk-secret is wrong" } },
      { reason: { _tag: "ContextLengthExceeded", message: "sk-secret is wrong" } }
    ])
    expect(lines).toHaveLength(3)
    expect(JSON.stringify(lines)).not.toContain("sk-secret")
  })
)

it.effect("what the machine lacks for a socket is one line a minute, with what to do", () =>
  Effect.gen(function* () {
    const noSocket = (detail: "open-files" | "local-ports"): Failed => ({ reason: { _tag: "NoSocket", detail } })
    const { fail, lines, timers } = yield* logged(Array.from({ length: 30 }, () => noSocket("open-files")))
    const advice = () => lines.filter(({ message }) => message === "no further connections to providers can be opened")
    expect(advice()).toEqual([
      expect.objectContaining({ detail: "open-files", action: expect.stringContaining("LimitNOFILE") })
    ])
    expect(lines).toContainEqual(
      expect.objectContaining({ message: "attempt failed", reason: "NoSocket", fault: "gateway", detail: "open-files" })
    )
    fail(noSocket("local-ports"))
    yield* quiet
    expect(advice().map(({ detail }) => detail)).toEqual(["open-files", "local-ports"])
    timers.advance(60_000)
    fail(noSocket("open-files"))
    yield* quiet
    expect(advice().map(({ detail }) => detail)).toEqual(["open-files", "local-ports", "open-files"])
  })
)

it.effect("a failure that repeats is logged ten times a minute, and the minute ends with a count of the others", () =>
  Effect.gen(function* () {
    const stalled: Failed = { reason: { _tag: "Stalled" } }
    const { fail, lines, timers } = yield* logged(Array.from({ length: 30 }, () => stalled))
    expect(lines).toHaveLength(10)
    fail({ reason: { _tag: "Reset" } })
    timers.advance(60_000)
    fail(stalled)
    yield* quiet
    expect(lines.map(({ message, reason, suppressed }) => ({ message, reason, suppressed })).slice(10)).toEqual([
      { message: "attempt failed", reason: "Reset" },
      { message: "further attempts failed", reason: "Stalled", suppressed: 20 },
      { message: "attempt failed", reason: "Stalled" }
    ])
  })
)

it.effect("with its scope a window ends: what it has left out is counted, and no timer is left", () =>
  Effect.gen(function* () {
    const stalled = { reason: { _tag: "Stalled" } } as const
    const noSocket = { reason: { _tag: "NoSocket", detail: "memory" } } as const
    const { close, lines, timers } = yield* logged([...Array.from({ length: 12 }, () => stalled), noSocket])
    expect(timers.pending()).toBeGreaterThan(0)
    yield* close
    expect(timers.pending()).toBe(0)
    expect(lines.at(-1)).toEqual({
      message: "further attempts failed",
      provider: "one",
      reason: "Stalled",
      suppressed: 2
    })
  })
)
