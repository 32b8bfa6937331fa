// Promise: Every wait is bounded.
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe } from "vitest"
import { Caller, Gateway } from "../../src/index.ts"
import {
  Faults,
  MemoryLedger,
  ScriptedProvider,
  TestGateway,
  testModel,
  VirtualTimers
} from "../../src/testing/index.ts"
import { inVirtualTime, quiet } from "../gateway/virtualTime.ts"
import { request } from "../provider/protocols/calls.ts"

/** How a call of the faulty model ends, and after how long: at its deadline, to the millisecond, or within a back-off. */
type End = readonly [code: string, millis: number, maxMillis?: number]

const answered = (millis = 0): End => ["answered", millis]

const ends: Readonly<Record<Faults.FaultName, { readonly stream: End; readonly plain: End }>> = {
  none: { stream: answered(), plain: answered() },
  refused: { stream: ["provider_unreachable", 0], plain: ["provider_unreachable", 0] },
  "unknown-host": { stream: ["provider_unreachable", 0], plain: ["provider_unreachable", 0] },
  "no-tls": { stream: ["provider_unreachable", 0], plain: ["provider_unreachable", 0] },
  "connect-timeout": { stream: ["provider_timeout", 10_000], plain: ["provider_timeout", 10_000] },
  "no-socket": { stream: ["gateway_out_of_sockets", 0], plain: ["gateway_out_of_sockets", 0] },
  reset: { stream: ["provider_unreachable", 0], plain: ["provider_unreachable", 0] },
  "reset-reused": { stream: ["provider_unreachable", 0], plain: ["provider_unreachable", 0] },
  "slow-head": { stream: ["provider_timeout", 15_000], plain: ["provider_timeout", 60_000] },
  "slow-content": { stream: ["provider_timeout", 15_000], plain: ["provider_timeout", 20_000] },
  trickle: { stream: answered(540_000), plain: ["provider_timeout", 60_000] },
  "stall-before-content": { stream: ["provider_timeout", 15_000], plain: ["provider_timeout", 25_000] },
  "stall-after-content": { stream: ["stream_stalled", 20_000], plain: ["provider_timeout", 20_000] },
  "cut-before-content": { stream: ["provider_disconnected", 0], plain: ["provider_disconnected", 0] },
  "cut-after-content": { stream: ["provider_disconnected", 0], plain: ["provider_disconnected", 0] },
  "no-end": { stream: answered(2_000), plain: answered(2_000) },
  malformed: { stream: ["provider_bad_response", 0], plain: ["provider_bad_response", 0] },
  "malformed-after-content": { stream: ["provider_bad_response", 0], plain: ["provider_bad_response", 0] },
  "error-after-content": { stream: ["provider_error", 0], plain: ["provider_error", 0, 400] },
  "rate-limited": { stream: ["provider_rate_limited", 0], plain: ["provider_rate_limited", 0] },
  "rate-limited-shortly": { stream: ["provider_rate_limited", 1_500], plain: ["provider_rate_limited", 1_500] },
  "rate-limited-bare": { stream: ["provider_rate_limited", 0], plain: ["provider_rate_limited", 0] },
  "out-of-money": { stream: ["provider_unavailable", 0], plain: ["provider_unavailable", 0] },
  overloaded: { stream: ["provider_error", 0], plain: ["provider_error", 0] },
  "server-error": { stream: ["provider_error", 0, 400], plain: ["provider_error", 0, 400] },
  "bad-gateway": { stream: ["provider_error", 0], plain: ["provider_error", 0] },
  "credential-refused": { stream: ["provider_unavailable", 0], plain: ["provider_unavailable", 0] },
  "model-gone": { stream: ["provider_error", 0], plain: ["provider_error", 0] },
  rejected: { stream: ["provider_rejected_request", 0], plain: ["provider_rejected_request", 0] },
  "context-too-long": { stream: ["context_length_exceeded", 0], plain: ["context_length_exceeded", 0] },
  "content-policy": { stream: ["content_policy_violation", 0], plain: ["content_policy_violation", 0] },
  filtered: { stream: answered(), plain: answered() },
  empty: { stream: answered(), plain: answered() },
  blank: { stream: ["empty_completion", 0], plain: ["empty_completion", 0] },
  "usage-twice": { stream: answered(), plain: answered() },
  "usage-missing": { stream: answered(), plain: answered() },
  "usage-huge": { stream: answered(), plain: answered() },
  redirect: { stream: ["provider_error", 0], plain: ["provider_error", 0] },
  "other-model": { stream: answered(), plain: answered() },
  endless: { stream: ["request_timeout", 600_000], plain: ["provider_timeout", 60_000] }
}

const cases = Faults.names.flatMap((name) =>
  [true, false].map((stream) => [name, stream, stream ? ends[name].stream : ends[name].plain] as const)
)

describe("a scripted fault", () => {
  it.effect.each(cases)("%s (stream: %s) ends as it should, when it should: %j", ([name, stream, end]) => {
    const timers = VirtualTimers.make()
    const provider = ScriptedProvider.make({ id: "one", timers, script: Faults.byModel })
    const startedAt = timers.now()
    const program = Effect.gen(function* () {
      const gateway = yield* Gateway
      const asked = request({ model: `one/${name}`, stream })
      let text = ""
      const call = stream
        ? Effect.scoped(
            Effect.flatMap(gateway.stream(asked), ({ events }) =>
              Stream.runForEach(events, (event) =>
                Effect.sync(() => {
                  if (event._tag === "Text") text += event.text
                })
              )
            )
          )
        : Effect.map(gateway.complete(asked), ({ answer }) => {
            text = answer.text
          })
      const code = yield* inVirtualTime(timers, Effect.match(call, { onSuccess: () => "answered", onFailure: codeOf }))
      const tookMillis = timers.now() - startedAt
      yield* quiet
      const [expected, millis, maxMillis = millis] = end
      expect(code).toBe(expected)
      expect(tookMillis).toBeGreaterThanOrEqual(millis)
      expect(tookMillis).toBeLessThanOrEqual(maxMillis)
      if (code === "answered") expect(text).toBe(name === "empty" ? "" : Faults.fullText)
      const [booked, ...others] = (yield* MemoryLedger).calls()
      expect(others).toEqual([])
      // the gateway's own limit costs what was streamed, a fault of the provider nothing
      const ending = code === "answered" ? "settled" : code === "request_timeout" ? "cancelled" : "void"
      expect(booked?.state).toBe(ending)
      if (ending === "void") expect(booked?.charged).toBe(0)
      else expect(booked?.charged).toBeGreaterThan(0)
      expect(provider.running()).toBe(name === "no-end" && stream ? 1 : 0)
      timers.advance(1_000)
      expect(provider.running()).toBe(0)
    })
    return program.pipe(
      Effect.provideService(Caller, TestGateway.testCaller),
      Effect.provide(TestGateway.layer({ timers, providers: [provider], models: [testModel(`one/${name}`)] }))
    )
  })
})

const codeOf = (error: object): string =>
  "attempts" in error && Array.isArray(error.attempts)
    ? String(error.attempts.at(-1)?.error?.code)
    : "code" in error
      ? String(error.code)
      : "?"
