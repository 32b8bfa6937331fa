import * as HttpApp from "@effect/platform/HttpApp"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HashMap from "effect/HashMap"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import OpenAI from "openai"
import { Timers } from "../../../src/domain/Timers.ts"
import { chatEndpoint } from "../../../src/http/inference/ChatEndpoint.ts"
import { Caller, Gateway, makeHttpHandlers } from "../../../src/index.ts"
import { ScriptedProvider, TestGateway } from "../../../src/testing/index.ts"
import { request as chatRequest } from "../../provider/protocols/calls.ts"
import { body, post, type RouteTestOptions, served, servedOn, setUp } from "./RoutesApp.ts"

const { answer, end, fail, finish, hang, text, wait } = ScriptedProvider

describe("the routes in an application of HttpLayerRouter", () => {
  it.scopedLive("answer the official client, streamed and not, beside the application's own HttpApi", () =>
    Effect.gen(function* () {
      const { ledger, url } = yield* served(answer("All is well."))
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "ours", maxRetries: 0 })
      yield* Effect.promise(async () => {
        const plain = await client.chat.completions.create({
          model: "auto",
          messages: [{ role: "user", content: "Hi." }]
        })
        expect(plain.choices[0]?.message.content).toBe("All is well.")
        const stream = client.chat.completions.stream({ model: "auto", messages: [{ role: "user", content: "Hi." }] })
        expect(await stream.finalContent()).toBe("All is well.")
        const response = await client.responses.create({ model: "auto", input: "Hi." })
        expect(response.output_text).toBe("All is well.")
        expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["auto", "one/m"])
        expect(await (await fetch(`${url}/orders/count`)).json()).toBe(7)
      })
      expect(ledger.calls().map(({ state }) => state)).toEqual(["settled", "settled", "settled"])
    })
  )

  it.scopedLive("name the path of the list of models as it is in the application", () =>
    Effect.gen(function* () {
      const { url } = yield* served(answer("a"), { prefix: "/ai" })
      const response = yield* Effect.promise(() =>
        fetch(`${url}/ai/models?limit=1`, { headers: { authorization: "Bearer ours" } })
      )
      const { data } = (yield* Effect.promise(() => response.json())) as { data: ReadonlyArray<{ links: unknown }> }
      expect(data.map(({ links }) => links)).toEqual([{ details: "/ai/models" }, { details: "/ai/models" }])
    })
  )

  it.scopedLive("can stand at the root of the application", () =>
    Effect.gen(function* () {
      const { url } = yield* served(answer("a"), { prefix: "/" })
      const response = yield* Effect.promise(() =>
        fetch(`${url}/models?limit=1`, { headers: { authorization: "Bearer ours" } })
      )
      expect(response.status).toBe(200)
    })
  )

  it.scopedLive("leave authentication to the application, and have the service's errors", () =>
    Effect.gen(function* () {
      const { url } = yield* served(answer("a"), { creditMicroUsd: 1 })
      yield* Effect.promise(async () => {
        const stranger = await post(url, body(), { authorization: "Bearer theirs" })
        expect([stranger.status, await stranger.text()]).toEqual([401, "who are you?"])
        const errorOf = async (json: unknown, headers: Record<string, string> = {}) => {
          const response = await post(url, json, headers)
          const { error } = (await response.json()) as { error: { code: string; param: string | null } }
          expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
          return [response.status, error.code, error.param]
        }
        expect(await errorOf("{")).toEqual([400, "invalid_json", null])
        expect(await errorOf(body({ temperature: "warm" }))).toEqual([400, "invalid_type", "temperature"])
        expect(await errorOf(body(), { "content-type": "text/plain" })).toEqual([400, "unsupported_content_type", null])
        expect(await errorOf(body(), { "idempotency-key": "a" })).toEqual([400, "unsupported_parameter", null])
        expect(await errorOf(body({ model: "two/m" }))).toEqual([404, "model_not_found", "model"])
        expect(await errorOf(body({ stream: true }))).toEqual([402, "insufficient_balance", null])
        expect(await errorOf(`"${"x".repeat(20 * 1024 * 1024)}"`)).toEqual([400, "request_too_large", null])
      })
    })
  )

  it.scopedLive("a failure before the first content has a status, even where a stream was asked for", () =>
    Effect.gen(function* () {
      const { url } = yield* served([fail({ _tag: "ServerError", status: 500 })])
      const response = yield* Effect.promise(() => post(url, body({ stream: true })))
      expect(response.status).toBe(502)
      expect(response.headers.get("x-should-retry")).toBe("false")
    })
  )

  it.scopedLive("a stream that breaks ends with the error, without [DONE]", () =>
    Effect.gen(function* () {
      const { url } = yield* served([text("a"), fail({ _tag: "Disconnected" })])
      const sent = yield* Effect.promise(async () => (await post(url, body({ stream: true }))).text())
      expect(sent).toContain('"code":"provider_disconnected"')
      expect(sent).not.toContain("[DONE]")
    })
  )

  it.scopedLive(
    "a silent stream begins after the hold of its head, has heartbeats, and then an error in place of a status",
    () =>
      Effect.gen(function* () {
        const { url } = yield* served([wait(150), fail({ _tag: "ServerError", status: 500 })], { headHoldMillis: 10 })
        const response = yield* Effect.promise(() => post(url, body({ stream: true })))
        expect(response.status).toBe(200)
        const sent = yield* Effect.promise(() => response.text())
        expect(sent.split(": keep-alive").length).toBeGreaterThan(2)
        expect(sent).toContain('"code":"provider_error"')
        expect(sent).not.toContain("[DONE]")
      })
  )

  it.scopedLive(
    "a defect while a stream is written resets the connection or ends it with an error, never as if it were whole",
    () =>
      Effect.gen(function* () {
        const { url } = yield* served([text("a"), text("b"), ...answer("c")])
        const stream = chatEndpoint.stream
        const broken = { ...chatEndpoint }
        Object.assign(chatEndpoint, {
          stream: (...args: Parameters<typeof stream>) => {
            const encoder = stream(...args)
            let events = 0
            return {
              event: (event: Parameters<typeof encoder.event>[0]) => {
                events += 1
                if (events > 1) throw new Error("a defect")
                return encoder.event(event)
              },
              complete: () => {
                throw new Error("a defect")
              },
              fail: () => {
                throw new Error("a defect")
              }
            }
          }
        })
        yield* Effect.addFinalizer(() => Effect.sync(() => Object.assign(chatEndpoint, broken)))
        const outcome = yield* Effect.promise(async () => {
          const response = await post(url, body({ stream: true }))
          return response.text().then(
            (sent) => `complete: ${sent}`,
            () => "reset"
          )
        })
        expect(outcome).toBe("reset")
      })
  )

  it.scopedLive("a client that leaves closes the upstream, and pays for what it got", () =>
    Effect.gen(function* () {
      const { ledger, provider, url } = yield* served([text("a"), hang])
      yield* Effect.promise(async () => {
        const leaving = new AbortController()
        const response = await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: "Bearer ours", "content-type": "application/json" },
          body: JSON.stringify(body({ stream: true })),
          signal: leaving.signal
        })
        await response.body?.getReader().read()
        leaving.abort()
      })
      yield* Effect.repeat(Effect.yieldNow(), { until: () => provider.running() === 0 })
      yield* Effect.repeat(Effect.yieldNow(), { until: () => ledger.calls()[0]?.state !== "held" })
      expect(ledger.calls().map(({ state }) => state)).toEqual(["cancelled"])
    })
  )

  it.scopedLive("a running stream ends with an error when the application stops, and costs nothing", () =>
    Effect.gen(function* () {
      const running: Array<unknown> = []
      const logger = Logger.make(({ annotations, message }) => {
        if (String(message).startsWith("draining"))
          running.push(Option.getOrUndefined(HashMap.get(annotations, "running")))
      })
      const { close, ledger, url } = yield* Effect.provide(served([text("a"), hang]), Logger.add(logger))
      const response = yield* Effect.promise(() => post(url, body({ stream: true })))
      const closing = yield* Effect.fork(close)
      const sent = yield* Effect.promise(() => response.text())
      yield* Fiber.join(closing)
      // its request, its response and its call are one
      expect(running).toEqual([1])
      expect(sent).toContain('"code":"server_shutdown"')
      expect(sent).not.toContain("[DONE]")
      expect(ledger.calls().map(({ charged }) => charged)).toEqual([0])
    })
  )

  it.scopedLive("end with their own calls: others of the same gateway go on, and it takes new ones", () =>
    Effect.gen(function* () {
      const { gateway, provider, routes } = yield* setUp([text("a"), wait(100), text("b"), finish(), end])
      const context = yield* Layer.build(gateway)
      const ask = Effect.flatMap(Gateway, (gateway) => gateway.complete(chatRequest({ stream: false }))).pipe(
        Effect.provideService(Caller, TestGateway.testCaller),
        Effect.provide(context),
        Effect.map(({ answer }) => answer.text)
      )
      const scope = yield* Scope.make()
      const { url } = yield* Scope.extend(servedOn(routes, Layer.succeedContext(context)), scope)
      const response = yield* Effect.promise(() => post(url, body({ stream: true })))
      const asked = yield* Effect.fork(ask)
      yield* Effect.repeat(Effect.yieldNow(), { until: () => provider.running() === 2 })
      yield* Effect.fork(Scope.close(scope, Exit.void))
      expect(yield* Effect.promise(() => response.text())).toContain('"code":"server_shutdown"')
      expect(yield* Fiber.join(asked)).toBe("ab")
      expect(yield* ask).toBe("ab")
    })
  )
})

