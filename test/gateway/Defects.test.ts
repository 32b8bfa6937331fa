import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { describe } from "vitest"
import type { Sink } from "../../src/gateway/Relay.ts"
import {
  Caller,
  type CallOptions,
  Catalog,
  Gateway,
  Health,
  IdGenerator,
  type Provider,
  Providers,
  RateLimits,
  RetryBudget,
  Timers,
  type Upstream
} from "../../src/index.ts"
import {
  FixedPolicy,
  MemoryLedger,
  ScriptedProvider,
  TestGateway,
  testModel,
  VirtualTimers
} from "../../src/testing/index.ts"
import { newCallId } from "../ledger/fixtures.ts"
import { request, requestId } from "../provider/protocols/calls.ts"
import { inVirtualTime } from "./virtualTime.ts"

const { answer, end, event, finish, hang, text, used, wait } = ScriptedProvider

/** What happens in a gateway whose provider follows the script, and what its ledger holds afterwards. */
const played = <A, E>(script: ScriptedProvider.Script, run: Effect.Effect<A, E, Gateway | Caller>) => {
  const timers = VirtualTimers.make()
  const provider = ScriptedProvider.make({ id: "one", timers, script: () => script })
  return inVirtualTime(
    timers,
    Effect.gen(function* () {
      const exit = yield* Effect.exit(run)
      const ledger = yield* MemoryLedger
      const [call] = ledger.calls()
      // the socket of an answer that was whole may still end by itself
      yield* Effect.async<void>((resume) => {
        timers.after(1_000, () => resume(Effect.void))
      })
      return { exit, call, running: provider.running(), calls: provider.calls.length }
    }).pipe(
      Effect.provideService(Caller, TestGateway.testCaller),
      Effect.provide(TestGateway.layer({ models: [testModel("one/m")], providers: [provider], timers }))
    )
  )
}

const boom = new Error("boom")
const throwing = () => {
  throw boom
}

const quietSink: Sink = {
  begin: () => {},
  event: () => true,
  drained: () => {},
  complete: () => {},
  fail: () => {}
}

const relayed = (sink: Partial<Sink>) =>
  Effect.flatMap(Gateway, (gateway) => gateway.relay(request({ stream: true }), { ...quietSink, ...sink }))

const isOurDefect = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && [...Cause.defects(exit.cause)].includes(boom)

const free = { state: "void", charged: 0, settlement: { record: { status: "error" } } }
const unused = { ...free, absorbed: 0 }

describe("A sink that throws", () => {
  let events = 0
  const sinks: ReadonlyArray<readonly [string, Partial<Sink>]> = [
    ["at the beginning", { begin: throwing }],
    ["at the first event", { event: throwing }],
    ["at the third event", { event: () => (++events % 3 === 0 ? throwing() : true) }],
    ["when it is to say that it has room again", { event: () => false, drained: throwing }],
    ["at the end", { complete: throwing }]
  ]
  const scripts: ReadonlyArray<readonly [string, ScriptedProvider.Script]> = [
    ["all at once", answer("a", "b", "c", "d")],
    ["piece by piece", [text("a"), wait(10), text("b"), wait(10), text("c"), wait(10), finish(), wait(10), end]],
    ["without an end after the finish", [text("a"), text("b"), text("c"), finish(), hang]]
  ]
  for (const [when, sink] of sinks) {
    for (const [how, script] of scripts) {
      it.effect(
        `a sink that throws ${when} ends the call, closes the upstream and costs nothing: the answer comes ${how}`,
        () =>
          Effect.gen(function* () {
            events = 0
            const { call, exit, running } = yield* played(script, relayed(sink))
            expect(isOurDefect(exit)).toBe(true)
            expect(call).toMatchObject(free)
            expect(call?.settlement?.record.attempts).toMatchObject([{ status: "error", cost: { amount_microusd: 0 } }])
            expect(running).toBe(0)
          })
      )
    }
  }

  it.effect("a sink that throws when it receives a failure ends the call, closes the upstream and costs nothing", () =>
    Effect.gen(function* () {
      const { call, exit } = yield* played([text("a"), wait(10)], relayed({ fail: throwing }))
      expect(isOurDefect(exit)).toBe(true)
      expect(call).toMatchObject(free)
    })
  )
})

