import { expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { describe, expectTypeOf } from "vitest"
import { RequestId } from "../../src/domain/Ids.ts"
import {
  Caller,
  type CallFailure,
  type CallOptions,
  Catalog,
  type ChatEvent,
  type Completed,
  type Completion,
  Gateway,
  Health,
  IdGenerator,
  Policy,
  Providers,
  RateLimits,
  RetryBudget,
  RoutingConfigurations,
  type StreamBroken,
  type StreamedAnswer,
  Timers
} from "../../src/index.ts"
import { openPolicy } from "../../src/policy/ProjectPolicy.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { inVirtualTime, quiet } from "./virtualTime.ts"

const { answer, event, fail, finish, text, used, wait, end, hang } = ScriptedProvider

const complete = Effect.flatMap(Gateway, (gateway) => gateway.complete(request({ stream: false })))
const stream = Effect.flatMap(Gateway, (gateway) => gateway.stream(request()))

/** The better of two providers plays `first`, the other one answers. */
const setUp = (first: ScriptedProvider.Script, second: ScriptedProvider.Script = answer("second")) => {
  const timers = VirtualTimers.make()
  const one = ScriptedProvider.make({ id: "one", timers, script: () => first })
  const two = ScriptedProvider.make({ id: "two", timers, script: () => second })
  const layer = TestGateway.layer({
    timers,
    providers: [one, two],
    models: [testModel("one/m", { quality: 0.9 }), testModel("two/m", { quality: 0.4, alias: "other" })],
    policy: { defaultAlpha: 1 }
  })
  const run = <A, E>(program: Effect.Effect<A, E, Gateway | Caller | MemoryLedger>): Effect.Effect<A, E> =>
    inVirtualTime(timers, program).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
  return { layer, one, two, timers, run }
}

const booked = Effect.flatMap(MemoryLedger, (ledger) => Effect.map(quiet, () => ledger.calls()))

const textOf = (events: Iterable<ChatEvent | Completed>): string =>
  [...events].map((event) => (event._tag === "Text" ? event.text : "")).join("")

describe("An embedding program", () => {
  it("the programs have exactly these types", () => {
    expectTypeOf(complete).toEqualTypeOf<Effect.Effect<Completion, CallFailure, Gateway | Caller>>()
    expectTypeOf(stream).toEqualTypeOf<Effect.Effect<StreamedAnswer, CallFailure, Gateway | Caller | Scope.Scope>>()
    expectTypeOf<StreamedAnswer["events"]>().toEqualTypeOf<Stream.Stream<ChatEvent | Completed, StreamBroken>>()
  })

  it.effect("a call whose options are undefined has an id of its own", () => {
    const { run } = setUp(answer("Hello"))
    const options: Partial<CallOptions> = {}
    // as of a program whose TypeScript lets an optional member be undefined
    for (const name of ["requestId", "endpoint", "clientRequestId"]) Reflect.set(options, name, undefined)
    return run(
      Effect.gen(function* () {
        yield* (yield* Gateway).complete(request({ stream: false }), options)
        const [call] = yield* booked
        expect(Schema.is(RequestId)(call?.callId)).toBe(true)
      })
    )
  })

  it.effect("a completed call is settled when the program has its answer", () => {
    const { run, timers } = setUp(answer("Hello", " there"))
    return run(
      Effect.gen(function* () {
        const completion = yield* complete
        const [call] = yield* booked
        expect(completion.answer.text).toBe("Hello there")
        expect(completion.model).toBe("one/m")
        expect(completion.createdSeconds).toBe(Math.floor(timers.now() / 1_000))
        // 10 tokens in, 2 out, at 1 and 4 micro-USD
        expect(completion.metadata.cost).toEqual({ amount_microusd: 18, currency: "USD", basis: "charged" })
        expect(call).toMatchObject({ state: "settled", charged: 18 })
        expect(call?.settlement?.record.endpoint).toBe("embedded")
      })
    )
  })

  it.effect("a streamed call delivers the text as it comes, and the outcome last", () => {
    const { run } = setUp([
      text("Hello"),
      wait(1_000),
      text(" there"),
      finish(),
      used({ inputTokens: 10, outputTokens: 2 }),
      end
    ])
    return run(
      Effect.gen(function* () {
        const events = yield* Effect.scoped(Effect.flatMap(stream, (answered) => Stream.runCollect(answered.events)))
        expect(textOf(events)).toBe("Hello there")
        const last = [...events].at(-1)
        expect(last?._tag).toBe("Completed")
        if (last?._tag === "Completed") {
          expect(last.metadata.cost.amount_microusd).toBe(18)
          expect(last.metadata.latency_ms).toBe(1_000)
        }
        expect((yield* booked).map((call) => call.state)).toEqual(["settled"])
      })
    )
  })

  it.effect("leaving the stream cancels the call", () => {
    const { one, run } = setUp([text("Hello"), wait(1_000), text(" there"), hang])
    return run(
      Effect.gen(function* () {
        const some = yield* Effect.scoped(
          Effect.flatMap(stream, (answered) => Stream.runCollect(Stream.take(answered.events, 1)))
        )
        expect(textOf(some)).toBe("Hello")
        expect(one.calls.map((call) => call.state())).toEqual(["closed"])
        const [call, ...others] = yield* booked
        expect(others).toEqual([])
        expect(call).toMatchObject({ state: "cancelled", settlement: { record: { status: "cancelled" } } })
        expect(call?.settlement?.record.cost.basis).toBe("estimated")
        expect(call?.charged).toBeGreaterThan(0)
      })
    )
  })

  it.effect("a program that is interrupted before any content pays its prompt", () => {
    const { one, run, timers } = setUp([hang])
    return run(
      Effect.gen(function* () {
        yield* Effect.raceFirst(
          complete,
          Effect.async<void>((resume) => {
            timers.after(500, () => resume(Effect.void))
          })
        )
        const [call] = one.calls
        expect(call?.state()).toBe("closed")
        expect((call?.closedAtMillis() ?? 0) - (call?.openedAtMillis ?? 0)).toBe(500)
        expect(yield* booked).toMatchObject([{ state: "cancelled", charged: 18 }])
      })
    )
  })

  it.effect("a call whose rules are being read is interrupted at once, and leaves neither a hold nor a place", () =>
    Effect.gen(function* () {
      const reading = yield* Deferred.make<void>()
      const timers = VirtualTimers.make()
      const one = ScriptedProvider.make({ id: "one", timers, script: () => answer("Hello") })
      let isRead = false
      const slowPolicy = Layer.succeed(Policy, {
        ofProject: () =>
          isRead ? Effect.succeed(openPolicy) : Effect.zipRight(Deferred.succeed(reading, undefined), Effect.never)
      })
      const oneAtATime = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: 1 }
      const layer = Gateway.layer.pipe(
        Layer.provideMerge(MemoryLedger.layerFunded(1_000_000)),
        Layer.provide([
          slowPolicy,
          RoutingConfigurations.layerNone,
          RateLimits.layerMemory({ key: oneAtATime, project: oneAtATime }),
          Catalog.layerOf([testModel("one/m")]),
          Providers.layerOf([one]),
          Health.layer,
          RetryBudget.layer,
          IdGenerator.layer
        ]),
        Layer.provide(Timers.layerOf(timers))
      )
      yield* Effect.gen(function* () {
        const asked = yield* Effect.fork(complete)
        yield* Deferred.await(reading)
        expect(Exit.isInterrupted(yield* Fiber.interrupt(asked))).toBe(true)
        expect((yield* MemoryLedger).calls()).toEqual([])
        isRead = true
        expect((yield* inVirtualTime(timers, complete)).answer.text).toBe("Hello")
      }).pipe(Effect.provideService(Caller, TestGateway.testCaller), Effect.provide(layer))
    })
  )

  it.effect("one call that runs again is another call, with an id, a hold and a settlement of its own", () => {
    const { run } = setUp(answer("Hello"))
    return run(
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const sink = { begin: () => {}, event: () => true, drained: () => {}, complete: () => {}, fail: () => {} }
        const calls: ReadonlyArray<Effect.Effect<unknown, CallFailure, Caller>> = [
          gateway.complete(request({ stream: false })),
          gateway.completeWith(request({ stream: false }), ({ answer }) => answer.text),
          gateway.relay(request(), sink),
          Effect.scoped(
            Effect.flatMap(gateway.stream(request()), ({ events }) => Stream.runDrain(Stream.orDie(events)))
          )
        ]
        yield* Effect.forEach(calls, Effect.repeatN(1))
        yield* Effect.forEach(calls, (call) => Effect.all([call, call], { concurrency: 2 }))
        const made = yield* booked
        expect(new Set(made.map(({ callId }) => callId)).size).toBe(4 * calls.length)
        expect(new Set(made.map(({ state }) => state))).toEqual(new Set(["settled"]))
      })
    )
  })

  it.effect(
    "a stream that is interrupted while it opens ends its call at once, and not with the scope around it",
    () => {
      const { one, run, timers } = setUp([wait(1_000), text("late"), finish(), end])
      return run(
        Effect.scoped(
          Effect.gen(function* () {
            const left = Effect.async<void>((resume) => {
              timers.after(500, () => resume(Effect.void))
            })
            yield* Effect.raceFirst(stream, left)
            const [call] = one.calls
            expect(call?.state()).toBe("closed")
            expect((call?.closedAtMillis() ?? 0) - (call?.openedAtMillis ?? 0)).toBe(500)
            expect(yield* booked).toMatchObject([{ state: "cancelled", charged: 18 }])
          })
        )
      )
    }
  )

  it.effect("an abort fails a running call and any that follows", () => {
    const { one, run, two } = setUp([hang])
    return run(
      Effect.gen(function* () {
        const gateway = yield* Gateway
        const running = yield* Effect.fork(Effect.flip(complete))
        yield* quiet
        yield* gateway.abort
        for (const error of [yield* Fiber.join(running), yield* Effect.flip(complete)]) {
          expect(error).toMatchObject({ _tag: "ServiceRefused", reason: "shutting_down" })
        }
        expect(one.running()).toBe(0)
        expect(two.calls).toEqual([])
        expect(yield* booked).toMatchObject([
          { state: "void", charged: 0 },
          { state: "void", charged: 0 }
        ])
      })
    )
  })

  it.effect(
    "a stream that a defect ends after its first content fails with the defect, not as if it were whole",
    () => {
      const withoutText = event({ _tag: "Text", text: undefined as unknown as string })
      const { run } = setUp([text("Hello"), wait(1_000), withoutText, wait(1_000), finish(), end])
      return run(
        Effect.gen(function* () {
          const read = Effect.flatMap(stream, ({ events }) => Stream.runCollect(events))
          const exit = yield* Effect.exit(Effect.scoped(read))
          expect(Exit.isFailure(exit) && Cause.isDie(exit.cause)).toBe(true)
          expect(yield* booked).toMatchObject([{ state: "void", charged: 0 }])
        })
      )
    }
  )

  it.effect("a response is read once, and a reader that has enough ends its call", () => {
    const { one, run } = setUp([text("Hello"), wait(1_000), text(" there"), hang])
    return run(
      Effect.gen(function* () {
        const { events } = yield* stream
        yield* Stream.runDrain(Stream.take(events, 1))
        expect(one.calls.map((call) => call.state())).toEqual(["closed"])
        expect(yield* booked).toMatchObject([{ state: "cancelled" }])
        const again = yield* Effect.exit(Stream.runCollect(events))
        expect(Exit.isFailure(again) && Cause.isDie(again.cause)).toBe(true)
      }).pipe(Effect.scoped)
    )
  })

  it.effect("a reader that is interrupted ends its call, also where the scope goes on", () => {
    const { one, run, timers } = setUp([text("Hello"), hang])
    return run(
      Effect.gen(function* () {
        const { events } = yield* stream
        const soon = Effect.async<void>((resume) => {
          timers.after(1_000, () => resume(Effect.void))
        })
        yield* Stream.runDrain(Stream.interruptWhen(events, soon))
        expect(one.calls.map((call) => call.state())).toEqual(["closed"])
        expect(yield* booked).toMatchObject([{ state: "cancelled" }])
      }).pipe(Effect.scoped)
    )
  })

  it.effect("a reader that ends with the last element has a call that is settled as complete", () => {
    const { run } = setUp(answer("Hello"))
    return run(
      Effect.gen(function* () {
        const { events } = yield* stream
        yield* Stream.runDrain(Stream.takeUntil(events, ({ _tag }) => _tag === "Completed"))
        expect(yield* booked).toMatchObject([{ state: "settled", settlement: { record: { status: "success" } } }])
      }).pipe(Effect.scoped)
    )
  })

  it.effect("the options that a call is given are its own, and the gateway fills in the others", () => {
    const { run } = setUp(answer("Hello"), answer("second"))
    const requestId = RequestId.make("0193b5a0-7d00-7abc-8def-0123456789ab")
    return run(
      Effect.gen(function* () {
        const gateway = yield* Gateway
        yield* Effect.scoped(
          Effect.flatMap(gateway.stream(request(), { requestId }), (answered) => {
            expect(answered.requestId).toBe(requestId)
            return Stream.runDrain(answered.events)
          })
        )
        yield* gateway.complete(request({ stream: false }), { clientRequestId: "mine" })
        expect(yield* booked).toMatchObject([
          { settlement: { record: { endpoint: "embedded", clientRequestId: null } } },
          { settlement: { record: { endpoint: "embedded", clientRequestId: "mine" } } }
        ])
      })
    )
  })

  it.effect("a stream that is read on after its scope was closed is interrupted, not whole", () => {
    const { run } = setUp([text("Hello"), wait(1_000), text(" there"), finish(), end])
    return run(
      Effect.gen(function* () {
        const { events } = yield* Effect.scoped(stream)
        const exit = yield* Effect.exit(Stream.runCollect(events))
        expect(Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause)).toBe(true)
        expect(yield* booked).toMatchObject([{ state: "cancelled" }])
      })
    )
  })

  it.effect("closing the scope cancels a stream that was opened where nothing can be interrupted", () => {
    const { one, run } = setUp([text("Hello"), hang])
    return run(
      Effect.gen(function* () {
        yield* Effect.scoped(Effect.acquireRelease(stream, () => Effect.void))
        expect(one.calls.map((call) => call.state())).toEqual(["closed"])
        expect(yield* booked).toMatchObject([{ state: "cancelled" }])
      })
    )
  })

  it.effect("calls that run while their Layer is closed end with an error, settled before its ledger is closed", () => {
    const { layer, one, timers } = setUp([text("Hello"), hang])
    return inVirtualTime(
      timers,
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(layer, scope)
        const forked = <A, E>(call: Effect.Effect<A, E, Gateway | Caller>) =>
          Effect.fork(Effect.exit(call)).pipe(
            Effect.provideService(Caller, TestGateway.testCaller),
            Effect.provide(context)
          )
        const plain = yield* forked(complete)
        const streamed = yield* forked(Effect.scoped(Effect.flatMap(stream, ({ events }) => Stream.runDrain(events))))
        yield* Effect.async<void>((resume) => {
          timers.after(10, () => resume(Effect.void))
        })
        yield* Scope.close(scope, Exit.void)
        const calls = Context.get(context, MemoryLedger).calls()
        expect(calls.map(({ state }) => state)).toEqual(["void", "void"])
        expect(one.running()).toBe(0)
        expect(yield* Fiber.join(plain)).toMatchObject({
          cause: { error: { _tag: "ServiceRefused", reason: "shutting_down" } }
        })
        expect(yield* Fiber.join(streamed)).toMatchObject({
          cause: { error: { _tag: "StreamBroken", code: "server_shutdown" } }
        })
      })
    )
  })

  it.effect("a call that waits for a retry while its Layer is closed is settled at once", () => {
    const limited = [fail({ _tag: "RateLimited", retryAfterMillis: 2_000 })]
    const { layer, one, timers, two } = setUp(limited, limited)
    return inVirtualTime(
      timers,
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const services = yield* Layer.buildWithScope(layer, scope)
        const running = yield* Effect.flip(complete).pipe(
          Effect.provideService(Caller, TestGateway.testCaller),
          Effect.provide(services),
          Effect.fork
        )
        yield* Effect.async<void>((resume) => {
          timers.after(10, () => resume(Effect.void))
        })
        expect([one.calls.length, two.calls.length]).toEqual([1, 1])
        const begunMillis = timers.now()
        yield* Scope.close(scope, Exit.void)
        expect(Context.get(services, MemoryLedger).calls()).toMatchObject([{ state: "void", charged: 0 }])
        expect(yield* Fiber.join(running)).toMatchObject({ _tag: "ServiceRefused" })
        expect([timers.now() - begunMillis, one.running(), two.running()]).toEqual([0, 0, 0])
      })
    )
  })

  it.effect("a program that does not read holds the upstream back", () => {
    const pieces = Array.from({ length: 500 }, (_, n) => `${n} `)
    const { one, run, timers } = setUp(answer(...pieces))
    return run(
      Effect.scoped(
        Effect.gen(function* () {
          const { events } = yield* stream
          yield* Effect.async<void>((resume) => {
            timers.after(1_000, () => resume(Effect.void))
          })
          expect(one.calls[0]?.delivered()).toBeLessThan(200)
          expect(one.calls[0]?.pauses()).toBeGreaterThan(0)
          expect(textOf(yield* Stream.runCollect(events))).toBe(pieces.join(""))
        })
      )
    )
  })
})

