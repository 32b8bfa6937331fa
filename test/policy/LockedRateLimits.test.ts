import { randomUUID } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import Pg from "pg"
import type { CallerShape } from "../../src/domain/Caller.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { AccountId, KeyId, ProjectId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { type RateLimit, RateLimits } from "../../src/policy/RateLimits.ts"
import * as StoredRateLimits from "../../src/policy/StoredRateLimits.ts"
import { freshDatabase, postgresAt, postgresServer } from "../ledger/databases.ts"

const limit: RateLimit = { requestsPerMinute: 100, tokensPerMinute: null, concurrentRequests: 100 }

const newCaller = (): CallerShape => ({
  keyId: KeyId.make(randomUUID()),
  projectId: ProjectId.make(randomUUID()),
  accountId: AccountId.make(randomUUID()),
  billingMode: "managed"
})

/** A transaction of someone else that has the key's row locked, until the scope closes. */
const locking = (url: string, { keyId }: CallerShape) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Pg.Client({ connectionString: url })
      await client.connect()
      await client.query("begin")
      const { rowCount } = await client.query("select from rate_limit where scope_id = $1 for update", [keyId])
      expect(rowCount).toBe(1)
      return client
    }),
    (client) => Effect.promise(() => client.end())
  )

describe.skipIf(postgresServer === undefined)("a locked row of a key's rate limits on PostgreSQL", () => {
  it.scopedLive("delays and refuses requests of its project only, and those are admitted when the lock is gone", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase(postgresServer ?? "")
      const context = yield* Layer.build(
        StoredRateLimits.layer({ key: limit, project: limit }).pipe(
          Layer.provide([postgresAt(url), IdGenerator.layer]),
          Layer.provide(Timers.layer)
        )
      )
      const { admit } = Context.get(context, RateLimits)
      const [victim, other] = [newCaller(), newCaller()]
      const before = yield* admit(victim, 0)
      yield* admit(other, 0)

      const lock = yield* Scope.make()
      yield* Scope.extend(locking(url, victim), lock)
      const first = yield* Effect.fork(admit(victim, 0))
      // in the batch that meets the lock, and after it
      for (let times = 0; times < 3; times++) yield* admit(other, 0)
      expect(first.unsafePoll()).toBeNull()
      before.release()
      expect(yield* Effect.flip(Fiber.join(first))).toMatchObject({ _tag: "StoreUnavailable" })

      const waiting = yield* Effect.fork(admit(victim, 0))
      yield* admit(other, 0)
      expect(waiting.unsafePoll()).toBeNull()
      yield* Scope.close(lock, Exit.void)
      yield* Fiber.join(waiting)
      yield* admit(victim, 0)
    })
  )
})
