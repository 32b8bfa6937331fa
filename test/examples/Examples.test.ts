import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as embedding from "./embedding.ts"
import * as production from "./production.ts"
import { routes } from "./routes.ts"
import * as testing from "./testing.ts"

it.live("the embedding example answers", () =>
  Effect.gen(function* () {
    expect((yield* embedding.program).length).toBeGreaterThan(0)
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
  for (const example of ["production", "routes"]) expect(library).toContain(textOf(`./${example}.ts`).trim())
})

it("the README of the repository has at most 200 lines", () => {
  const lines = readFileSync(new URL("../../README.md", import.meta.url), "utf8")
    .trimEnd()
    .split("\n")
  expect(lines.length).toBeLessThanOrEqual(200)
})

it.scopedLive("the production example serves a new customer over the routes example", () =>
  Effect.gen(function* () {
    const app = HttpLayerRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
      Layer.provideMerge(production.inMemory),
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
    const context = yield* Layer.build(app)
    const { address } = Context.get(context, HttpServer.HttpServer)
    const url = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}/ai`
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