describe("the routes as a handler of the web", () => {
  const webHandler = (script: ScriptedProvider.Script, options: RouteTestOptions = {}) =>
    Effect.gen(function* () {
      const { gateway, provider, routes } = yield* setUp(script, options)
      const { dispose, handler } = HttpLayerRouter.toWebHandler(
        routes.pipe(Layer.provideMerge(gateway), Layer.provideMerge(NodeHttpServer.layerContext)),
        { disableLogger: true }
      )
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const request = (json: object) =>
        new Request("http://localhost/v1/chat/completions", {
          method: "POST",
          headers: { authorization: "Bearer ours", "content-type": "application/json" },
          body: JSON.stringify(json)
        })
      return { provider, ask: (json: object) => Effect.promise(() => handler(request(json))) }
    })

  it.scopedLive("answer, streamed and not", () =>
    Effect.gen(function* () {
      const { ask } = yield* webHandler(answer("All is well."))
      const plain = yield* ask(body())
      expect(yield* Effect.promise(() => plain.text())).toContain("All is well.")
      const streamed = yield* ask(body({ stream: true }))
      expect(streamed.headers.get("content-type")).toContain("text/event-stream")
      const sent = yield* Effect.promise(() => streamed.text())
      expect(sent).toContain("All is well.")
      expect(sent.trimEnd().endsWith("data: [DONE]")).toBe(true)
    })
  )

  for (const [name, heartbeatMillis] of [
    ["between heartbeats", 20],
    ["while nothing comes", 60_000]
  ] as const) {
    it.scopedLive(
      `a reader that cancels ${name} closes the upstream`,
      () =>
        Effect.gen(function* () {
          const { ask, provider } = yield* webHandler([text("a"), hang], { heartbeatMillis })
          const response = yield* ask(body({ stream: true }))
          const reader = response.body?.getReader()
          yield* Effect.promise(async () => reader?.read())
          yield* Effect.fork(Effect.promise(async () => reader?.cancel()))
          yield* Effect.repeat(Effect.yieldNow(), { until: () => provider.running() === 0 })
        }),
      // before the deadline of the attempt, which would end the call too
      10_000
    )
  }

  it.scoped("a TestClock moves the hold of the head, the heartbeats and the deadline of the provider", () =>
    Effect.gen(function* () {
      const timers = yield* Timers.ofClock
      const { ask } = yield* webHandler([hang], { timers, headHoldMillis: 5_000, heartbeatMillis: 3_000 })
      let seconds = 0
      /** Seconds pass until the effect has succeeded; the handler runs in turns of the event loop between them. */
      const passing = <A>(effect: Effect.Effect<A>) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.fork(effect)
          for (;;) {
            for (let turns = 0; turns < 20; turns++) yield* Effect.promise(() => new Promise(setImmediate))
            if ((yield* Fiber.poll(fiber))._tag === "Some") return yield* Fiber.join(fiber)
            yield* TestClock.adjust("1 second")
            seconds += 1
          }
        })
      const response = yield* passing(ask(body({ stream: true })))
      expect([response.status, seconds]).toEqual([200, 5])
      const sent = yield* passing(Effect.promise(() => response.text()))
      expect(seconds).toBe(15)
      expect(sent.split(": keep-alive").length - 1).toBe(4)
      expect(sent).toContain('"code":"provider_timeout"')
      expect(sent).not.toContain("[DONE]")
    })
  )
})

