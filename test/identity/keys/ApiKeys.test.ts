import { randomFillSync } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type { CallerShape } from "../../../src/domain/Caller.ts"
import { StoreUnavailable } from "../../../src/domain/GatewayError.ts"
import { AccountId, KeyId, ProjectId, UserId } from "../../../src/domain/Ids.ts"
import { hashOf, mint } from "../../../src/identity/keys/ApiKey.ts"
import { ApiKeyStore } from "../../../src/identity/keys/ApiKeyStore.ts"
import { ApiKeys } from "../../../src/identity/keys/ApiKeys.ts"
import { AccountStore } from "../../../src/identity/projects/AccountStore.ts"
import { ProjectStore } from "../../../src/identity/projects/ProjectStore.ts"
import { ChangeNotifications } from "../../../src/sql/ChangeNotifications.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"
import { databases, node, sharedDatabases, told } from "./Nodes.ts"

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
const owner: CallerShape = {
  keyId: KeyId.make(uuid(1)),
  projectId: ProjectId.make(uuid(2)),
  accountId: AccountId.make(uuid(3)),
  billingMode: "managed"
}
const key = mint(randomFillSync)

const authenticate = (authorization: string | undefined) =>
  Effect.flatMap(ApiKeys, (keys) => keys.authenticate(authorization, "127.0.0.1"))
/** The caller, or the name of the error. */
const answer = (authorization: string | undefined) =>
  Effect.catchAll(authenticate(authorization), (error) => Effect.succeed(error._tag))

describe("the Authorization header", () => {
  /** A store that knows the key, and counts what it is asked. */
  const setUp = (options: { readonly failing?: boolean; readonly silent?: boolean } = {}) => {
    const asked: Array<string> = []
    const timers = VirtualTimers.make()
    const store = Layer.succeed(
      ApiKeyStore,
      ApiKeyStore.of({
        findActive: (hash) =>
          Effect.suspend(() => {
            asked.push(hash)
            if (options.silent) return Effect.never
            if (options.failing) return Effect.fail(new StoreUnavailable({ cause: "down" }))
            return Effect.succeed(hash === hashOf(key) ? { caller: owner, validMillis: 3_000 } : undefined)
          }),
        activeHashes: () => Effect.succeed([]),
        activeHashesOf: () => Effect.succeed([]),
        create: () => Effect.dieMessage("not here")
      })
    )
    const changes = Layer.succeed(ChangeNotifications, {
      commit: () => Effect.dieMessage("not here"),
      commitOn: () => () => Effect.dieMessage("not here"),
      onChange: () => () => {},
      heardAtMillis: () => Number.NEGATIVE_INFINITY
    })
    const layer = ApiKeys.layer.pipe(Layer.provide(Layer.mergeAll(store, changes, VirtualTimers.layerOf(timers))))
    return { asked, timers, layer }
  }

  it.effect("counts when it is Bearer, one space and the key, whatever the scheme's letter case", () => {
    const { layer } = setUp()
    return Effect.gen(function* () {
      for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
        expect(yield* authenticate(`${scheme} ${key}`)).toEqual(owner)
      }
    }).pipe(Effect.provide(layer))
  })

  it.effect("is refused in any other form, without a question to the database", () => {
    const { asked, layer } = setUp()
    const wrongChecksum = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0")
    const naughty = ["'; drop table api_key; --", "%00", "\u0000", "🔑".repeat(20), "mrg_sk_", "a".repeat(100_000)]
    return Effect.gen(function* () {
      for (const header of [
        undefined,
        "",
        key,
        "Bearer",
        "Bearer ",
        `Bearer  ${key}`,
        `Bearer\t${key}`,
        ` Bearer ${key}`,
        `Bearer ${key} `,
        `Bearer ${key}\n`,
        `Bearer ${key}, Bearer ${key}`,
        `Bearer "${key}"`,
        `Bearer=${key}`,
        `Basic ${key}`,
        `Token ${key}`,
        `Bearer ${key.toLowerCase()}`,
        `Bearer ${key.toUpperCase()}`,
        `Bearer ${wrongChecksum}`,
        `Bearer ${key}${key}`,
        "Bearer eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.c2ln",
        ...naughty.map((text) => `Bearer ${text}`)
      ]) {
        expect([header, yield* answer(header)]).toEqual([header, "Unauthenticated"])
      }
      expect(asked).toEqual([])
    }).pipe(Effect.provide(layer))
  })

  it.effect("is looked up by its hash, once while it is believed and never beyond its expiry", () => {
    const { asked, layer, timers } = setUp()
    return Effect.gen(function* () {
      for (let i = 0; i < 10; i++) yield* authenticate(`Bearer ${key}`)
      expect(asked).toEqual([hashOf(key)])
      timers.advance(2_999)
      yield* authenticate(`Bearer ${key}`)
      expect(asked.length).toBe(1)
      timers.advance(1)
      yield* authenticate(`Bearer ${key}`)
      expect(asked.length).toBe(2)
    }).pipe(Effect.provide(layer))
  })

  it.effect("is not refused after many clients of its address that left before the database answered", () => {
    const { layer } = setUp({ silent: true })
    return Effect.gen(function* () {
      for (let i = 0; i < 1_000; i++) {
        const leaving = yield* Effect.fork(authenticate(`Bearer ${mint(randomFillSync)}`))
        yield* Effect.yieldNow()
        yield* Fiber.interrupt(leaving)
      }
      expect(yield* answer(undefined)).toBe("Unauthenticated")
    }).pipe(Effect.provide(layer))
  })

  it.effect("is no authentication error when the database does not answer", () => {
    const { asked, layer } = setUp({ failing: true })
    return Effect.gen(function* () {
      expect(yield* answer(`Bearer ${key}`)).toBe("StoreUnavailable")
      expect(yield* answer(`Bearer ${key}`)).toBe("StoreUnavailable")
      expect(asked.length).toBe(2)
    }).pipe(Effect.provide(layer))
  })
})

