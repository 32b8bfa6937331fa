import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { type BootstrapOptions, bootstrap } from "../../src/app/FirstStart.ts"
import { StoreUnavailable } from "../../src/domain/GatewayError.ts"
import { mint } from "../../src/identity/keys/ApiKey.ts"
import { ApiKeyStore } from "../../src/identity/keys/ApiKeyStore.ts"
import { ApiKeys } from "../../src/identity/keys/ApiKeys.ts"
import { Scopes } from "../../src/ledger/Scopes.ts"
import { databases, node, sharedDatabases } from "../identity/keys/Nodes.ts"

const defaultOptions: BootstrapOptions = { key: null, creditMicroUsd: 25_000_000, given: [] }
const chosenKey = Redacted.make(mint((bytes) => bytes.fill(7)))

const counts = Effect.flatMap(SqlClient, (sql) =>
  Effect.map(
    sql`select (select count(*)::int from app_user) as users, (select count(*)::int from account) as accounts,
      (select count(*)::int from project) as projects, (select count(*)::int from api_key) as keys,
      (select count(*)::int from scope) as scopes`,
    ([row]) => row
  )
)
const one = { users: 1, accounts: 1, projects: 1, keys: 1, scopes: 3 }

describe.each(databases)("the first start on %s", (_, database) => {
  it.scopedLive("makes a user with a balance, a project and a key that works", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.gen(function* () {
        const first = yield* bootstrap(defaultOptions)
        if (!first.created || first.key === null) return expect.fail("there is no key to show")
        const caller = yield* (yield* ApiKeys).authenticate(`Bearer ${Redacted.value(first.key)}`, "")
        expect(caller.billingMode).toBe("managed")
        const scopes = yield* Scopes
        expect(Option.getOrThrow(yield* scopes.read(caller.accountId))).toEqual({
          kind: "account",
          limitMicroUsd: 25_000_000,
          spentMicroUsd: 0,
          heldMicroUsd: 0
        })
        expect(Option.getOrThrow(yield* scopes.read(caller.projectId))).toMatchObject({
          kind: "project",
          limitMicroUsd: null
        })
        expect(Option.getOrThrow(yield* scopes.read(caller.keyId))).toMatchObject({ kind: "key", limitMicroUsd: null })
        expect(yield* counts).toEqual(one)

        // The key itself is nowhere in the database.
        const sql = yield* SqlClient
        const rows = yield* sql`select k::text, p::text as project from api_key k, project p`
        expect(JSON.stringify(rows)).not.toContain(Redacted.value(first.key).slice(12))
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive("takes the operator's key and credit, and does not show that key", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.gen(function* () {
        const options = { key: chosenKey, creditMicroUsd: 0, given: ["GATEWAY_BOOTSTRAP_KEY"] }
        expect(yield* bootstrap(options)).toEqual({ created: true, key: null })
        const caller = yield* (yield* ApiKeys).authenticate(`Bearer ${Redacted.value(chosenKey)}`, "")
        expect(Option.getOrThrow(yield* (yield* Scopes).read(caller.accountId)).limitMicroUsd).toBe(0)
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive("happens once: later options are ignored, and said to be", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.gen(function* () {
        yield* bootstrap(defaultOptions)
        expect(yield* bootstrap(defaultOptions)).toEqual({ created: false, ignored: false })
        const late = { key: chosenKey, creditMicroUsd: 1, given: ["GATEWAY_BOOTSTRAP_KEY"] }
        expect(yield* bootstrap(late)).toEqual({ created: false, ignored: true })
        const refused = yield* Effect.flip((yield* ApiKeys).authenticate(`Bearer ${Redacted.value(chosenKey)}`, ""))
        expect(refused._tag).toBe("Unauthenticated")
        expect(yield* counts).toEqual(one)
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive("leaves nothing behind when it fails on the way", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.gen(function* () {
        const keys = yield* ApiKeyStore
        // The key is the last but one thing to be written.
        const failing = ApiKeyStore.of({
          ...keys,
          create: (...key) => Effect.zipRight(keys.create(...key), new StoreUnavailable({ cause: "gone" }))
        })
        const error = yield* Effect.flip(Effect.provideService(bootstrap(defaultOptions), ApiKeyStore, failing))
        expect(error).toMatchObject({ _tag: "StoreUnavailable" })
        expect(yield* counts).toEqual({ users: 0, accounts: 0, projects: 0, keys: 0, scopes: 0 })
        expect((yield* bootstrap(defaultOptions)).created).toBe(true)
        expect(yield* counts).toEqual(one)
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive("names a malformed key of the operator without printing it, and makes nothing", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.gen(function* () {
        const secret = `${Redacted.value(chosenKey).slice(0, -1)}!`
        const error = yield* Effect.flip(bootstrap({ ...defaultOptions, key: Redacted.make(secret) }))
        expect(String(error)).toContain("GATEWAY_BOOTSTRAP_KEY")
        expect(String(error)).not.toContain(secret.slice(7, 39))
        expect(yield* counts).toMatchObject({ users: 0 })
      }).pipe(Effect.provide(context))
    })
  )
})

describe.each(sharedDatabases)("nodes that start at once on %s", (_, database) => {
  it.scopedLive("make one user between them", () =>
    Effect.gen(function* () {
      const options = yield* database
      const nodes = yield* Effect.forEach([1, 2, 3, 4], () => Layer.build(node(options)), { concurrency: "unbounded" })
      const results = yield* Effect.forEach(nodes, (context) => Effect.provide(bootstrap(defaultOptions), context), {
        concurrency: "unbounded"
      })
      expect(results.filter(({ created }) => created).length).toBe(1)
      const [first] = nodes
      if (first === undefined) return expect.fail("there is no node")
      expect(yield* Effect.provide(counts, first)).toEqual(one)
    })
  )
})