/** `HttpApp` runs an app uninterruptibly; the platform's routers make each of their routes interruptible. */
describe("the handlers without a router", () => {
  const streamed = (script: ScriptedProvider.Script, signal?: AbortSignal) =>
    Effect.gen(function* () {
      const { gateway, provider } = yield* setUp(script)
      const context = yield* Layer.build(gateway)
      const { chatCompletions } = yield* Effect.provide(
        makeHttpHandlers({ drainGrace: "10 millis", heartbeatMillis: 20 }),
        context
      )
      const handler = HttpApp.toWebHandler(Effect.provideService(chatCompletions, Caller, TestGateway.testCaller))
      const request = new Request("http://localhost/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body({ stream: true })),
        ...(signal !== undefined && { signal })
      })
      return { provider, answered: handler(request) }
    })

  // before the deadline of the attempt, which would end the call too
  const timeout = 10_000

  it.scopedLive(
    "end the call of a client that leaves its stream",
    () =>
      Effect.gen(function* () {
        const { answered, provider } = yield* streamed([text("a"), hang])
        yield* Effect.promise(async () => {
          const reader = (await answered).body?.getReader()
          await reader?.read()
          await reader?.cancel()
        })
        yield* Effect.repeat(Effect.yieldNow(), { until: () => provider.running() === 0 })
      }),
    timeout
  )

  it.scopedLive(
    "end the call of a client that leaves before its stream begins",
    () =>
      Effect.gen(function* () {
        const leaving = new AbortController()
        const { provider } = yield* streamed([hang], leaving.signal)
        yield* Effect.repeat(Effect.yieldNow(), { until: () => provider.running() === 1 })
        leaving.abort()
        yield* Effect.repeat(Effect.yieldNow(), { until: () => provider.running() === 0 })
      }),
    timeout
  )
})