describe("Fallback", () => {
  it.effect.each([
    ["an error", [wait(100), fail({ _tag: "ServerError", status: 500 })], 100],
    ["silence", [hang], 15_000],
    ["a cut before content", [wait(200)], 200],
    ["an empty answer", [wait(50), finish(), end], 50]
  ] as const)("after %s the other provider answers, once the first upstream is closed", ([, first, millis]) => {
    const { one, run, timers, two } = setUp(first)
    const startedAt = timers.now()
    return run(
      Effect.gen(function* () {
        const events = yield* Effect.scoped(Effect.flatMap(stream, (answered) => Stream.runCollect(answered.events)))
        expect(textOf(events)).toBe("second")
        expect(one.running()).toBe(0)
        expect((two.calls[0]?.openedAtMillis ?? 0) - startedAt).toBe(millis)
        const [call, ...others] = yield* booked
        expect(others).toEqual([])
        expect(call?.settlement?.record.attempts.map((attempt) => attempt.status)).toEqual([
          millis === 15_000 ? "timeout" : "error",
          "success"
        ])
      })
    )
  })

  it.effect("a stream that fails after its first content is not fallen back from and not charged", () => {
    const { run, two } = setUp([text("par"), text("tial"), fail({ _tag: "Disconnected" })])
    return run(
      Effect.gen(function* () {
        const seen: Array<ChatEvent | Completed> = []
        const broken = yield* Effect.scoped(
          Effect.flatMap(stream, ({ events }) =>
            Effect.flip(Stream.runForEach(events, (event) => Effect.sync(() => seen.push(event))))
          )
        )
        expect(textOf(seen)).toBe("partial")
        expect(broken).toMatchObject({ _tag: "StreamBroken", code: "provider_disconnected" })
        expect(two.calls).toEqual([])
        expect(yield* booked).toMatchObject([{ state: "void", charged: 0 }])
      })
    )
  })

  it.effect("a call without any candidate left fails with every attempt", () => {
    const { run } = setUp(
      [fail({ _tag: "Overloaded", retryAfterMillis: null })],
      [fail({ _tag: "CredentialRejected" })]
    )
    return run(
      Effect.gen(function* () {
        for (const asked of [complete, Effect.scoped(stream)]) {
          const error = yield* Effect.flip<unknown, CallFailure, Gateway | Caller>(asked)
          expect(error._tag).toBe("ProvidersFailed")
          expect("attempts" in error && error.attempts?.map((attempt) => attempt.error?.code)).toEqual([
            "provider_error",
            "provider_unavailable"
          ])
        }
      })
    )
  })
})
