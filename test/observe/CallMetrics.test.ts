import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { Caller, CallObservers, Gateway } from "../../src/index.ts"
import * as CallMetrics from "../../src/observe/CallMetrics.ts"
import { ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { inVirtualTime } from "../gateway/virtualTime.ts"
import { request } from "../provider/protocols/calls.ts"

const { answer, fail, wait } = ScriptedProvider

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
      Effect.provide(CallObservers.layer(CallMetrics.observer))
    )
  }
)
