import { randomFillSync } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { AccountId, KeyId, ProjectId, UserId } from "../../../src/domain/Ids.ts"
import { hashOf, mint } from "../../../src/identity/keys/ApiKey.ts"
import { ApiKeyStore } from "../../../src/identity/keys/ApiKeyStore.ts"
import { ApiKeys } from "../../../src/identity/keys/ApiKeys.ts"
import { AccountStore } from "../../../src/identity/projects/AccountStore.ts"
import { ProjectStore } from "../../../src/identity/projects/ProjectStore.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"
import { databases, node, told } from "./Nodes.ts"

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
const ids = { account: AccountId.make(uuid(1)), project: ProjectId.make(uuid(2)), key: KeyId.make(uuid(3)) }
const [first, second] = [mint(randomFillSync), mint(randomFillSync)]

const prepare = Effect.gen(function* () {
  yield* (yield* AccountStore).create({ userId: UserId.make(uuid(4)), accountId: ids.account, name: "owner" })
  yield* (yield* ProjectStore).create({ id: ids.project, accountId: ids.account, name: "p", isDefault: false })
  yield* (yield* ApiKeyStore).create(first, { id: ids.key, projectId: ids.project, name: "k", expiresAt: null })
})

/** Rotated with a grace that ends so long from now, by the database's clock; no node is told. */
const rotatedUntil = (interval: string) =>
  Effect.flatMap(SqlClient, (sql) =>
    // without the triggers that announce it
    sql`set local session_replication_role = replica`.pipe(
      Effect.zipRight(sql`
        update api_key set hash = decode(${hashOf(second)}, 'hex'), previous_hash = decode(${hashOf(first)}, 'hex'),
          previous_until = now() + ${interval}::interval where id = ${ids.key}`),
      sql.withTransaction
    )
  )

const isAccepted = (secret: string) =>
  Effect.flatMap(ApiKeys, (keys) =>
    Effect.map(Effect.either(keys.authenticate(`Bearer ${secret}`, "here")), Either.isRight)
  )

describe.each(databases)("a rotated key on %s", (_, database) => {
  it.scopedLive("has its old secret up to the end of the grace, by the database's clock", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.provide(
        Effect.gen(function* () {
          yield* prepare
          const store = yield* ApiKeyStore
          yield* rotatedUntil("1 hour")
          const [old, current] = [yield* store.findActive(hashOf(first)), yield* store.findActive(hashOf(second))]
          expect(old?.caller).toEqual(current?.caller)
          // so long a node may remember it, at most
          expect(old?.validMillis).toBeGreaterThan(3_500_000)
          expect(old?.validMillis).toBeLessThanOrEqual(3_600_000)
          expect(current?.validMillis).toBe(Number.POSITIVE_INFINITY)
          yield* rotatedUntil("-1 millisecond")
          expect(yield* store.findActive(hashOf(first))).toBeUndefined()
          expect(yield* store.findActive(hashOf(second))).toEqual(current)
        }),
        context
      )
    })
  )

  it.scopedLive("loses its old secret within exactly 5 s on nodes that hear of no change", () =>
    Effect.gen(function* () {
      const layer = yield* database
      const timers = [VirtualTimers.make(), VirtualTimers.make()]
      const never = 3_600_000
      const nodes = yield* Effect.forEach(timers, (of) => Layer.build(node(layer, of, never)))
      const [here] = nodes
      if (here === undefined) return expect.unreachable("there are two")
      yield* Effect.provide(Effect.zipRight(prepare, rotatedUntil("1 hour")), here)
      // what a node begins with: that it may have missed changes
      for (const context of nodes) yield* Effect.provide(told(undefined), context)
      const everywhere = (secret: string) =>
        Effect.forEach(nodes, (context) => Effect.provide(isAccepted(secret), context))
      expect(yield* everywhere(first)).toEqual([true, true])
      expect(yield* everywhere(second)).toEqual([true, true])

      yield* Effect.provide(rotatedUntil("-1 millisecond"), here)
      for (const clock of timers) clock.advance(4_999)
      expect(yield* everywhere(first)).toEqual([true, true])
      for (const clock of timers) clock.advance(1)
      expect(yield* everywhere(first)).toEqual([false, false])
      expect(yield* everywhere(second)).toEqual([true, true])
    })
  )

  it.scopedLive("tells both of its hashes, so that neither secret counts as an unknown key", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(node(yield* database))
      yield* Effect.provide(
        Effect.gen(function* () {
          yield* prepare
          const store = yield* ApiKeyStore
          expect(yield* store.activeHashesOf([ids.key])).toEqual([hashOf(first)])
          yield* rotatedUntil("1 hour")
          expect([...(yield* store.activeHashesOf([ids.key]))].sort()).toEqual([hashOf(first), hashOf(second)].sort())
        }),
        context
      )
    })
  )
})
