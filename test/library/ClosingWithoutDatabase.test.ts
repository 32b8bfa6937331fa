import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import {
  Accounts,
  Caller,
  CurrentUser,
  Gateway,
  Keys,
  makeModel,
  makeProvider,
  makeRequest,
  ProductionLayer,
  Projects,
  Timers,
  textEvent
} from "../../src/index.ts"
import { freshDatabase, postgresServer } from "../ledger/databases.ts"
import { startProxy } from "../support/TcpProxy.ts"

const newCaller = Effect.gen(function* () {
  const user = yield* (yield* Accounts).create({ name: "search", creditMicroUsd: 1_000_000 })
  return yield* Effect.gen(function* () {
    const project = yield* (yield* Projects).create("search")
    const { id } = yield* (yield* Keys).create(project.id, { name: "backend", limitMicroUsd: null })
    return yield* (yield* Keys).caller(id)
  }).pipe(Effect.provideService(CurrentUser, user))
})

/** It never ends by itself. */
const endless = {
  provider: makeProvider("endless", () => Stream.concat(Stream.make(textEvent("Hello")), Stream.never)),
  models: [makeModel({ id: "endless/m", prices: { input: 1, output: 1 }, contextTokens: 8_192, outputTokens: 1_024 })]
}

const begun = Effect.flatMap(Gateway, (gateway) =>
  Effect.flatMap(makeRequest({ model: "endless/m", messages: [{ role: "user", content: "Hi." }] }), gateway.stream)
)

describe.skipIf(postgresServer === undefined)("A stack on a TestClock whose database no longer answers", () => {
  it.scoped(
    "is closed in bounded time, with a settlement that cannot be written",
    () =>
      Effect.gen(function* () {
        const url = new URL(yield* freshDatabase(postgresServer ?? ""))
        const proxy = yield* Effect.acquireRelease(
          Effect.promise(() => startProxy({ host: url.hostname, port: Number(url.port) })),
          ({ stop }) => Effect.promise(stop)
        )
        url.port = String(proxy.port)
        const scope = yield* Scope.make()
        const stack = yield* Layer.buildWithScope(
          ProductionLayer({
            database: { url: Redacted.make(url.href) },
            providers: { providers: [endless] },
            timers: Timers.layerClock
          }),
          scope
        )
        const caller = yield* Effect.provide(newCaller, stack)
        yield* Effect.scoped(
          Effect.zipRight(
            begun,
            Effect.sync(() => proxy.set("stall"))
          )
        ).pipe(Effect.provideService(Caller, caller), Effect.provide(stack))
        const closed = yield* Effect.fork(Scope.close(scope, Exit.void))
        expect(Exit.isSuccess(yield* Fiber.await(closed))).toBe(true)
      }),
    30_000
  )
})
