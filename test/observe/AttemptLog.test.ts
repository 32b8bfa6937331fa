import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
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
  startedAtMillis: 0
} as const
const model = testModel("one/m")

/** The annotations of the log lines that failures leave; `null` is an attempt that succeeded. */
const logged = (reasons: ReadonlyArray<ProviderFailure | null>, timers = VirtualTimers.make()) => {
  const lines: Array<Record<string, unknown>> = []
  const logger = Logger.make(({ annotations }) => {
    lines.push(Object.fromEntries(HashMap.toEntries(annotations)))
  })
  return Effect.gen(function* () {
    const observer = yield* AttemptLog.make
    const fail = (reason: ProviderFailure | null) =>
      observer.attemptEnded?.(call, {
        model,
        record: {
          provider: "one",
          model: model.id,
          status: reason === null ? "success" : "error",
          error: null,
          cost: { amount_microusd: 0, currency: "USD", basis: "charged" },
          latency_ms: 12
        },
        error: reason === null ? null : new ProviderError({ providerId: "one", reason }),
        credentialId: null,
        firstContentMillis: null,
        usage: null,
        finishReason: null,
        servedModel: null
      })
    for (const reason of reasons) fail(reason)
    yield* quiet
    return { lines, fail, timers }
  }).pipe(Effect.provide(Layer.merge(Layer.succeed(Timers, timers), Logger.replace(Logger.defaultLogger, logger))))
}

it.effect("a failed attempt is one log line that says which call, which route and why", () =>
  Effect.gen(function* () {
    const { lines } = yield* logged([null, { _tag: "ServerError", status: 503 }])
    expect(lines).toEqual([
      {
        requestId,
        provider: "one",
        model: "one/m",
        reason: "ServerError",
        code: "provider_error",
        latencyMillis: 12,
        httpStatus: 503
      }
    ])
  })
)

it.effect("the text of a provider is never logged", () =>
  Effect.gen(function* () {
    const { lines } = yield* logged([{ _tag: "RequestRejected", message: "sk-secret is wrong", param: null }])
    expect(lines).toHaveLength(1)
    expect(JSON.stringify(lines)).not.toContain("sk-secret")
  })
)

it.effect("a failure that repeats is logged ten times a minute, and the next line counts what was left out", () =>
  Effect.gen(function* () {
    const stalled: ProviderFailure = { _tag: "Stalled" }
    const { fail, lines, timers } = yield* logged(Array.from({ length: 30 }, () => stalled))
    expect(lines).toHaveLength(10)
    fail({ _tag: "Reset" })
    timers.advance(60_000)
    fail(stalled)
    yield* quiet
    expect(lines.map(({ reason, suppressed }) => ({ reason, suppressed })).slice(10)).toEqual([
      { reason: "Reset", suppressed: undefined },
      { reason: "Stalled", suppressed: 20 }
    ])
  })
)