it.effect("a non-streaming answer that cannot be encoded is not charged", () =>
  Effect.gen(function* () {
    const encoded = Effect.flatMap(Gateway, (gateway) =>
      gateway.completeWith(request({ stream: false }), throwing, callOptions)
    )
    const { call, exit } = yield* played(answer("a"), encoded)
    expect(isOurDefect(exit)).toBe(true)
    expect(call).toMatchObject(free)
  })
)

it.effect("a provider that throws when it is called costs nothing and is not called again", () =>
  Effect.gen(function* () {
    const failing = ScriptedProvider.make({ id: "one", timers: VirtualTimers.make(), script: throwing })
    const program = Effect.gen(function* () {
      const gateway = yield* Gateway
      const exits = yield* Effect.all([
        Effect.exit(gateway.complete(request({ stream: false }))),
        Effect.exit(gateway.relay(request(), quietSink))
      ])
      const ledger = yield* MemoryLedger
      expect(exits.every(isOurDefect)).toBe(true)
      expect(ledger.calls()).toMatchObject([unused, unused])
    })
    yield* Effect.provide(
      Effect.provideService(program, Caller, TestGateway.testCaller),
      TestGateway.layer({ models: [testModel("one/m")], providers: [failing] })
    )
  })
)

describe("A provider whose methods throw", () => {
  /** A scripted provider with these methods in place of its own ones. */
  const throwingAt = (script: ScriptedProvider.Script, methods: Partial<Upstream>) => {
    const timers = VirtualTimers.make()
    const scripted = ScriptedProvider.make({ id: "one", timers, script: () => script })
    const provider: Provider = {
      id: "one",
      open: (call, receiver) => ({ ...scripted.open(call, receiver), ...methods })
    }
    return inVirtualTime(
      timers,
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const nonStreaming = yield* Effect.exit(gateway.complete(request({ stream: false })))
        const failures: Array<string> = []
        const sink = { ...quietSink, fail: ({ code }: { readonly code: string }) => failures.push(code) }
        const streamed = yield* Effect.exit(gateway.relay(request({ stream: true }), sink))
        yield* Effect.async<void>((resume) => {
          timers.after(5_000, () => resume(Effect.void))
        })
        return { nonStreaming, streamed, failures, calls: (yield* MemoryLedger).calls() }
      }).pipe(
        Effect.provideService(Caller, TestGateway.testCaller),
        Effect.provide(TestGateway.layer({ models: [testModel("one/m")], providers: [provider], timers }))
      )
    )
  }

  it.effect("a close that throws takes nothing from a response, which is charged", () =>
    Effect.gen(function* () {
      const { calls, nonStreaming, streamed } = yield* throwingAt(answer("a", "b"), { close: throwing })
      expect([nonStreaming, streamed]).toMatchObject([{ _tag: "Success" }, { _tag: "Success" }])
      expect(calls).toMatchObject([{ state: "settled" }, { state: "settled" }])
    })
  )

  it.effect("a close that throws after a finish without an end is not thrown by the timer that closes", () =>
    Effect.gen(function* () {
      const { calls, streamed } = yield* throwingAt([text("a"), finish(), hang], { close: throwing })
      expect(Exit.isSuccess(streamed)).toBe(true)
      expect(calls.at(-1)).toMatchObject({ state: "settled" })
    })
  )

  it.effect("a close that throws at a deadline leaves no hold and no call behind", () =>
    Effect.gen(function* () {
      const { calls, failures, nonStreaming, streamed } = yield* throwingAt([text("a"), hang], { close: throwing })
      expect(nonStreaming).toMatchObject({ _tag: "Failure", cause: { error: { _tag: "ProvidersFailed" } } })
      expect(Exit.isSuccess(streamed)).toBe(true)
      expect(failures).toEqual(["stream_stalled"])
      expect(calls).toMatchObject([{ state: "void" }, { state: "void" }])
    })
  )

  for (const method of ["pause", "resume"] as const) {
    it.effect(`a ${method} that throws ends the stream, which costs nothing`, () =>
      Effect.gen(function* () {
        const { calls, streamed } = yield* throwingAt(answer("a", "b"), { [method]: throwing })
        expect(isOurDefect(streamed)).toBe(true)
        expect(calls.at(-1)).toMatchObject(free)
      })
    )
  }

  it.effect("a provider that sends content before its open has returned is told so, and its upstream is closed", () =>
    Effect.gen(function* () {
      let closed = 0
      const hasty: Provider = {
        id: "one",
        open: (_, receiver) => {
          receiver.event({ _tag: "Text", text: "a" })
          return { pause: () => {}, resume: () => {}, close: () => closed++ }
        }
      }
      const exit = yield* Effect.exit(relayed({})).pipe(
        Effect.provideService(Caller, TestGateway.testCaller),
        Effect.provide(TestGateway.layer({ models: [testModel("one/m")], providers: [hasty] }))
      )
      expect(Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "").toContain("from inside `open`")
      expect(closed).toBeGreaterThan(0)
    })
  )
})

