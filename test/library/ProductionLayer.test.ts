import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
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
  Gateway,
  Keys,
  Ledger,
  makeModel,
  makeProvider,
  makeRequest,
  ProductionLayer,
  ProjectPolicies,
  Projects,
  textEvent,
  usageEvent
} from "../../src/index.ts"
import { freshDatabase, postgresServer, skipsEmbedded } from "../ledger/databases.ts"

const databases: ReadonlyArray<
  readonly [string, Effect.Effect<DatabaseLayerOptions, never, import("effect/Scope").Scope>]
> = [
  ...(skipsEmbedded ? [] : [["embedded", Effect.succeed({ directory: ":memory:" })] as const]),
  ...(postgresServer === undefined
    ? []
    : [["PostgreSQL", Effect.map(freshDatabase(postgresServer), (url) => ({ url: Redacted.make(url) }))] as const])
]

const hour = 3_600_000

const model = makeModel({
  id: "mine/small",
  prices: { input: 1_000_000, output: 2_000_000 },
  contextTokens: 8_192,
  outputTokens: 1_024
})
const provider = makeProvider("mine", () =>
  Stream.make(textEvent("Hello."), finishEvent(), usageEvent({ inputTokens: 10, outputTokens: 5 }))
)

const ask = (name: string) =>
  Effect.gen(function* () {
    const gateway = yield* Gateway
    return yield* gateway.complete(
      yield* makeRequest({ model: name, max_tokens: 100, messages: [{ role: "user", content: "Hi." }] })
    )
  })

describe.each(databases)("the whole stack, on %s", (_, database) => {
  it.scopedLive("an account is created, pays for a call with a key, and is held to policy, limit and revocation", () =>
    Effect.gen(function* () {
      const options = yield* database
      const stack = ProductionLayer({ database: options, providers: { providers: [{ provider, models: [model] }] } })
      // exact: nothing is needed that is not an option
      const complete: Layer.Layer<Layer.Layer.Success<typeof stack>, Layer.Layer.Error<typeof stack>> = stack
      yield* Effect.gen(function* () {
        const operator = yield* (yield* Accounts).create({ name: "operations", isOperator: true })
        const user = yield* (yield* Accounts).create({ name: "search", creditMicroUsd: 1_000 })
        expect(yield* (yield* Accounts).find(user.userId)).toMatchObject({
          accountId: user.accountId,
          isOperator: false
        })
        const as = Effect.provideService(CurrentUser, user)
        const project = yield* as((yield* Projects).create("search"))
        const keys = yield* Keys
        const key = yield* as(keys.create(project.id, { name: "backend", limitMicroUsd: 500 }))

        const caller = yield* as(keys.caller(key.id))
        expect(yield* (yield* ApiKeys).authenticate(`Bearer ${key.secret}`, "127.0.0.1")).toEqual(caller)
        const called = Effect.provideService(Caller, caller)
        const { answer, metadata } = yield* called(ask("auto"))
        expect([answer.text, metadata.cost]).toEqual([
          "Hello.",
          { amount_microusd: 20, currency: "USD", basis: "charged" }
        ])
        yield* (yield* Ledger).flushed
        const billing = yield* Billing
        expect(yield* as(billing.balance)).toMatchObject({ creditedMicroUsd: 1_000, spentMicroUsd: 20 })
        yield* Effect.provideService(billing.credit(user.accountId, 500, "thanks"), CurrentUser, operator)
        expect(yield* as(billing.balance)).toMatchObject({ creditedMicroUsd: 1_500 })

        const policies = yield* ProjectPolicies
        const { policy_version: _version, ...policy } = yield* as(policies.read(project.id))
        yield* as(policies.write(project.id, { ...policy, excluded_models: ["mine/*"] }, () => Effect.void))
        expect(yield* Effect.flip(called(ask("mine/small")))).toMatchObject({ _tag: "ModelNotFound" })

        // by the database's clock, as where it is authenticated
        const now = Date.now()
        const at = (millis: number) =>
          Effect.withClock(
            Object.assign(Object.create(Clock.make()) as Clock.Clock, { currentTimeMillis: Effect.succeed(millis) })
          )
        const expiring = (millis: number) => as(keys.update(key.id, { expiresAt: new Date(millis) }, () => Effect.void))
        yield* expiring(now + hour)
        expect(yield* at(now + 2 * hour)(as(keys.caller(key.id)))).toEqual(caller)
        yield* expiring(now - hour)
        expect(yield* at(now - 2 * hour)(Effect.flip(as(keys.caller(key.id))))).toMatchObject({ _tag: "NotFound" })
        yield* as(keys.update(key.id, { expiresAt: null }, () => Effect.void))

        yield* as(keys.revoke(key.id))
        expect(yield* Effect.flip(as(keys.caller(key.id)))).toMatchObject({ _tag: "NotFound" })
        expect(yield* Effect.flip((yield* ApiKeys).authenticate(`Bearer ${key.secret}`, "127.0.0.1"))).toMatchObject({
          _tag: "Unauthenticated"
        })
      }).pipe(Effect.provide(complete))
    })
  )

  it.scopedLive("calls that are being admitted while the stack is closed fail, and are not interrupted", () =>
    Effect.gen(function* () {
      const stack = ProductionLayer({
        database: yield* database,
        providers: { providers: [{ provider, models: [model] }] }
      })
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(stack, scope)
      const caller = yield* Effect.gen(function* () {
        const user = yield* (yield* Accounts).create({ name: "search", creditMicroUsd: 1_000 })
        return yield* Effect.gen(function* () {
          const project = yield* (yield* Projects).create("search")
          const keys = yield* Keys
          return yield* keys.caller((yield* keys.create(project.id, { name: "backend", limitMicroUsd: null })).id)
        }).pipe(Effect.provideService(CurrentUser, user))
      }).pipe(Effect.provide(context))
      // what the project allows has not been read yet
      const failed = Effect.flip(ask("mine/small")).pipe(Effect.provideService(Caller, caller), Effect.provide(context))
      const running = yield* Effect.fork(failed)
      yield* Effect.yieldNow()
      yield* Scope.close(scope, Exit.void)
      const refused = { _tag: "ServiceRefused", reason: "shutting_down" }
      expect(yield* Fiber.join(running)).toMatchObject(refused)
      expect(yield* failed).toMatchObject(refused)
    })
  )
})
