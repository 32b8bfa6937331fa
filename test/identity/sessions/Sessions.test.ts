import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../../src/audit/Audit.ts"
import { hashOf as auditHashOf, chainStart } from "../../../src/audit/AuditChain.ts"
import { AuditStore } from "../../../src/audit/AuditStore.ts"
import { Unauthenticated } from "../../../src/domain/GatewayError.ts"
import { AccountId, RequestId, UserId } from "../../../src/domain/Ids.ts"
import { AccountStore } from "../../../src/identity/projects/AccountStore.ts"
import { SessionStore } from "../../../src/identity/sessions/SessionStore.ts"
import { maxIdleMillis, maxSessionMillis, Sessions } from "../../../src/identity/sessions/Sessions.ts"
import { AccountTransactions } from "../../../src/sql/AccountDatabase.ts"
import * as VirtualTimers from "../../../src/testing/doubles/VirtualTimers.ts"
import { databases, node, sharedDatabases, told } from "../keys/Nodes.ts"

const userId = UserId.make("00000000-0000-7000-8000-000000000001")
const accountId = AccountId.make("00000000-0000-7000-8000-000000000002")
const requestId = RequestId.make("00000000-0000-7000-8000-000000000003")
const signIn = { transport: "bearer", address: "127.0.0.1", userAgent: undefined, requestId } as const
const user = {
  userId,
  accountId,
  isOperator: false,
  sessionId: null,
  transport: "bearer",
  address: "",
  requestId
} as const

const startMillis = Date.UTC(2026, 0, 1)

type AnyDatabase = Parameters<typeof node>[0]

const sessionsOn = <E>(
  database: Layer.Layer<Layer.Layer.Success<AnyDatabase>, E>,
  timers: VirtualTimers.VirtualTimers,
  store: ReturnType<typeof SessionStore.layer> = SessionStore.layer(null)
) =>
  Sessions.layer.pipe(
    Layer.provideMerge(Audit.layer),
    Layer.provideMerge(Layer.merge(AuditStore.layer, store)),
    Layer.provideMerge(AccountTransactions.layer),
    Layer.provideMerge(node(database, timers))
  )

/** The store, with the times of the uses that are written down. */
const storeWithUses = (uses: Array<number>): ReturnType<typeof SessionStore.layer> =>
  Layer.effect(
    SessionStore,
    Effect.map(SessionStore, (store) => ({
      ...store,
      touch: (id, at) =>
        Effect.zipRight(
          Effect.sync(() => uses.push(at.getTime())),
          store.touch(id, at)
        )
    }))
  ).pipe(Layer.provide(SessionStore.layer(null)))

const person = Effect.flatMap(AccountStore, (accounts) => accounts.create({ userId, accountId, name: "a person" }))

const isValid = (token: string) =>
  Effect.flatMap(Sessions, (sessions) =>
    Effect.match(sessions.authenticate(token, "127.0.0.1"), {
      onSuccess: () => true,
      onFailure: (error) => (error instanceof Unauthenticated ? false : error)
    })
  )

