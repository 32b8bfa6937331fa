import { randomFillSync } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import { AccountId, KeyId, ProjectId, UserId } from "../../src/domain/Ids.ts"
import { ClientAddress } from "../../src/http/ClientAddress.ts"
import { Security } from "../../src/http/inference/Security.ts"
import { mint } from "../../src/identity/keys/ApiKey.ts"
import { ApiKeyStore } from "../../src/identity/keys/ApiKeyStore.ts"
import { ApiKeys } from "../../src/identity/keys/ApiKeys.ts"
import { AccountStore } from "../../src/identity/projects/AccountStore.ts"
import { ProjectStore } from "../../src/identity/projects/ProjectStore.ts"
import type { ChangeNotifications } from "../../src/sql/ChangeNotifications.ts"
import * as VirtualTimers from "../../src/testing/doubles/VirtualTimers.ts"
import { databases, node } from "../identity/keys/Nodes.ts"

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
const projectId = ProjectId.make(uuid(2))
const strangers = 1_500

/** What is asked of the table of keys, and a way to let lookups wait. */
const watched = () => {
  const asked: Array<string> = []
  const world = { hold: Effect.void as Effect.Effect<void>, announced: Deferred.unsafeMake<void>(FiberId.none) }
  const layer = Layer.effect(
    ApiKeyStore,
    Effect.map(ApiKeyStore, (store) => ({
      ...store,
      findActive: (hash: string) =>
        Effect.suspend(() => {
          asked.push(hash)
          return Effect.zipRight(world.hold, store.findActive(hash))
        }),
      activeHashesOf: (ids: ReadonlyArray<KeyId>) =>
        Effect.tap(store.activeHashesOf(ids), () => Deferred.succeed(world.announced, undefined))
    }))
  )
  return { asked, world, layer }
}

const setUp = Effect.fnUntraced(function* (database: (typeof databases)[number][1], keys: ReadonlyArray<string>) {
  const timers = VirtualTimers.make()
  const { asked, layer, world } = watched()
  // built once with everything that the service has, and again over it: as if the node had been started anew
  const stores = yield* Layer.build(node(yield* database, timers))
  yield* Effect.provide(
    Effect.gen(function* () {
      const accountId = AccountId.make(uuid(3))
      yield* (yield* AccountStore).create({ userId: UserId.make(uuid(4)), accountId, name: "owner" })
      yield* (yield* ProjectStore).create({ id: projectId, accountId, name: "default", isDefault: true })
      yield* Effect.forEach(keys, (key, n) => create(key, n))
    }),
    stores
  )
  const context = yield* Layer.build(
    Security.layer.pipe(
      Layer.provide(ClientAddress.layer([])),
      Layer.provideMerge(ApiKeys.layer),
      Layer.provideMerge(layer),
      Layer.provide(Layer.succeedContext(stores)),
      Layer.provideMerge(VirtualTimers.layerOf(timers))
    )
  )
  const answer = (key: string, address = "192.0.2.1") =>
    Effect.flatMap(Security, (security) => security.authenticate(requestOf(key, address))).pipe(
      Effect.match({ onFailure: (error): string => error._tag, onSuccess: () => "served" }),
      Effect.provide(context)
    )
  /** Whether the request fails whatever is in the database. */
  const isBlocked = (key: string | undefined, address = "192.0.2.1") =>
    Effect.map(Security, (security) => security.blocked(requestOf(key, address)) !== undefined).pipe(
      Effect.provide(context)
    )
  const flood = (address: (n: number) => string) =>
    Effect.forkAll(Array.from({ length: strangers }, (_, n) => answer(mint(randomFillSync), address(n))))
  return { answer, asked, flood, isBlocked, stores, timers, world }
})

const create = (key: string, n: number): Effect.Effect<void, unknown, ApiKeyStore | ChangeNotifications> =>
  Effect.flatMap(ApiKeyStore, (store) =>
    store.create(key, { id: KeyId.make(uuid(100 + n)), projectId, name: `key ${n}`, expiresAt: null })
  )

