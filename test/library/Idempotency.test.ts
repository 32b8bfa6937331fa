import { createServer } from "node:http"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServer from "@effect/platform/HttpServer"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import {
  Accounts,
  ApiKeys,
  Billing,
  Caller,
  CurrentUser,
  type DatabaseLayerOptions,
  finishEvent,
  HttpRoutesLayer,
  Keys,
  Ledger,
  makeModel,
  makeProvider,
  ProductionLayer,
  Projects,
  textEvent,
  usageEvent
} from "../../src/index.ts"
import { freshDatabase, postgresServer, skipsEmbedded } from "../ledger/databases.ts"

const model = makeModel({
  id: "mine/small",
  prices: { input: 1_000_000, output: 2_000_000 },
  contextTokens: 8_192,
  outputTokens: 1_024
})

/** The application's own authentication, by the keys of its accounts. */
const authentication = HttpLayerRouter.middleware<{ provides: Caller }>()(
  Effect.map(
    ApiKeys,
    (keys) => (app) =>
      Effect.gen(function* () {
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const caller = yield* Effect.option(keys.authenticate(headers["authorization"], "127.0.0.1"))
        if (caller._tag === "None") return HttpServerResponse.text("who are you?", { status: 401 })
        return yield* Effect.provideService(app, Caller, caller.value)
      })
  )
)

/** An application on the database, until `close`. */
const start = (database: DatabaseLayerOptions, secret: string) =>
  Effect.gen(function* () {
    let calls = 0
    const provider = makeProvider("mine", () => {
      calls += 1
      return Stream.make(textEvent(`Answer ${calls}.`), finishEvent(), usageEvent({ inputTokens: 10, outputTokens: 5 }))
    })
    const stack = ProductionLayer({
      database,
      providers: { providers: [{ provider, models: [model] }] },
      idempotency: { secret: Redacted.make(secret) }
    })
    const routes = HttpRoutesLayer().pipe(Layer.provide(authentication.layer))
    const app = HttpLayerRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
      Layer.provideMerge(stack),
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
    const scope = yield* Scope.make()
    const close = Scope.close(scope, Exit.void)
    yield* Effect.addFinalizer(() => close)
    const context = yield* Scope.extend(Layer.build(app), scope)
    const { address } = Context.get(context, HttpServer.HttpServer)
    const url = `http://127.0.0.1:${address._tag === "TcpAddress" ? address.port : 0}/v1/chat/completions`
    return { calls: () => calls, close, context, url }
  })

const ask = (url: string, secret: string, content = "Hi.") =>
  Effect.promise(async () => {
    const response = await fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", "idempotency-key": "order 7" },
      body: JSON.stringify({ model: "mine/small", max_tokens: 100, messages: [{ role: "user", content }] })
    })
    return {
      status: response.status,
      replayed: response.headers.get("idempotent-replayed"),
      body: await response.text()
    }
  })

const runs = (database: DatabaseLayerOptions) =>
  Effect.gen(function* () {
    const first = yield* start(database, "a secret of sixteen characters or more")
    const [user, key] = yield* Effect.gen(function* () {
      const user = yield* (yield* Accounts).create({ name: "search", creditMicroUsd: 1_000 })
      const as = Effect.provideService(CurrentUser, user)
      const project = yield* as((yield* Projects).create("search"))
      return [user, yield* as((yield* Keys).create(project.id, { name: "backend", limitMicroUsd: null }))] as const
    }).pipe(Effect.provide(first.context))

    const answer = yield* ask(first.url, key.secret)
    expect([answer.status, answer.replayed]).toEqual([200, null])
    const again = yield* ask(first.url, key.secret)
    expect(again).toEqual({ ...answer, replayed: "true" })
    const other = yield* ask(first.url, key.secret, "Something else.")
    expect([other.status, other.body]).toEqual([400, expect.stringContaining("idempotency_key_reused")])
    expect(first.calls()).toBe(1)
    const balance = Effect.gen(function* () {
      yield* (yield* Ledger).flushed
      return yield* Effect.provideService((yield* Billing).balance, CurrentUser, user)
    }).pipe(Effect.provide(first.context))
    expect(yield* balance).toMatchObject({ creditedMicroUsd: 1_000, spentMicroUsd: 20, heldMicroUsd: 0 })
    return { answer, key, first }
  })

describe.runIf(!skipsEmbedded)("an Idempotency-Key in an application, on the embedded database", () => {
  it.scopedLive("runs the request once and charges it once", () => runs({ directory: ":memory:" }))
})

describe.runIf(postgresServer !== undefined)("an Idempotency-Key in an application, on PostgreSQL", () => {
  it.scopedLive("runs the request once and charges it once, also after a restart and on another node", () =>
    Effect.gen(function* () {
      const database = { url: Redacted.make(yield* freshDatabase(postgresServer ?? "")) }
      const { answer, first, key } = yield* runs(database)
      const second = yield* start(database, "a secret of sixteen characters or more")
      expect(yield* ask(second.url, key.secret)).toEqual({ ...answer, replayed: "true" })
      yield* first.close
      expect(yield* ask(second.url, key.secret)).toEqual({ ...answer, replayed: "true" })
      expect(second.calls()).toBe(0)
    })
  )
})
