import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { InsufficientFunds, RateLimited } from "../../src/domain/GatewayError.ts"
import { Caller, CallObservers, Gateway } from "../../src/index.ts"
import * as CallMetrics from "../../src/observe/CallMetrics.ts"
import { snapshot } from "../../src/observe/Exposition.ts"
import { render } from "../../src/observe/Prometheus.ts"
import { ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { inVirtualTime } from "../gateway/virtualTime.ts"
import { request, requestId } from "../provider/protocols/calls.ts"
import { samplesOf } from "../support/TextFormat.ts"

const { answer, fail, wait } = ScriptedProvider

const describeNothing = () => ({ status: 500, code: "unknown" })

interface Counted {
  readonly attempts: Readonly<Record<string, number>>
  readonly callSeconds: number
  readonly firstContents: number
}

/** What the metrics of the process say now; other calls of the process count too. */
const counted: Effect.Effect<Counted> = Effect.map(Metric.snapshot, (pairs) => {
  const attempts: Record<string, number> = {}
  let callSeconds = 0
  let firstContents = 0
  for (const { metricKey, metricState } of pairs) {
    const state: object = metricState
    if (metricKey.name === "gateway_attempts_total" && "count" in state) {
      attempts[metricKey.tags.map(({ value }) => value).join(" ")] = Number(state.count)
    }
    if (metricKey.name === "gateway_call_seconds" && "sum" in state) callSeconds = Number(state.sum)
    if (metricKey.name === "gateway_first_content_seconds" && "count" in state) firstContents = Number(state.count)
  }
  return { attempts, callSeconds, firstContents }
})

it.effect(
  "attempts are counted by provider and error code, calls by their seconds, first contents where there are any",
  () => {
    const timers = VirtualTimers.make()
    const scripts = {
      metered1: [wait(1_500), fail({ _tag: "ServerError", status: 503 })],
      metered2: [wait(500), ...answer("a")]
    }
    const layer = TestGateway.layer({
      timers,
      models: [testModel("metered1/m", { quality: 0.9 }), testModel("metered2/m", { quality: 0.5 })],
      providers: Object.entries(scripts).map(([id, script]) =>
        ScriptedProvider.make({ id, timers, script: () => script })
      ),
      policy: { defaultAlpha: 1 }
    })
    return Effect.gen(function* () {
      const before = yield* counted
      const gateway = yield* Gateway
      yield* gateway.complete(request({ stream: false }))
      const after = yield* counted
      expect(after.attempts["metered1 provider_error"]).toBe(1)
      expect(after.attempts["metered2 success"]).toBe(1)
      expect(after.callSeconds - before.callSeconds).toBeCloseTo(2)
      expect(after.firstContents).toBe(before.firstContents)
    }).pipe(
      (program) => inVirtualTime(timers, program),
      Effect.provideService(Caller, TestGateway.testCaller),
      Effect.provide(layer),
      Effect.provide(CallObservers.layer(CallMetrics.make(describeNothing)))
    )
  }
)

const samples = () => samplesOf(render(snapshot()))

it.effect(
  "failures are counted by reason and fault, with what followed; tokens and costs by provider and model",
  () => {
    const timers = VirtualTimers.make()
    const scripts = {
      counted1: [fail({ _tag: "CredentialRejected" })],
      counted2: [fail({ _tag: "Unreachable", detail: "reset-before-response" })],
      counted3: answer("a")
    }
    const layer = TestGateway.layer({
      timers,
      models: Object.keys(scripts).map((id, index) => testModel(`${id}/m`, { quality: 0.9 - index / 10 })),
      providers: Object.entries(scripts).map(([id, script]) =>
        ScriptedProvider.make({ id, timers, script: () => script })
      ),
      policy: { defaultAlpha: 1 }
    })
    return Effect.gen(function* () {
      const { cost, usage } = yield* Effect.map(
        Effect.flatMap(Gateway, (gateway) => gateway.complete(request({ stream: false }))),
        ({ metadata, usage }) => ({ cost: metadata.cost, usage })
      )
      const after = samples()
      const failures = 'gateway_attempt_failures_total{provider="counted'
      expect(after.get(`${failures}1",reason="CredentialRejected",fault="credential"}`)).toBe(1)
      expect(after.get(`${failures}2",reason="Unreachable",fault="network"}`)).toBe(2)
      expect(after.get('gateway_retries_total{provider="counted2",reason="Unreachable"}')).toBe(1)
      expect(after.get('gateway_fallbacks_total{provider="counted1",reason="CredentialRejected"}')).toBe(1)
      expect(after.get('gateway_fallbacks_total{provider="counted2",reason="Unreachable"}')).toBe(1)
      expect(after.get('gateway_tokens_total{provider="counted3",model="counted3/m",kind="input"}')).toBe(
        usage.inputTokens
      )
      expect(after.get('gateway_tokens_total{provider="counted3",model="counted3/m",kind="output"}')).toBe(
        usage.outputTokens
      )
      expect(
        after.get(`gateway_cost_micro_usd_total{provider="counted3",model="counted3/m",basis="${cost.basis}"}`)
      ).toBe(cost.amount_microusd)
      expect(after.get('gateway_attempt_seconds_count{provider="counted2"}')).toBe(2)
    }).pipe(
      (program) => inVirtualTime(timers, program),
      Effect.provideService(Caller, TestGateway.testCaller),
      Effect.provide(layer),
      Effect.provide(CallObservers.layer(CallMetrics.make(describeNothing)))
    )
  }
)

it("refusals are counted by status and code, those for money with their reason and scope", () => {
  const observer = CallMetrics.make((error) => ({ status: error._tag === "RateLimited" ? 429 : 402, code: "a_code" }))
  const call = {
    requestId,
    caller: TestGateway.testCaller,
    request: request(),
    endpoint: "chat",
    origin: "user",
    startedAtMillis: 0
  } as const
  const before = samples()
  const funds = { neededMicroUsd: 1, availableMicroUsd: 0, heldMicroUsd: 0 }
  observer.refused?.(call, new InsufficientFunds({ scope: "project", reason: "held", ...funds }))
  observer.refused?.(
    call,
    new RateLimited({ code: "rate_limit_exceeded", message: "", retryAfterMillis: 1, scope: "key" })
  )
  const after = samples()
  for (const name of [
    'gateway_refusals_total{status="402",code="a_code",reason="held",scope="project"}',
    'gateway_refusals_total{status="429",code="a_code",reason="",scope="key"}'
  ]) {
    expect([name, (after.get(name) ?? 0) - (before.get(name) ?? 0)]).toEqual([name, 1])
  }
})
