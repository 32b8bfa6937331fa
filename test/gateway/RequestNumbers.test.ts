import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { ChatRequest } from "../../src/domain/Chat.ts"
import type { Sink } from "../../src/gateway/Relay.ts"
import { Caller, type CallFailure, Gateway } from "../../src/index.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { inVirtualTime } from "./virtualTime.ts"

type Change = (given: ChatRequest) => ChatRequest

const own =
  (fields: Partial<ChatRequest>): Change =>
  (given) => ({ ...given, ...fields })
const routing =
  (fields: Partial<ChatRequest["routing"]>): Change =>
  (given) => ({ ...given, routing: { ...given.routing, ...fields } })
const reasoning = (maxTokens: number): Change => own({ reasoning: { maxTokens, summary: undefined, exclude: false } })

/** What an application may have computed, by the field that the error names. */
const wrong: Readonly<Record<string, ReadonlyArray<Change>>> = {
  maxOutputTokens: [Number.NaN, 0, -1, 1.5, 1e300, Number.POSITIVE_INFINITY].map((maxOutputTokens) =>
    own({ maxOutputTokens })
  ),
  temperature: [Number.NaN, Number.POSITIVE_INFINITY].map((temperature) => own({ temperature })),
  topP: [own({ topP: Number.NaN })],
  topK: [own({ topK: 0.5 })],
  frequencyPenalty: [Number.NaN, 2.1].map((frequencyPenalty) => own({ frequencyPenalty })),
  presencePenalty: [Number.NaN, -2.1].map((presencePenalty) => own({ presencePenalty })),
  seed: [Number.NaN, 0.5, 2 ** 60].map((seed) => own({ seed })),
  topLogprobs: [own({ topLogprobs: 21 })],
  effort: [0, 101, 1.5].map((effort) => own({ effort })),
  "reasoning.maxTokens": [Number.NaN, 0, 0.5].map(reasoning),
  "routing.alpha": [Number.NaN, -0.1, 1.1].map((alpha) => routing({ alpha })),
  "routing.maxInputPriceMicroUsdPerMillion": [
    routing({ maxInputPriceMicroUsdPerMillion: Number.NaN }),
    routing({ maxInputPriceMicroUsdPerMillion: -1 }),
    routing({ maxInputPriceMicroUsdPerMillion: Number.POSITIVE_INFINITY })
  ],
  "routing.maxOutputPriceMicroUsdPerMillion": [routing({ maxOutputPriceMicroUsdPerMillion: Number.NaN })],
  "routing.maxCostMicroUsd": [Number.NaN, -1, 10.5, 2 ** 60].map((maxCostMicroUsd) => routing({ maxCostMicroUsd }))
}

/** At the ends of what is allowed. */
const right: ReadonlyArray<Change> = [
  own({ maxOutputTokens: 1, temperature: 0, topP: 1, frequencyPenalty: -2, presencePenalty: 2, seed: 2n ** 62n }),
  own({ maxOutputTokens: Number.MAX_SAFE_INTEGER, topLogprobs: 20, seed: -1 }),
  routing({ alpha: 0, maxCostMicroUsd: 1_000_000 }),
  routing({ alpha: 1, maxCostMicroUsd: Number.MAX_SAFE_INTEGER, maxInputPriceMicroUsdPerMillion: 2_500_000.5 })
]

const setUp = () => {
  const timers = VirtualTimers.make()
  const one = ScriptedProvider.make({ id: "one", timers, script: () => ScriptedProvider.answer("Hello") })
  const layer = TestGateway.layer({ timers, providers: [one], models: [testModel("one/m")] })
  const run = <A, E>(program: Effect.Effect<A, E, Gateway | Caller | MemoryLedger>) =>
    inVirtualTime(timers, program).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
  return { one, run }
}

const sink: Sink = { begin: () => {}, event: () => true, drained: () => {}, complete: () => {}, fail: () => {} }

type Way = (of: ChatRequest) => Effect.Effect<unknown, CallFailure, Gateway | Caller>

const ways: Readonly<Record<"complete" | "completeWith" | "stream" | "relay" | "countTokens", Way>> = {
  complete: (of: ChatRequest) => Effect.flatMap(Gateway, (gateway) => gateway.complete(of)),
  completeWith: (of: ChatRequest) => Effect.flatMap(Gateway, (gateway) => gateway.completeWith(of, () => "")),
  stream: (of: ChatRequest) => Effect.flatMap(Gateway, (gateway) => Effect.scoped(gateway.stream(of))),
  relay: (of: ChatRequest) => Effect.flatMap(Gateway, (gateway) => gateway.relay(of, sink)),
  countTokens: (of: ChatRequest) => Effect.flatMap(Gateway, (gateway) => gateway.countTokens(of))
}

describe("the numbers of a request that an application has put together", () => {
  for (const [way, ask] of Object.entries(ways)) {
    it.effect(`are checked before anything is held (${way})`, () => {
      const { one, run } = setUp()
      return run(
        Effect.gen(function* () {
          for (const [param, changes] of Object.entries(wrong)) {
            for (const change of changes) {
              const refused = yield* Effect.flip(ask(change(request())))
              expect(refused).toMatchObject({ _tag: "InvalidRequest", code: "invalid_value", param })
              expect(refused.message).toContain(`'${param}'`)
            }
          }
          expect([one.calls.length, (yield* MemoryLedger).calls()]).toEqual([0, []])
        })
      )
    })
  }

  it.effect("may be all that a client may send", () => {
    const { run } = setUp()
    return run(Effect.forEach(right, (change) => ways.complete(change(request({ stream: false })))))
  })
})