describe("A callback of a call that throws", () => {
  const concurrency = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: 1 }
  /** One call with the option, and one after it, where each takes the only place. */
  const twoCalls = (option: Partial<CallOptions>) => {
    const timers = VirtualTimers.make()
    const provider = ScriptedProvider.make({ id: "one", timers, script: () => answer("a") })
    const one = (more: Partial<CallOptions>) =>
      Effect.flatMap(Gateway, (gateway) =>
        Effect.exit(
          gateway.complete(request({ stream: false }), {
            requestId: newCallId(),
            endpoint: "embedded",
            clientRequestId: null,
            ...more
          })
        )
      )
    return inVirtualTime(
      timers,
      Effect.gen(function* () {
        const [first, second] = [yield* one(option), yield* one({})]
        return { first, second, calls: (yield* MemoryLedger).calls() }
      }).pipe(
        Effect.provideService(Caller, TestGateway.testCaller),
        Effect.provide(
          TestGateway.layer({
            models: [testModel("one/m")],
            providers: [provider],
            timers,
            rateLimits: { key: concurrency, project: concurrency }
          })
        )
      )
    )
  }

  it.effect("when the money is held leaves no hold and no place behind", () =>
    Effect.gen(function* () {
      const { calls, first, second } = yield* twoCalls({ onHeld: throwing })
      expect(isOurDefect(first)).toBe(true)
      expect(Exit.isSuccess(second)).toBe(true)
      expect(calls).toMatchObject([free, { state: "settled" }])
    })
  )

  it.effect("when the rate limits have let it through leaves no place behind", () =>
    Effect.gen(function* () {
      const { calls, first, second } = yield* twoCalls({ onRateLimits: throwing })
      expect(isOurDefect(first)).toBe(true)
      expect(Exit.isSuccess(second)).toBe(true)
      expect(calls).toMatchObject([{ state: "settled" }])
    })
  )

  it.effect("when its place in the rate limits ends leaves no hold behind", () =>
    Effect.gen(function* () {
      const timers = VirtualTimers.make()
      const provider = ScriptedProvider.make({ id: "one", timers, script: () => answer("a") })
      const status = { requests: null, tokens: null }
      const rateLimits = Layer.succeed(RateLimits, { admit: () => Effect.succeed({ release: throwing, status }) })
      const { calls, exit } = yield* inVirtualTime(
        timers,
        Effect.gen(function* () {
          const gateway = yield* Gateway
          const exit = yield* Effect.exit(gateway.complete(request({ stream: false })))
          return { exit, calls: (yield* MemoryLedger).calls() }
        }).pipe(
          Effect.provideService(Caller, TestGateway.testCaller),
          Effect.provide(
            Gateway.layer.pipe(
              Layer.provide([
                Catalog.layerOf([testModel("one/m")]),
                Providers.layerOf([provider]),
                FixedPolicy.layerPolicy(),
                FixedPolicy.layerConfigurations(),
                Health.layer,
                IdGenerator.layer,
                RetryBudget.layer,
                rateLimits
              ]),
              Layer.provideMerge(MemoryLedger.layerFunded(1_000_000)),
              Layer.provideMerge(Timers.layerOf(timers))
            )
          )
        )
      )
      expect(isOurDefect(exit)).toBe(true)
      expect(calls).toMatchObject([{ state: "settled" }])
    })
  )

  it.effect("when it waits for money takes nothing from the wait, or from other calls", () => {
    const timers = VirtualTimers.make()
    const provider = ScriptedProvider.make({ id: "one", timers, script: () => [text("a"), wait(500), finish(), end] })
    const one = (more: Partial<CallOptions>) =>
      Effect.flatMap(Gateway, (gateway) =>
        Effect.exit(gateway.complete(request({ stream: false, maxOutputTokens: 2_000 }), more))
      )
    let waited = 0
    const onWaiting = () => {
      waited += 1
      throw boom
    }
    return inVirtualTime(
      timers,
      Effect.gen(function* () {
        const exits = yield* Effect.all([one({}), one({ onWaiting })], { concurrency: 2 })
        expect(exits).toMatchObject([{ _tag: "Success" }, { _tag: "Success" }])
        expect(waited).toBe(1)
      }).pipe(
        Effect.provideService(Caller, TestGateway.testCaller),
        Effect.provide(
          // what one of them holds, and less than the smallest cap of another one
          TestGateway.layer({ models: [testModel("one/m")], providers: [provider], timers, creditMicroUsd: 8_500 })
        )
      )
    )
  })

  it.effect("at its end takes nothing from its settlement", () =>
    Effect.gen(function* () {
      const { calls, first, second } = yield* twoCalls({ keptAnswer: throwing })
      expect(isOurDefect(first)).toBe(true)
      expect(Exit.isSuccess(second)).toBe(true)
      expect(calls).toMatchObject([{ state: "settled" }, { state: "settled" }])
    })
  )
})

