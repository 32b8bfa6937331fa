import { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import { effect } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/TestClock"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { CallerShape } from "../../src/domain/Caller.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { AccountId, KeyId, ProjectId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { type RateLimit, type RateLimitOptions, RateLimits } from "../../src/policy/RateLimits.ts"
import * as StoredRateLimits from "../../src/policy/StoredRateLimits.ts"
import { Database } from "../../src/sql/Database.ts"
import { databases } from "../ledger/databases.ts"

const none: RateLimit = { requestsPerMinute: null, tokensPerMinute: null, concurrentRequests: null }
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
let nextId = 1
const newCaller = (project = nextId++): CallerShape => ({
  keyId: KeyId.make(uuid(nextId++)),
  projectId: ProjectId.make(uuid(project)),
  accountId: AccountId.make(uuid(1)),
  billingMode: "managed"
})

const withOwn = (caller: CallerShape, key: Partial<RateLimit>): CallerShape => ({
  ...caller,
  rateLimits: { key: { ...none, ...key }, project: null }
})

describe.each(databases)("Rate limits counted in the database (%s)", (_, database) => {
  const runtime = ManagedRuntime.make(Layer.mergeAll(database, IdGenerator.layer.pipe(Layer.provide(Timers.layer))))
  beforeAll(() => runtime.runPromise(Effect.asVoid(Database)))
  afterAll(() => runtime.dispose())

  /** Several processes with the same limits. */
  const processes = (
    count: number,
    limits: { readonly key?: Partial<RateLimit>; readonly project?: Partial<RateLimit> }
  ) => {
    const options: RateLimitOptions = { key: { ...none, ...limits.key }, project: { ...none, ...limits.project } }
    return Effect.forEach(Array.from({ length: count }), () =>
      Effect.map(Layer.build(StoredRateLimits.layer(options)), (context) => Effect.provide(RateLimits, context))
    ).pipe(Effect.flatMap(Effect.all))
  }

  it("forgets after an hour what a process left behind that has ended", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const limits = { key: { concurrentRequests: 2 } }
        const caller = newCaller()
        const left = sql<{ readonly minutes: number }>`select (extract(epoch from now() - seen_at) / 60)::int as minutes
          from rate_limit_running where scope_id = ${caller.keyId} order by seen_at`
        const seenBefore = (minutes: number) =>
          sql`update rate_limit_running set seen_at = now() - ${`${minutes} minutes`}::interval
            where scope_id = ${caller.keyId} and seen_at > now() - interval '45 minutes'`
        for (const minutes of [50, 70]) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const [one] = yield* processes(1, limits)
              yield* one?.admit(caller, 0) ?? Effect.never
              yield* seenBefore(40)
            })
          )
          // what a process writes as it ends comes after its end
          yield* Effect.repeat(left, {
            until: (rows) => rows.some((row) => row.minutes === 0),
            schedule: Schedule.spaced("10 millis")
          })
          yield* seenBefore(minutes)
        }
        expect(yield* left).toEqual([{ minutes: 70 }, { minutes: 50 }])
        yield* Effect.scoped(
          Effect.zipRight(
            processes(1, limits),
            Effect.repeat(left, { until: (rows) => rows.length === 1, schedule: Schedule.spaced("10 millis") })
          )
        )
        expect(yield* left).toEqual([{ minutes: 50 }])
      })
    ))

  it("forgets the level of a key that has had no request for a day", () =>
    runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* SqlClient
        const [unused, used] = [newCaller().keyId, newCaller().keyId]
        const insert = (id: KeyId, hours: number) => sql`insert into rate_limit (scope_id, at_millis)
          values (${id}, (extract(epoch from now()) - ${hours * 3_600}::int) * 1000)`
        yield* insert(unused, 25)
        yield* insert(used, 23)
        const left = sql`select scope_id as id from rate_limit where scope_id in (${unused}, ${used})`
        yield* Effect.scoped(
          Effect.zipRight(
            processes(1, {}),
            Effect.repeat(left, { until: (rows) => rows.length < 2, schedule: Schedule.spaced("10 millis") })
          )
        )
        expect(yield* left).toEqual([{ id: used }])
      })
    ))

  it("several processes together admit exactly a minute's requests", () =>
    runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const nodes = yield* processes(3, { key: { requestsPerMinute: 20 } })
          const caller = newCaller()
          const asked = Array.from({ length: 60 }, (_, index) => nodes[index % 3]?.admit(caller, 0) ?? Effect.never)
          const results = yield* Effect.all(asked.map(Effect.either), { concurrency: "unbounded" })
          expect(results.filter(Either.isRight)).toHaveLength(20)
          const [refused] = results.filter(Either.isLeft)
          expect(refused?.left).toMatchObject({
            _tag: "RateLimited",
            message: "Rate limit reached: requests per minute of this key.",
            status: { requests: { limit: 20, remaining: 0 }, tokens: null }
          })
        })
      )
    ))

  it("tokens are counted by size, and the limit with the least left is told", () =>
    runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const [one, two] = yield* processes(2, {
            key: { tokensPerMinute: 1_000, requestsPerMinute: 50 },
            project: { requestsPerMinute: 5 }
          })
          if (one === undefined || two === undefined) return yield* Effect.dieMessage("a process is missing")
          const caller = newCaller()
          yield* one.admit(caller, 400)
          const { status } = yield* two.admit(caller, 300)
          expect(status.requests).toMatchObject({ limit: 5, remaining: 3 })
          expect(status.tokens?.limit).toBe(1_000)
          expect(status.tokens?.remaining).toBeGreaterThanOrEqual(300)
          expect(status.tokens?.remaining).toBeLessThan(400)
          const refused = yield* Effect.flip(one.admit(caller, 900))
          expect(refused).toMatchObject({ message: "Rate limit reached: tokens per minute of this key." })
          // another key of another project has its own
          yield* one.admit(newCaller(), 900)
        })
      )
    ))

  it("a limit of a billion a minute is one", () =>
    runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const most = 1_000_000_000
          const [one] = yield* processes(1, { key: { tokensPerMinute: most, requestsPerMinute: most } })
          if (one === undefined) return yield* Effect.dieMessage("a process is missing")
          // a key that has no row yet, and one that has
          const caller = newCaller()
          for (let times = 0; times < 2; times++) {
            const { status } = yield* one.admit(caller, 400)
            expect(status).toMatchObject({
              requests: { limit: most, remaining: most - 1 },
              tokens: { limit: most, remaining: most - 400 }
            })
          }
        })
      )
    ))

  it("a clock of the database that was set back refuses nothing", () =>
    runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const [one] = yield* processes(1, { key: { requestsPerMinute: 3 } })
          if (one === undefined) return yield* Effect.dieMessage("a process is missing")
          const caller = newCaller()
          yield* one.admit(caller, 0)
          yield* sql`update rate_limit set at_millis = at_millis + 3600000 where scope_id = ${caller.keyId}`
          expect((yield* one.admit(caller, 0)).status.requests).toMatchObject({ limit: 3, remaining: 1 })
        })
      )
    ))

  it.each([0, 600_000])(
    "a key whose limit is lowered waits a minute at most, %s ms after its last request",
    (idleMillis) =>
      runtime.runPromise(
        Effect.scoped(
          Effect.gen(function* () {
            const sql = yield* SqlClient
            const [one] = yield* processes(1, {})
            if (one === undefined) return yield* Effect.dieMessage("a process is missing")
            const caller = newCaller()
            const used = one.admit(withOwn(caller, { requestsPerMinute: 200 }), 0)
            yield* Effect.replicateEffect(used, 100, { concurrency: "unbounded", discard: true })
            yield* sql`update rate_limit set at_millis = at_millis - ${idleMillis}::bigint where scope_id = ${caller.keyId}`
            const lowered = withOwn(caller, { requestsPerMinute: 2 })
            if (idleMillis > 0) return void (yield* one.admit(lowered, 0))
            const refused = yield* Effect.flip(one.admit(lowered, 0))
            expect(refused).toMatchObject({ _tag: "RateLimited", retryAfterMillis: 30_000 })
          })
        )
      )
  )

  it("a request above a whole minute's limit is waited for as long as it takes while the limit stays", () =>
    runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const [one] = yield* processes(1, { key: { tokensPerMinute: 1 } })
          if (one === undefined) return yield* Effect.dieMessage("a process is missing")
          const caller = newCaller()
          yield* one.admit(caller, 5)
          for (let times = 0; times < 2; times++) {
            const refused = yield* Effect.flip(one.admit(caller, 1))
            expect(refused._tag === "RateLimited" && refused.retryAfterMillis).toBeGreaterThan(240_000)
          }
        })
      )
    ))

  it("a concurrency limit counts the requests that ran when it was set, for the other processes too", () =>
    runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const [one, other] = yield* processes(2, {})
          if (one === undefined || other === undefined) return yield* Effect.dieMessage("a process is missing")
          const caller = newCaller()
          const { release } = yield* one.admit(caller, 0)
          const limited = withOwn(caller, { concurrentRequests: 1 })
          yield* Effect.flip(one.admit(limited, 0))
          yield* Effect.flip(other.admit(limited, 0))
          release()
          yield* Effect.retry(other.admit(limited, 0), { times: 40, schedule: Schedule.spaced(50) })
        })
      )
    ))

  it("a limit that is set again after there was none starts with nothing taken", () =>
    runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const [one] = yield* processes(1, { project: { requestsPerMinute: 1_000 } })
          if (one === undefined) return yield* Effect.dieMessage("a process is missing")
          const caller = newCaller()
          const limited = withOwn(caller, { requestsPerMinute: 1 })
          yield* one.admit(limited, 0)
          yield* one.admit(caller, 0)
          yield* one.admit(limited, 0)
        })
      )
    ))

  it("a request that is refused counts for nothing", () =>
    runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const [one] = yield* processes(1, { key: { tokensPerMinute: 1_000 } })
          if (one === undefined) return yield* Effect.dieMessage("a process is missing")
          const caller = newCaller()
          yield* one.admit(caller, 400)
          for (let times = 0; times < 3; times++) yield* Effect.flip(one.admit(caller, 900))
          expect((yield* one.admit(caller, 300)).status.tokens?.remaining).toBeGreaterThanOrEqual(300)
        })
      )
    ))

  it("requests at the same time are counted over all processes until they end, and those of a closed process do not count", () =>
    runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const [one] = yield* processes(1, { project: { concurrentRequests: 3 } })
          if (one === undefined) return yield* Effect.dieMessage("a process is missing")
          const caller = newCaller()
          const first = yield* one.admit(caller, 0)
          yield* Effect.scoped(
            Effect.gen(function* () {
              const [other] = yield* processes(1, { project: { concurrentRequests: 3 } })
              if (other === undefined) return yield* Effect.dieMessage("a process is missing")
              const { release } = yield* other.admit(caller, 0)
              yield* one.admit(caller, 0)
              expect(yield* Effect.flip(other.admit(caller, 0))).toMatchObject({
                message: "Rate limit reached: concurrent requests of this project."
              })
              release()
              release()
              // what has ended is written with the next admission of the process
              yield* other.admit(newCaller(), 0)
              yield* one.admit(caller, 0)
              yield* Effect.flip(one.admit(caller, 0))
            })
          )
          first.release()
          yield* one.admit(caller, 0)
        })
      )
    ))

  it("a request that ends while a batch is being written frees its place without another one", () =>
    runtime.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const [one, other] = yield* processes(2, { key: { concurrentRequests: 1 } })
          if (one === undefined || other === undefined) return yield* Effect.dieMessage("a process is missing")
          const caller = newCaller()
          const { release } = yield* one.admit(caller, 0)
          const writing = yield* Effect.fork(one.admit(newCaller(), 0))
          yield* Effect.yieldNow()
          yield* Effect.promise(() => Promise.resolve())
          release()
          yield* writing
          const admitted = yield* Effect.retry(other.admit(caller, 0), { times: 40, schedule: Schedule.spaced(50) })
          admitted.release()
        })
      )
    ))
})

