import { createServer } from "node:http"
import * as NodeSdk from "@effect/opentelemetry/NodeSdk"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { expect, it } from "@effect/vitest"
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { Accounts, Caller, CurrentUser, Keys, Projects } from "model-routing-gateway"
import { ask, onRealClock, onTestClock, routesFor } from "./app.ts"

const customer = Effect.gen(function* () {
  const user = yield* (yield* Accounts).create({ name: "shop", creditMicroUsd: 1_000_000 })
  return yield* Effect.gen(function* () {
    const project = yield* (yield* Projects).create("default")
    const key = yield* (yield* Keys).create(project.id, { name: "web", limitMicroUsd: null })
    return yield* (yield* Keys).caller(key.id)
  }).pipe(Effect.provideService(CurrentUser, user))
})

/** Lets the database answer, which lives in real time. */
const turn = Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 5)))

it.scoped(
  "a TestClock moves the deadline of a silent provider on the whole stack",
  () =>
    Effect.gen(function* () {
      const caller = yield* customer
      const asked = yield* Effect.fork(Effect.provideService(ask, Caller, caller))
      let seconds = 0
      while ((yield* Fiber.poll(asked))._tag === "None" && seconds < 300) {
        yield* TestClock.adjust("1 second")
        seconds += 1
        yield* turn
      }
      const { answer, metadata } = yield* Fiber.join(asked)
      expect(answer.text).toBe("All is well.")
      expect(metadata.attempts.map(({ error, model }) => [model, error?.code ?? null])).toEqual([
        ["silent/large", "provider_timeout"],
        ["steady/small", null]
      ])
      expect(seconds).toBeGreaterThanOrEqual(60)
    }).pipe(Effect.provide(onTestClock)),
  60_000
)

it.scopedLive(
  "spans of a call over HTTP reach OpenTelemetry, nested",
  () =>
    Effect.gen(function* () {
      const exporter = new InMemorySpanExporter()
      const tracing = NodeSdk.layer(() => ({
        resource: { serviceName: "shop" },
        spanProcessor: new SimpleSpanProcessor(exporter)
      }))
      const stack = Layer.provideMerge(onRealClock, tracing)
      const context = yield* Layer.build(stack)
      const caller = yield* Effect.provide(customer, context)
      const app = HttpLayerRouter.serve(routesFor(caller), { disableListenLog: true, disableLogger: true }).pipe(
        Layer.provide(Layer.succeedContext(context)),
        Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
        Layer.provide(tracing)
      )
      const { address } = Context.get(yield* Layer.build(app), HttpServer.HttpServer)
      const url = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}`
      yield* Effect.promise(async () => {
        expect(await (await fetch(`${url}/orders/count`)).json()).toBe(7)
        exporter.reset()
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ model: "auto", stream: true, messages: [{ role: "user", content: "Hi." }] })
        })
        const sent = await response.text()
        expect(sent).toContain("All is well.")
        expect(sent.trimEnd().endsWith("data: [DONE]")).toBe(true)
      })
      yield* turn
      const spans = exporter.getFinishedSpans()
      const byId = new Map(spans.map((span) => [span.spanContext().spanId, span.name]))
      const parents = Object.fromEntries(
        spans.map((span) => [span.name, byId.get(span.parentSpanContext?.spanId ?? "") ?? null])
      )
      expect(parents).toMatchObject({
        "gateway.call": "http.server POST",
        "chat small": "gateway.call",
        "steady.answer": "chat small"
      })
      const attempt = spans.find(({ name }) => name === "chat small")
      expect(attempt?.attributes).toMatchObject({
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "steady",
        "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 3
      })
    }),
  60_000
)