describe("Content after a finish", () => {
  const lost = [
    text("lost"),
    event({ _tag: "ToolCall", index: 0, kind: "function", id: "a", name: "f", arguments: "" }),
    event({ _tag: "Annotation", annotation: { type: "url_citation" } })
  ]
  for (const content of lost) {
    it.effect(`content after the finish fails a stream: ${JSON.stringify(content)}`, () =>
      Effect.gen(function* () {
        const failures: Array<string> = []
        let completed = 0
        const sink = { fail: ({ code }: { readonly code: string }) => failures.push(code), complete: () => completed++ }
        const script = [text("a"), finish(), wait(5), content, finish(), used({ inputTokens: 1, outputTokens: 1 }), end]
        const { call } = yield* played(script, relayed(sink))
        expect(failures).toEqual(["provider_bad_response"])
        expect(completed).toBe(0)
        expect(call).toMatchObject(free)
      })
    )

    it.effect(`content after the finish fails a non-streaming answer: ${JSON.stringify(content)}`, () =>
      Effect.gen(function* () {
        const plain = Effect.flatMap(Gateway, (gateway) => gateway.complete(request({ stream: false })))
        const { call, exit } = yield* played([text("a"), finish(), content, end], plain)
        expect(exit).toMatchObject({ _tag: "Failure", cause: { error: { _tag: "ProvidersFailed" } } })
        expect(call).toMatchObject(free)
      })
    )
  }

  it.effect(
    "a second finish, usage, the served model and a broken connection do not count as content after the finish",
    () =>
      Effect.gen(function* () {
        let completed = 0
        const after = [finish(), event({ _tag: "ResponseInfo", model: "m" }), used({ inputTokens: 1, outputTokens: 1 })]
        for (const script of [
          [text("a"), finish(), ...after, end],
          [text("a"), finish(), ...after, ScriptedProvider.fail({ _tag: "Disconnected" })]
        ]) {
          const { call } = yield* played(script, relayed({ complete: () => completed++ }))
          expect(call?.settlement?.record.status).toBe("success")
        }
        expect(completed).toBe(2)
      })
  )

  it.effect("usage that is repeated without end does not hold the end of a stream back", () =>
    Effect.gen(function* () {
      const repeated = Array.from({ length: 1_000 }, () => [wait(20), used({ inputTokens: 1, outputTokens: 1 })]).flat()
      const { call } = yield* played([text("a"), finish(), ...repeated, hang], relayed({}))
      expect(call?.settlement?.record.latencyMillis).toBeLessThanOrEqual(2_100)
    })
  )
})

it.effect("a provider that ends a stream without a finish has cut it off", () =>
  Effect.gen(function* () {
    const failures: Array<string> = []
    const { call } = yield* played([text("a"), end], relayed({ fail: ({ code }) => failures.push(code) }))
    expect(failures).toEqual(["provider_disconnected"])
    expect(call).toMatchObject(free)
  })
)

const callOptions = {
  requestId,
  endpoint: "chat",
  clientRequestId: null
} as const