const requestOf = (key: string | undefined, remoteAddress: string) => {
  const headers: IncomingMessage["headers"] = key === undefined ? {} : { authorization: `Bearer ${key}` }
  return { headers, socket: { remoteAddress } as IncomingMessage["socket"] }
}

const until = (isSo: () => boolean) => Effect.repeat(Effect.yieldNow(), { until: () => isSo(), times: 1_000_000 })

const manyAddresses = (n: number) => `198.51.${n % 250}.${Math.floor(n / 250)}`

describe.each(databases)("strangers with %s", (_, database) => {
  it.scopedLive(
    "cannot make a valid key fail, whether it is in use, its entry is over, or this node never saw it",
    () =>
      Effect.gen(function* () {
        const [used, expired, fresh] = [mint(randomFillSync), mint(randomFillSync), mint(randomFillSync)]
        const { answer, asked, flood, timers, world } = yield* setUp(database, [used, expired, fresh])
        expect(yield* answer(expired)).toBe("served")
        timers.advance(5_000)
        expect(yield* answer(used)).toBe("served")
        const hold = yield* Deferred.make<void>()
        world.hold = Deferred.await(hold)
        const before = asked.length
        const crowd = yield* flood(manyAddresses)
        yield* until(() => asked.length - before === 16)
        world.hold = Effect.void
        for (const key of [used, expired, fresh, used, expired, fresh]) expect(yield* answer(key)).toBe("served")
        yield* Deferred.succeed(hold, undefined)
        const answers = yield* Fiber.join(crowd)
        // the queue's bound; they are refused before any database work
        expect(answers.filter((answer) => answer === "ServiceRefused").length).toBe(strangers - 16 - 256)
        expect(answers.filter((answer) => answer === "Unauthenticated").length).toBe(16 + 256)
      })
  )

  it.scopedLive("of one address are told apart from its valid keys, and after a thousand cause no statement", () =>
    Effect.gen(function* () {
      const key = mint(randomFillSync)
      const { answer, asked, flood, isBlocked, timers } = yield* setUp(database, [key])
      expect(yield* isBlocked(undefined)).toBe(false)
      yield* Fiber.join(yield* flood(() => "192.0.2.1"))
      while ((yield* answer(mint(randomFillSync))) !== "RateLimited") {}
      const before = asked.length
      expect(before).toBe(1_000)
      const answers = yield* Fiber.join(yield* flood(() => "192.0.2.1"))
      expect(new Set(answers)).toEqual(new Set(["RateLimited"]))
      expect(asked.length).toBe(before)
      const unknown = [undefined, "no key", mint(randomFillSync)]
      expect(yield* Effect.forEach(unknown, (unknownKey) => isBlocked(unknownKey))).toEqual([true, true, true])
      // before its first use and after
      expect(yield* isBlocked(key)).toBe(false)
      expect(yield* answer(key)).toBe("served")
      expect(yield* isBlocked(key)).toBe(false)
      expect(yield* isBlocked(undefined, "192.0.2.2")).toBe(false)
      timers.advance(60_000)
      expect(yield* isBlocked(undefined)).toBe(false)
      expect(yield* answer(mint(randomFillSync))).toBe("Unauthenticated")
    })
  )

  it.scopedLive("do not hide a key that is created while they ask", () =>
    Effect.gen(function* () {
      const { answer, asked, flood, stores, world } = yield* setUp(database, [])
      world.hold = Effect.never
      yield* flood(manyAddresses)
      yield* until(() => asked.length === 16)
      world.hold = Effect.void
      const key = mint(randomFillSync)
      yield* Effect.provide(create(key, 1), stores)
      yield* Deferred.await(world.announced)
      yield* Effect.repeatN(Effect.yieldNow(), 100)
      expect(yield* answer(key)).toBe("served")
    })
  )
})
