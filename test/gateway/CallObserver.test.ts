import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import { Caller, type CallObserver, CallObservers, Gateway } from "../../src/index.ts"
import { MemoryLedger, ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { request } from "../provider/protocols/calls.ts"
import { recordingTracer } from "./recordingTracer.ts"
import { inVirtualTime, quiet } from "./virtualTime.ts"

const { answer, fail, hang, text, wait } = ScriptedProvider
const busy = fail({ _tag: "ServerError", status: 503 })

/** A gateway whose better provider plays `first`, the other one `second`; and what its observer was told, one line each. */
const setUp = (
  first: ScriptedProvider.Script,
  second: ScriptedProvider.Script,
  more: CallObserver = {},
  creditMicroUsd = 1_000_000
) => {
  const timers = VirtualTimers.make()
  const one = ScriptedProvider.make({ id: "one", timers, script: () => first })
  const two = ScriptedProvider.make({ id: "two", timers, script: () => second })
  const lines: Array<string> = []
  const observer: CallObserver = {
    refused: ({ request }, { _tag }) => lines.push(`refused ${request.model} ${_tag}`),
    admitted: ({ request, startedAtMillis }) => lines.push(`admitted ${request.model} ${startedAtMillis > 0}`),
    attemptStarted: (_, { id }) => lines.push(`attempt ${id}`),
    chunk: (_, event) => lines.push(`chunk ${event._tag === "Text" ? event.text : event._tag}`),
    attemptEnded: (_, { error, firstContentMillis, record }) =>
      lines.push(`ended ${record.model} ${record.status} ${error?.reason._tag ?? "-"} ${firstContentMillis ?? "-"}`),
    attemptFailed: (_, { error, next, number, record }) =>
      lines.push(
        `failed ${record.model} ${number} ${error.reason._tag} ${next._tag} ${next._tag === "FallBack" ? next.model.id : "-"}`
      ),
    settled: (_, { status, attempts }) => lines.push(`settled ${status} ${attempts.length}`)
  }
  const layer = TestGateway.layer({
    timers,
    creditMicroUsd,
    models: [testModel("one/m", { quality: 0.9 }), testModel("two/m", { quality: 0.5 })],
    providers: [one, two]
  }).pipe(Layer.provide(CallObservers.layer(more, observer)))
  const run = <A, E>(program: Effect.Effect<A, E, Gateway | Caller | MemoryLedger>) =>
    inVirtualTime(timers, program).pipe(
      Effect.provideService(Caller, TestGateway.testCaller),
      Effect.provide(layer),
      Effect.exit
    )
  return { lines, run }
}

const completed = Effect.flatMap(Gateway, (gateway) => gateway.complete(request({ stream: false })))

const streamed = Effect.scoped(
  Effect.flatMap(Gateway, (gateway) =>
    Effect.flatMap(gateway.stream(request()), ({ events }) => Stream.runDrain(events))
  )
)
const complete = Effect.flatMap(Gateway, (gateway) => gateway.complete(request({ stream: false })))

it.effect("an observer receives a streamed call in order: admission, each attempt, each chunk, the settlement", () =>
  Effect.gen(function* () {
    const { lines, run } = setUp([wait(5), busy], [wait(20), text("a"), wait(5), ...answer("b")])
    expect(Exit.isSuccess(yield* run(streamed))).toBe(true)
    expect(lines).toEqual([
      "admitted auto true",
      "attempt one/m",
      "ended one/m error ServerError -",
      "failed one/m 1 ServerError FallBack two/m",
      "attempt two/m",
      "chunk a",
      "chunk b",
      "chunk Finish",
      "chunk Usage",
      "ended two/m success - 20",
      "settled success 2"
    ])
  })
)

it.effect("a complete response is observed as the same chunks, without a time to first content", () =>
  Effect.gen(function* () {
    const { lines, run } = setUp(answer("a"), answer("b"))
    yield* run(complete)
    expect(lines).toEqual([
      "admitted auto true",
      "attempt one/m",
      "chunk a",
      "chunk Finish",
      "chunk Usage",
      "ended one/m success - -",
      "settled success 1"
    ])
  })
)

it.effect("a call that its client leaves is settled as cancelled, its attempt ended without an error", () =>
  Effect.gen(function* () {
    const { lines, run } = setUp([text("a"), hang], answer("b"))
    yield* run(
      Effect.gen(function* () {
        const fiber = yield* Effect.fork(streamed)
        yield* quiet
        yield* quiet
        yield* Fiber.interrupt(fiber)
      })
    )
    expect(lines.slice(-2)).toEqual(["ended one/m cancelled - 0", "settled cancelled 1"])
  })
)

it.effect("a call that every provider fails is settled once, after its last attempt", () =>
  Effect.gen(function* () {
    const { lines, run } = setUp([busy], [busy])
    expect(Exit.isFailure(yield* run(complete))).toBe(true)
    expect(lines.filter((line) => line.startsWith("settled"))).toEqual(["settled error 2"])
    expect(lines.at(-1)).toBe("settled error 2")
  })
)

it.effect("each failed attempt is told with what follows it: a fallback, a retry, the end of the call", () =>
  Effect.gen(function* () {
    const failures = (lines: ReadonlyArray<string>) => lines.filter((line) => line.startsWith("failed"))
    const both = setUp([busy], [busy])
    yield* both.run(complete)
    expect(failures(both.lines)).toEqual([
      "failed one/m 1 ServerError FallBack two/m",
      "failed two/m 2 ServerError GiveUp -"
    ])

    const reset = fail({ _tag: "Unreachable", detail: "reset-before-response" })
    const again = setUp([reset], answer("b"))
    yield* again.run(complete)
    expect(failures(again.lines)).toEqual([
      "failed one/m 1 Unreachable Retry -",
      "failed one/m 2 Unreachable FallBack two/m"
    ])

    const broken = setUp([text("a"), fail({ _tag: "Disconnected" })], answer("b"))
    yield* broken.run(streamed)
    expect(failures(broken.lines)).toEqual(["failed one/m 1 Disconnected GiveUp -"])
    expect(broken.lines.slice(-3)).toEqual([
      "ended one/m error Disconnected 0",
      "failed one/m 1 Disconnected GiveUp -",
      "settled error 1"
    ])
  })
)

it.effect("a request that is refused before its money is held is observed as refused, and nothing else", () =>
  Effect.gen(function* () {
    const poor = setUp(answer("a"), answer("b"), {}, 0)
    expect(Exit.isFailure(yield* poor.run(complete))).toBe(true)
    expect(Exit.isFailure(yield* poor.run(streamed))).toBe(true)
    expect(poor.lines).toEqual(["refused auto InsufficientFunds", "refused auto InsufficientFunds"])
    const { lines, run } = setUp(answer("a"), answer("b"))
    const unknown = Effect.flatMap(Gateway, (gateway) =>
      gateway.complete(request({ model: "none/such", stream: false }))
    )
    expect(Exit.isFailure(yield* run(unknown))).toBe(true)
    expect(lines).toEqual(["refused none/such ModelNotFound"])
  })
)

it.effect("an observer that throws changes nothing for the call, nor for the other observers", () =>
  Effect.gen(function* () {
    const boom = () => {
      throw new Error("boom")
    }
    const throwing = { admitted: boom, attemptStarted: boom, chunk: boom, attemptEnded: boom, settled: boom }
    const { lines, run } = setUp(answer("a"), answer("b"), throwing)
    expect(Exit.isSuccess(yield* run(streamed))).toBe(true)
    expect(lines).toHaveLength(7)
  })
)

const defects = Effect.map(Metric.snapshot, (pairs) => {
  const state: object | undefined = pairs.find(
    ({ metricKey }) => metricKey.name === "gateway_defects_total"
  )?.metricState
  return state !== undefined && "count" in state ? Number(state.count) : 0
})

it.effect("what an observer throws is logged and counted as a defect of the gateway", () =>
  Effect.gen(function* () {
    const logged: Array<unknown> = []
    const logger = Logger.make(({ message }) => {
      logged.push(message)
    })
    const settled = () => {
      throw new Error("boom")
    }
    const { run } = setUp(answer("a"), answer("b"), { settled })
    const before = yield* defects
    yield* Effect.provide(run(complete), Logger.replace(Logger.defaultLogger, logger))
    expect((yield* defects) - before).toBe(1)
    expect(logged).toEqual([["a call observer has thrown"]])
  })
)

it.effect("the application's tracer sees the call, each attempt and the ledger as spans", () =>
  Effect.gen(function* () {
    const { spans, tracer } = recordingTracer()
    const { run } = setUp([busy], answer("b"))
    yield* run(Effect.withTracer(streamed, tracer))
    expect(spans.map(({ name, parent }) => `${parent} > ${name}`)).toEqual([
      "- > gateway.call",
      "gateway.call > gateway.ledger.reserve",
      "gateway.call > chat m",
      "gateway.call > chat m",
      "gateway.call > gateway.relay",
      "gateway.call > gateway.ledger.settle"
    ])
    expect(Object.fromEntries(spans[0]?.attributes ?? [])).toMatchObject({
      "gateway.status": "success",
      "gen_ai.request.model": "auto",
      "gen_ai.response.model": "two/m",
      "gateway.cost_microusd": expect.any(Number)
    })
  })
)

it.effect.each(
  ["gateway.call", "gateway.ledger.reserve", "gateway.relay", "gateway.ledger.settle", "chat m"].flatMap((span) =>
    (["start", "attribute", "event", "end"] as const).map((method) => [method, span] as const)
  )
)("a tracer that throws at the %s of %s takes nothing from the call or its settlement", ([method, span]) =>
  Effect.gen(function* () {
    const { tracer } = recordingTracer((called, name) => {
      if (name === span && (called === method || called === "event")) throw new Error("the tracer is broken")
    })
    const { run } = setUp(answer("a"), [])
    const exit = yield* run(
      Effect.flatMap(Effect.withTracer(Effect.zipRight(completed, streamed), tracer), () =>
        Effect.map(MemoryLedger, (ledger) => ledger.calls().map(({ state }) => state))
      )
    ).pipe(Logger.withMinimumLogLevel(LogLevel.None))
    expect(exit).toEqual(Exit.succeed(["settled", "settled"]))
  })
)

it.effect("where the application has switched its tracer off there are no spans, nor those of attempts alone", () =>
  Effect.gen(function* () {
    const { spans, tracer } = recordingTracer()
    const { run } = setUp(answer("a"), [])
    yield* run(Effect.withTracer(Effect.withTracerEnabled(streamed, false), tracer))
    expect(spans.map(({ name }) => name)).toEqual([])
  })
)

it.effect("the span of an attempt lasts until its response ends and has the attributes of generative AI", () =>
  Effect.gen(function* () {
    const { spans, tracer } = recordingTracer()
    const { run } = setUp([wait(5), busy], [wait(20), text("a"), wait(30), ...answer("b")])
    yield* run(Effect.withTracer(streamed, tracer))
    const [first, second] = spans.filter(({ name }) => name === "chat m")
    expect([first?.millis(), second?.millis()]).toEqual([5, 50])
    expect([first?.failure(), second?.failure()]).toEqual(["ProviderError", undefined])
    expect(Object.fromEntries(first?.attributes ?? [])).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "one",
      "gen_ai.request.model": "m",
      "gateway.model": "one/m",
      "gateway.attempt": 1,
      "error.type": "provider_error"
    })
    expect(Object.fromEntries(second?.attributes ?? [])).toMatchObject({
      "gateway.attempt": 2,
      "gateway.status": "success",
      "gateway.first_content_ms": 20,
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": expect.any(Number),
      "gen_ai.usage.output_tokens": expect.any(Number)
    })
    expect(second?.attributes.has("error.type")).toBe(false)
  })
)

it.effect("the span of an attempt whose client has left ends as interrupted", () =>
  Effect.gen(function* () {
    const { spans, tracer } = recordingTracer()
    const { run } = setUp([text("a"), hang], answer("b"))
    const left = Effect.scoped(
      Effect.flatMap(Gateway, (gateway) =>
        Effect.flatMap(gateway.stream(request()), ({ events }) => Stream.runDrain(Stream.take(events, 1)))
      )
    )
    yield* run(Effect.withTracer(left, tracer))
    const [attempt] = spans.filter(({ name }) => name === "chat m")
    expect(attempt?.failure()).toBe("interrupted")
    expect(attempt?.attributes.get("gateway.status")).toBe("cancelled")
  })
)
