import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import * as HttpServer from "@effect/platform/HttpServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Gateway, Timers } from "model-routing-gateway"
import { FixedKeys, ScriptedProvider, TestGateway, testModel } from "model-routing-gateway/testing"
import { composed } from "./composed.ts"
import * as embedding from "./embedding.ts"
import * as languageModel from "./languageModel.ts"
import * as production from "./production.ts"
import { served } from "./routes.ts"
import * as testing from "./testing.ts"

it.live("the embedding example answers", () =>
  Effect.gen(function* () {
    expect((yield* embedding.program).length).toBeGreaterThan(0)
  })
)

it.live("the example of a language model answers", () =>
  Effect.gen(function* () {
    expect((yield* languageModel.greeting).length).toBeGreaterThan(0)
  })
)

it.live("the testing example falls back in virtual time and charges once", () =>
  Effect.gen(function* () {
    const { charges, flakyCalls, text } = yield* testing.program
    expect(text).toBe("All is well.")
    expect(charges).toBe(1)
    expect(flakyCalls).toBe(1)
  })
)

it("the READMEs show the examples as they are", () => {
  const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")
  expect(textOf("../../README.md")).toContain(textOf("./embedding.ts").trim())
  expect(textOf("../../src/testing/README.md")).toContain(textOf("./testClock.test.ts").trim())
  const library = textOf("../../src/library/README.md")
  for (const example of ["composed", "production", "languageModel", "routes"])
    expect(library).toContain(textOf(`./${example}.ts`).trim())
})

it.scopedLive("the composed example is built of its parts", () =>
  Effect.gen(function* () {
    const context = yield* Layer.build(composed({ directory: ":memory:" }))
    expect(Context.get(context, Gateway).complete).toBeTypeOf("function")
  })
)

it("the README of the repository has at most 200 lines", () => {
  const lines = readFileSync(new URL("../../README.md", import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
  expect(lines.length).toBeLessThanOrEqual(200)
})

/** The routes example on a port of its own. */
const onLoopback = <A>(stack: Layer.Layer<A | Exclude<Layer.Layer.Context<typeof served>, HttpServer.HttpServer>>) =>
  served.pipe(
    Layer.provideMerge(stack),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
  )

const urlOf = (context: Context.Context<HttpServer.HttpServer>): string => {
  const { address } = Context.get(context, HttpServer.HttpServer)
  return `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}/ai`
}

it.scopedLive("the production example serves a new customer over the routes example", () =>
  Effect.gen(function* () {
    const context = yield* Layer.build(onLoopback(production.inMemory))
    const url = urlOf(context)
    const { secret } = yield* Effect.provide(production.newCustomer("search"), context)
    const asked = (path: string, key: Record<string, string>) =>
      Effect.promise(async () => {
        const response = await fetch(url + path, {
          method: "POST",
          headers: { ...key, "content-type": "application/json" },
          body: JSON.stringify({ model: "auto", max_tokens: 100, messages: [{ role: "user", content: "Hi." }] })
        })
        return [response.status, await response.text()] as const
      })
    for (const [path, key] of [
      ["/chat/completions", { authorization: `Bearer ${secret}` }],
      ["/messages", { "x-api-key": secret }]
    ] as const) {
      const [status, body] = yield* asked(path, key)
      expect(status).toBe(200)
      expect(body).toContain("You have sent 1 message.")
      for (const wrong of [{}, { authorization: "Bearer mrg_sk_wrong" }]) {
        const [refused, error] = yield* asked(path, wrong)
        expect(refused).toBe(401)
        expect(JSON.parse(error)).toMatchObject({ error: { code: "invalid_api_key" } })
        expect(error).not.toContain("/v1/")
      }
    }
  })
)

it.scopedLive("the routes example answers a call that comes while it drains, and waits for nothing else", () =>
  Effect.gen(function* () {
    const timers = Context.get(yield* Layer.build(Timers.layer), Timers)
    const { hang, text } = ScriptedProvider
    const provider = ScriptedProvider.make({ id: "one", timers, script: () => [text("a"), hang] })
    const stack = Layer.merge(
      TestGateway.layer({ timers, models: [testModel("one/m")], providers: [provider] }),
      FixedKeys.layer({ ours: TestGateway.testCaller })
    )
    const scope = yield* Scope.make()
    const url = urlOf(yield* Layer.buildWithScope(onLoopback(stack), scope))
    const post = (signal: AbortSignal) =>
      fetch(`${url}/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer ours", "content-type": "application/json" },
        body: JSON.stringify({ model: "one/m", stream: true, messages: [{ role: "user", content: "Hi." }] }),
        signal
      })
    const leaving = new AbortController()
    yield* Effect.promise(() => post(leaving.signal))
    const closing = yield* Effect.fork(Scope.close(scope, Exit.void))
    yield* Effect.yieldNow()
    const late = yield* Effect.promise(() => post(AbortSignal.timeout(2_000)))
    expect(late.status).toBe(503)
    expect(yield* Effect.promise(() => late.json())).toMatchObject({ error: { code: "shutting_down" } })
    leaving.abort()
    yield* Fiber.join(closing)
  })
)