const prepare = Effect.gen(function* () {
  yield* (yield* AccountStore).create({ userId: UserId.make(uuid(4)), accountId: owner.accountId, name: "owner" })
  yield* (yield* ProjectStore).create({
    id: owner.projectId,
    accountId: owner.accountId,
    name: "default",
    isDefault: true
  })
  yield* (yield* ApiKeyStore).create(key, { id: owner.keyId, projectId: owner.projectId, name: "one", expiresAt: null })
})

/** As a change of the account API does it. */
const setActive = (id: KeyId, isActive: boolean) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* (yield* ChangeNotifications).commit((announce) =>
      Effect.zipRight(sql`update api_key set is_active = ${isActive} where id = ${id}`, announce({ kind: "key", id }))
    )
  })

describe.each(databases)("API keys on %s", (_, database) => {
  const prepared = <A, E, R>(test: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      return yield* Effect.provide(Effect.zipRight(prepare, test), context)
    })

  it.scopedLive("name their owner, and are refused from the moment they are switched off", () =>
    prepared(
      Effect.gen(function* () {
        expect(yield* answer(`Bearer ${key}`)).toEqual(owner)
        yield* setActive(owner.keyId, false)
        expect(yield* answer(`Bearer ${key}`)).toBe("Unauthenticated")
        yield* setActive(owner.keyId, true)
        expect(yield* answer(`Bearer ${key}`)).toEqual(owner)
      })
    )
  )

  it.scopedLive("that did not exist a moment ago are accepted at once", () =>
    prepared(
      Effect.gen(function* () {
        const another = mint(randomFillSync)
        expect(yield* answer(`Bearer ${another}`)).toBe("Unauthenticated")
        const id = KeyId.make(uuid(9))
        yield* (yield* ApiKeyStore).create(another, { id, projectId: owner.projectId, name: "new", expiresAt: null })
        expect(yield* answer(`Bearer ${another}`)).toEqual({ ...owner, keyId: id })
      })
    )
  )

  it.scopedLive("carry their project's billing mode as it is now", () =>
    prepared(
      Effect.gen(function* () {
        expect(yield* answer(`Bearer ${key}`)).toEqual(owner)
        expect(yield* (yield* ProjectStore).setBillingMode(owner.projectId, "byok")).toBe(true)
        expect(yield* answer(`Bearer ${key}`)).toEqual({ ...owner, billingMode: "byok" })
        expect(yield* (yield* ProjectStore).setBillingMode(ProjectId.make(uuid(99)), "byok")).toBe(false)
      })
    )
  )

  it.scopedLive("are refused after their expiry by the database's clock", () =>
    prepared(
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const sql = yield* SqlClient
        const expireIn = (interval: string) =>
          sql`update api_key set expires_at = now() + ${interval}::interval where id = ${owner.keyId}`
        yield* expireIn("-1 millisecond")
        expect(yield* answer(`Bearer ${key}`)).toBe("Unauthenticated")
        yield* expireIn("1 hour")
        const found = yield* store.findActive(hashOf(key))
        expect(found?.validMillis).toBeGreaterThan(3_500_000)
        expect(found?.validMillis).toBeLessThanOrEqual(3_600_000)
      })
    )
  )

  it.scopedLive("tell their hashes while they are active, the one created last for certain", () =>
    prepared(
      Effect.gen(function* () {
        const store = yield* ApiKeyStore
        const sql = yield* SqlClient
        const later = mint(randomFillSync)
        const id = KeyId.make(uuid(9))
        yield* store.create(later, { id, projectId: owner.projectId, name: "later", expiresAt: null })
        yield* sql`update api_key set created_at = created_at - interval '1 hour' where id = ${owner.keyId}`
        expect(yield* store.activeHashes(10)).toEqual([hashOf(key), hashOf(later)])
        expect(yield* store.activeHashes(1)).toEqual([hashOf(later)])
        expect(yield* store.activeHashesOf([id])).toEqual([hashOf(later)])
        yield* setActive(id, false)
        yield* sql`update api_key set expires_at = now() where id = ${owner.keyId}`
        expect(yield* store.activeHashes(10)).toEqual([])
        expect(yield* store.activeHashesOf([id, owner.keyId])).toEqual([])
      })
    )
  )

  it.scopedLive("keep their form in the database too", () =>
    prepared(
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const refused = (statement: Effect.Effect<unknown, unknown>) =>
          Effect.map(Effect.either(statement), ({ _tag }) => expect(_tag).toBe("Left"))
        yield* refused(sql`update api_key set hash = '\\x00'`)
        yield* refused(sql`update api_key set key_prefix = 'x'`)
        yield* refused(sql`update project set billing_mode = 'free'`)
        yield* refused(sql`update project set default_alpha = 1.5`)
        yield* refused(sql`update project set max_input_price_microusd_per_million = -1`)
        yield* refused(sql`insert into project (id, account_id, name, is_default)
          values (${uuid(7)}, ${owner.accountId}, 'second default', true)`)
      })
    )
  )
})

describe.each(sharedDatabases)("API keys of several nodes on %s", (_, database) => {
  it.scopedLive("are refused everywhere as soon as the other nodes have heard, although they are remembered", () =>
    Effect.gen(function* () {
      const layer = yield* database
      const here = yield* Layer.build(node(layer))
      // before the other node listens: these rows are announced too
      yield* Effect.provide(prepare, here)
      const there = yield* Layer.build(node(layer))
      yield* Effect.provide(told(undefined), there)
      expect(yield* Effect.provide(answer(`Bearer ${key}`), there)).toEqual(owner)

      const change = { kind: "key" as const, id: owner.keyId }
      yield* Effect.provide(setActive(owner.keyId, false), here)
      yield* Effect.provide(told(change), there)
      expect(yield* Effect.provide(answer(`Bearer ${key}`), there)).toBe("Unauthenticated")
    })
  )
})
