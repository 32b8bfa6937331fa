import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import {
  Accounts,
  Caller,
  CurrentUser,
  Gateway,
  Health,
  Keys,
  Ledger,
  makeRequest,
  ProductionLayer,
  type ProductionOptions,
  Projects,
  SimpleLayer
} from "../../src/index.ts"
import { ScriptedProvider, TestGateway, testModel, VirtualTimers } from "../../src/testing/index.ts"
import { freshDatabase, postgresServer, skipsEmbedded } from "../ledger/databases.ts"

type Database = ProductionOptions["database"]

const stack = (database: Database) => ProductionLayer({ database, providers: { simulated: true } })

/** Both as parts of one Layer, as an application has two gateways under names of its own. */
const built = <A, B, E>(
  one: Layer.Layer<A, E>,
  other: Layer.Layer<B, E>
): Effect.Effect<readonly [Context.Context<A>, Context.Context<B>], E, Scope.Scope> => {
  class First extends Context.Tag("test/First")<First, Context.Context<A>>() {}
  class Second extends Context.Tag("test/Second")<Second, Context.Context<B>>() {}
  return Effect.map(
    Layer.build(
      Layer.merge(
        Layer.provide(Layer.effect(First, Effect.context<A>()), one),
        Layer.provide(Layer.effect(Second, Effect.context<B>()), other)
      )
    ),
    (context) => [Context.get(context, First), Context.get(context, Second)] as const
  )
}

const newCustomer = Effect.gen(function* () {
  const user = yield* (yield* Accounts).create({ name: "search", creditMicroUsd: 1_000_000 })
  return yield* Effect.gen(function* () {
    const project = yield* (yield* Projects).create("search")
    const { id } = yield* (yield* Keys).create(project.id, { name: "backend", limitMicroUsd: null })
    return { user, caller: yield* (yield* Keys).caller(id) }
  }).pipe(Effect.provideService(CurrentUser, user))
})

const ask = Effect.flatMap(Gateway, (gateway) =>
  Effect.flatMap(
    makeRequest({ model: "auto", max_tokens: 20, messages: [{ role: "user", content: "Hi." }] }),
    gateway.complete
  )
)

const databases: ReadonlyArray<readonly [string, Effect.Effect<Database, never, Scope.Scope>]> = [
  ...(skipsEmbedded ? [] : [["embedded", Effect.succeed({ directory: ":memory:" })] as const]),
  ...(postgresServer === undefined
    ? []
    : [["PostgreSQL", Effect.map(freshDatabase(postgresServer), (url) => ({ url: Redacted.make(url) }))] as const])
]

describe.each(databases)("two stacks of one application, on %s", (_, database) => {
  it.scopedLive("each has its own database, money and keys", () =>
    Effect.gen(function* () {
      const [one, other] = yield* built(stack(yield* database), stack(yield* database))
      const { caller, user } = yield* Effect.provide(newCustomer, one)
      const { metadata } = yield* ask.pipe(Effect.provideService(Caller, caller), Effect.provide(one))
      expect(metadata.cost.amount_microusd).toBeGreaterThan(0)
      const found = Effect.flatMap(Accounts, (accounts) => accounts.find(user.userId))
      expect(yield* Effect.provide(found, one)).toMatchObject({ accountId: caller.accountId })
      expect(yield* Effect.flip(Effect.provide(found, other))).toMatchObject({ _tag: "NotFound" })
    })
  )
})

it.scoped.each([
  ["ProductionLayer", () => stack({ directory: ":memory:" })],
  ["SimpleLayer", () => SimpleLayer()],
  [
    "TestGateway",
    () => {
      const timers = VirtualTimers.make()
      const provider = ScriptedProvider.make({ id: "one", timers, script: () => ScriptedProvider.answer("Hello.") })
      return TestGateway.layer({ timers, models: [testModel("one/m")], providers: [provider] })
    }
  ]
] as const)("what one %s has learnt of its routes says nothing to another one beside it", ([, make]) =>
  Effect.gen(function* () {
    const [one, other] = yield* built<Health, Health, unknown>(make(), make())
    expect(Context.get(one, Health)).not.toBe(Context.get(other, Health))
  })
)

it.scoped("a stack is built once, however many parts of the application it is provided to", () =>
  Effect.gen(function* () {
    const shared = stack({ directory: ":memory:" })
    const [one, other] = yield* built(shared, shared)
    expect(Context.get(one, Accounts)).toBe(Context.get(other, Accounts))
    expect(Context.get(one, Gateway)).toBe(Context.get(other, Gateway))
    expect(Context.get(one, Ledger)).toBe(Context.get(other, Ledger))
  })
)