effect("counts its requests for the other processes again as soon as an outage is over", () => {
  let isAway = false
  const written: Array<unknown> = []
  const one = { verdicts: [""], waits: ["0"], remaining: ["0", "0", "0", "0"], resets: ["0", "0", "0", "0"] }
  const database = Layer.succeed(Database, {
    kind: "postgres",
    died: Effect.never,
    prepare: (name) => (parameters) =>
      Effect.suspend(() => {
        if (name !== "rate_limit_admit") return Effect.succeed([])
        if (isAway) return Effect.fail(new SqlError({ cause: new Error("no connection") }))
        written.push(parameters[2])
        return Effect.succeed([one])
      })
  })
  const ids = IdGenerator.layer.pipe(Layer.provide(Timers.layer))
  const limiter = StoredRateLimits.layer({ key: none, project: { ...none, concurrentRequests: 2 } })
  const turn = Effect.promise(() => new Promise((resume) => setImmediate(resume)))
  const passes = (duration: Duration.DurationInput) => Effect.zipRight(TestClock.adjust(duration), turn)
  return Effect.gen(function* () {
    const limits = yield* RateLimits
    yield* limits.admit(newCaller(), 0)
    isAway = true
    yield* passes("70 seconds")
    expect(written).toEqual(["{0,0}"])
    isAway = false
    yield* passes("1 second")
    expect(written).toEqual(["{0,0}", "{1,1}"])
    yield* passes("5 seconds")
    expect(written).toHaveLength(2)
  }).pipe(Effect.provide(Layer.provide(limiter, [database, ids])))
})

it("fails at once a request for which too many others wait already", async () => {
  const stalled = Layer.succeed(Database, {
    kind: "postgres",
    died: Effect.never,
    prepare: () => () => Effect.never
  })
  const ids = IdGenerator.layer.pipe(Layer.provide(Timers.layer))
  const limiter = StoredRateLimits.layer({ key: { ...none, requestsPerMinute: 1 }, project: none })
  const failed = Effect.gen(function* () {
    const limits = yield* RateLimits
    // those of the statement that does not end, and those that wait behind it
    yield* Effect.forEach(Array.from({ length: 256 + 4_096 }), () => Effect.fork(limits.admit(newCaller(), 0)))
    yield* Effect.yieldNow()
    return yield* Effect.timeout(Effect.flip(limits.admit(newCaller(), 0)), 2_000)
  })
  const error = await Effect.runPromise(Effect.provide(failed, Layer.provide(limiter, [stalled, ids])))
  expect(error).toMatchObject({ _tag: "StoreUnavailable", cause: "too much is waiting" })
})