describe.each(databases)("sessions on %s", (_, database) => {
  it.scopedLive("end after 12 hours without use, to the millisecond, and after 7 days in any case", () =>
    Effect.gen(function* () {
      const timers = VirtualTimers.make(startMillis)
      const context = yield* Layer.build(sessionsOn(yield* database, timers))
      yield* Effect.gen(function* () {
        yield* person
        const sessions = yield* Sessions
        const [used, idle] = [yield* sessions.open(user, signIn), yield* sessions.open(user, signIn)]
        timers.advance(maxIdleMillis - 1)
        expect([yield* isValid(used.token), yield* isValid(idle.token)]).toEqual([true, true])
        // this use of both counts, so that only the second is not used from here on
        for (let at = maxIdleMillis - 1; at < maxSessionMillis - maxIdleMillis; at += maxIdleMillis / 2) {
          timers.advance(maxIdleMillis / 2)
          expect(yield* isValid(used.token)).toBe(true)
        }
        expect(yield* isValid(idle.token)).toBe(false)
        const left = used.expiresAt.getTime() - timers.now()
        expect(left).toBeGreaterThan(0)
        timers.advance(Math.min(left, maxIdleMillis - 1) - 1)
        expect(yield* isValid(used.token)).toBe(true)
        timers.advance(used.expiresAt.getTime() - timers.now() - 1)
        expect(yield* isValid(used.token)).toBe(true)
        timers.advance(1)
        expect(yield* isValid(used.token)).toBe(false)
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive(
    "are not refused after many sign-ins of their address that were interrupted, or failed by a defect",
    () =>
      Effect.gen(function* () {
        const context = yield* Layer.build(sessionsOn(yield* database, VirtualTimers.make(startMillis)))
        yield* Effect.gen(function* () {
          const sessions = yield* Sessions
          for (const ending of [Effect.interrupt, Effect.dieMessage("a defect")]) {
            for (let i = 0; i < 1_000; i++) yield* Effect.exit(sessions.guarded("127.0.0.1", ending))
          }
          expect(yield* Effect.flip(sessions.guarded("127.0.0.1", Effect.fail(new Unauthenticated())))).toEqual(
            new Unauthenticated()
          )
        }).pipe(Effect.provide(context))
      })
  )

  it.scopedLive("write down their use once a minute, however many requests come", () =>
    Effect.gen(function* () {
      const uses: Array<number> = []
      const timers = VirtualTimers.make(startMillis)
      const context = yield* Layer.build(sessionsOn(yield* database, timers, storeWithUses(uses)))
      yield* Effect.gen(function* () {
        yield* person
        const { token } = yield* (yield* Sessions).open(user, signIn)
        const seconds = [0, 58, 59, 60, 61, 62, 63, 66, 90, 119, 120, 120, 121, 300, 301]
        for (const second of seconds) {
          timers.advance(startMillis + second * 1_000 - timers.now())
          yield* Effect.all([isValid(token), isValid(token)], { concurrency: 2 })
        }
        expect(uses).toEqual([60, 120, 300].map((second) => startMillis + second * 1_000))
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive("store no token, and leave a chain that shows every later change of the log", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(sessionsOn(yield* database, VirtualTimers.make(startMillis)))
      yield* Effect.gen(function* () {
        yield* person
        const sessions = yield* Sessions
        const opened = yield* sessions.open(user, signIn)
        yield* sessions.revoke(user, opened.id)
        expect(yield* isValid(opened.token)).toBe(false)
        const rows = yield* (yield* AuditStore).chain(accountId, 0, 10)
        expect(rows.map(({ action }) => action)).toEqual(["session.create", "session.revoke"])
        let previous = chainStart
        for (const row of rows) {
          expect(Buffer.from(row.previousHash).equals(previous)).toBe(true)
          expect(auditHashOf(row, previous).equals(row.hash)).toBe(true)
          expect(auditHashOf({ ...row, address: "elsewhere" }, previous).equals(row.hash)).toBe(false)
          previous = row.hash
        }
      }).pipe(Effect.provide(context))
    })
  )

  it.scopedLive("share one chain without gaps, however many changes come at once", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(sessionsOn(yield* database, VirtualTimers.make(startMillis)))
      yield* Effect.gen(function* () {
        yield* person
        const sessions = yield* Sessions
        yield* Effect.all(
          Array.from({ length: 20 }, () => sessions.open(user, signIn)),
          { concurrency: "unbounded" }
        )
        const rows = yield* (yield* AuditStore).chain(accountId, 0, 100)
        expect(rows.map(({ position }) => position)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
      }).pipe(Effect.provide(context))
    })
  )
})

describe.each(sharedDatabases)("sessions of several nodes on %s", (_, database) => {
  it.scopedLive("end on every node when one revokes them", () =>
    Effect.gen(function* () {
      const shared = yield* database
      const [one, two] = [
        yield* Layer.build(Layer.fresh(sessionsOn(shared, VirtualTimers.make(startMillis)))),
        yield* Layer.build(Layer.fresh(sessionsOn(shared, VirtualTimers.make(startMillis))))
      ]
      // a change before the other node listens is not heard as a change of its own
      yield* Effect.provide(told(undefined), two)
      const { id, token } = yield* Effect.zipRight(
        person,
        Effect.flatMap(Sessions, (sessions) => sessions.open(user, signIn))
      ).pipe(Effect.provide(one))
      expect([yield* Effect.provide(isValid(token), one), yield* Effect.provide(isValid(token), two)]).toEqual([
        true,
        true
      ])
      yield* Effect.provide(
        Effect.flatMap(Sessions, (sessions) => sessions.revoke(user, id)),
        one
      )
      expect(yield* Effect.provide(isValid(token), one)).toBe(false)
      yield* Effect.provide(told({ kind: "session", id }), two)
      expect(yield* Effect.provide(isValid(token), two)).toBe(false)
    })
  )
})
