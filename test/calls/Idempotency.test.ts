import { randomBytes, randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { describe } from "vitest"
import {
  Idempotency,
  type IdempotentCall,
  type IdempotentRequest,
  type KeptAnswer
} from "../../src/calls/Idempotency.ts"
import { IdempotencyStore } from "../../src/calls/IdempotencyStore.ts"
import type { CallerShape } from "../../src/domain/Caller.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { zero } from "../../src/domain/Money.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { LedgerNode } from "../../src/ledger/LedgerNodeStore.ts"
import { LedgerStore } from "../../src/ledger/LedgerStore.ts"
import * as RecoveryStore from "../../src/ledger/RecoveryStore.ts"
import type { Scopes } from "../../src/ledger/Scopes.ts"
import { Database } from "../../src/sql/Database.ts"
import * as MemoryIdempotency from "../../src/testing/doubles/MemoryIdempotency.ts"
import { MemoryLedger } from "../../src/testing/index.ts"
import { databases } from "../ledger/databases.ts"
import { newCaller, newCallId, option, settled, voided } from "../ledger/fixtures.ts"

const mebibyte = 1024 * 1024
const answerOf = (length: number): KeptAnswer => ({
  status: 200,
  contentType: "application/json",
  headers: { "cache-control": "no-store" },
  body: Buffer.alloc(length, "a")
})

const requestOf = (caller: CallerShape, more: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  caller,
  idempotencyKey: "name",
  requestId: newCallId(),
  path: "/v1/chat/completions",
  body: Buffer.from("{}"),
  ...more
})

const begin = (request: IdempotentRequest) => Effect.flatMap(Idempotency, (idempotency) => idempotency.begin(request))

const run = (request: IdempotentRequest) =>
  Effect.flatMap(begin(request), (begun) =>
    begun._tag === "Run" ? Effect.succeed(begun) : Effect.dieMessage("the request is to be run")
  )

const reserve = (request: IdempotentRequest) =>
  Effect.flatMap(Ledger, (ledger) =>
    ledger.reserve({
      callId: request.requestId,
      caller: request.caller,
      requestedModel: "auto",
      options: [option(400)],
      maxWaitMillis: 0
    })
  )

/** Ends a call as the gateway does: its settlement keeps the response, or the key is released. */
const settle = (request: IdempotentRequest, call: IdempotentCall, answer: KeptAnswer | undefined) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const kept = answer && call.seal(answer)
    const hold = { callId: request.requestId, caller: request.caller, option: 0, amount: option(400).max, room: zero }
    yield* ledger.settle(hold, { ...(answer === undefined ? voided : settled(100)), kept })
    yield* ledger.flushed
    if (kept === undefined) yield* call.release
    call.ended()
  })

const ran = (request: IdempotentRequest, answer: KeptAnswer | undefined) =>
  Effect.gen(function* () {
    const call = yield* run(request)
    yield* reserve(request)
    yield* settle(request, call, answer)
  })

const inProgress = { _tag: "RateLimited", code: "idempotent_request_in_progress" }
const spent = (caller: CallerShape) =>
  Effect.flatMap(Ledger, (ledger) => Effect.map(ledger.balance(caller.accountId), (balance) => balance.spentMicroUsd))

const memory = MemoryIdempotency.layer.pipe(Layer.provideMerge(MemoryLedger.layer))

const onDatabase = (database: (typeof databases)[number][1]) =>
  Idempotency.layer.pipe(
    Layer.provideMerge(IdempotencyStore.layer),
    Layer.provideMerge(LedgerLayer()),
    Layer.provideMerge(LedgerStore.layer),
    Layer.provideMerge(LedgerNode.layer),
    Layer.provideMerge(database),
    Layer.provide(IdGenerator.layer),
    Layer.provideMerge(Timers.layer)
  )

/** A caller whose key exists, where there is a database. */
const knownCaller = Effect.gen(function* () {
  const caller = yield* newCaller({ credit: 10_000 })
  const sql = yield* Effect.serviceOption(SqlClient)
  if (Option.isNone(sql)) return caller
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient
    const user = randomUUID()
    yield* sql`insert into app_user (id, name) values (${user}, 'someone')`
    yield* sql`insert into account (id, user_id) values (${caller.accountId}, ${user})`
    yield* sql`insert into project (id, account_id, name) values (${caller.projectId}, ${caller.accountId}, 'p')`
    yield* sql`insert into api_key (id, hash, key_prefix, name, project_id)
      values (${caller.keyId}, ${randomBytes(32)}, 'mrg_sk_prefi', 'k', ${caller.projectId})`
  }).pipe(Effect.provideService(SqlClient, sql.value))
  return caller
})

const everywhere: ReadonlyArray<readonly [name: string, layer: Layer.Layer<Idempotency | Ledger | Scopes, unknown>]> = [
  ["memory", memory],
  ...databases.map(([name, database]) => [name, onDatabase(database)] as const)
]

for (const [name, services] of everywhere) {
  describe(`a request under an Idempotency-Key on ${name}`, () => {
    layer(services, { timeout: 60_000, excludeTestServices: true })((it) => {
      it.effect("is given the answer that was kept, with its status and headers", () =>
        Effect.gen(function* () {
          const request = requestOf(yield* knownCaller)
          const answer = { ...answerOf(3), status: 502, headers: { "x-should-retry": "false" } }
          yield* ran(request, answer)
          expect(yield* begin({ ...request, requestId: newCallId() })).toEqual({ _tag: "Replay", answer })
          expect(yield* spent(request.caller)).toBe(100)
        })
      )

      it.effect("is not run while it runs, nor while its settlement is not written", () =>
        Effect.gen(function* () {
          const request = requestOf(yield* knownCaller)
          const call = yield* run(request)
          expect(yield* Effect.flip(begin({ ...request, requestId: newCallId() }))).toMatchObject(inProgress)
          yield* reserve(request)
          expect(yield* Effect.flip(begin({ ...request, requestId: newCallId() }))).toMatchObject(inProgress)
          yield* settle(request, call, answerOf(3))
          expect((yield* begin({ ...request, requestId: newCallId() }))._tag).toBe("Replay")
        })
      )

      it.effect("is run again when nothing was kept", () =>
        Effect.gen(function* () {
          const request = requestOf(yield* knownCaller)
          yield* ran(request, undefined)
          expect((yield* begin({ ...request, requestId: newCallId() }))._tag).toBe("Run")
        })
      )

      it.effect.each([
        ["with another body", { body: Buffer.from("[]") }],
        ["at another endpoint", { path: "/v1/responses" }]
      ] as const)("is refused %s, while it runs and after it", ([, other]) =>
        Effect.gen(function* () {
          const reused = { _tag: "InvalidRequest", code: "idempotency_key_reused" }
          const request = requestOf(yield* knownCaller)
          const call = yield* run(request)
          yield* reserve(request)
          expect(yield* Effect.flip(begin({ ...request, ...other, requestId: newCallId() }))).toMatchObject(reused)
          yield* settle(request, call, answerOf(3))
          expect(yield* Effect.flip(begin({ ...request, ...other, requestId: newCallId() }))).toMatchObject(reused)
        })
      )

      it.effect("is another request for another API key", () =>
        Effect.gen(function* () {
          yield* ran(requestOf(yield* knownCaller), answerOf(3))
          expect((yield* begin(requestOf(yield* knownCaller)))._tag).toBe("Run")
        })
      )

      it.effect("is run again when its answer was larger than a mebibyte", () =>
        Effect.gen(function* () {
          const request = requestOf(yield* knownCaller)
          yield* ran(request, answerOf(mebibyte + 1))
          expect((yield* begin({ ...request, requestId: newCallId() }))._tag).toBe("Run")
        })
      )

      it.effect("is given an answer of a mebibyte", () =>
        Effect.gen(function* () {
          const request = requestOf(yield* knownCaller)
          yield* ran(request, answerOf(mebibyte))
          expect((yield* begin({ ...request, requestId: newCallId() }))._tag).toBe("Replay")
        })
      )
    })
  })
}

for (const [name, database] of databases) {
  describe(`a claim on an Idempotency-Key on ${name}`, () => {
    layer(onDatabase(database), { timeout: 60_000, excludeTestServices: true })((it) => {
      /** As if the process of this run had said nothing for a while. */
      const silent = (seconds: number) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const node = yield* LedgerNode
          yield* sql`update node set seen_at = now() - ${`${seconds} seconds`}::interval where id = ${node.id}`
        })
      const again = (request: IdempotentRequest) => begin({ ...request, requestId: newCallId() })
      const expireAll = Effect.flatMap(SqlClient, RecoveryStore.expireAll)

      it.effect("falls with the hold of its run: a late settlement keeps nothing, and charges nothing", () =>
        Effect.gen(function* () {
          const request = requestOf(yield* knownCaller)
          const lost = yield* run(request)
          yield* reserve(request)
          yield* expireAll
          yield* settle(request, { ...lost, release: Effect.void }, answerOf(3))
          const second = { ...request, requestId: newCallId() }
          const call = yield* run(second)
          yield* settle(request, lost, answerOf(3))
          expect(yield* Effect.flip(again(request))).toMatchObject(inProgress)
          yield* reserve(second)
          yield* settle(second, call, answerOf(4))
          expect(yield* again(request)).toMatchObject({ _tag: "Replay", answer: { body: answerOf(4).body } })
          expect(yield* spent(request.caller)).toBe(100)
        })
      )

      it.effect("of a silent process stands while its hold is open", () =>
        Effect.gen(function* () {
          const request = requestOf(yield* knownCaller)
          const call = yield* run(request)
          yield* reserve(request)
          yield* silent(61)
          expect(yield* Effect.flip(again(request))).toMatchObject(inProgress)
          yield* settle(request, call, answerOf(3))
          expect((yield* again(request))._tag).toBe("Replay")
          yield* silent(0)
        })
      )

      it.effect("of a silent process without a hold is taken over, and its hold comes too late", () =>
        Effect.gen(function* () {
          const request = requestOf(yield* knownCaller)
          yield* run(request)
          yield* silent(59)
          expect(yield* Effect.flip(again(request))).toMatchObject(inProgress)
          yield* silent(61)
          expect((yield* again(request))._tag).toBe("Run")
          expect((yield* Effect.exit(reserve(request)))._tag).toBe("Failure")
          expect(yield* (yield* Ledger).checkInvariants).toEqual([])
          yield* silent(0)
        })
      )

      it.effect("that was lost on its way back is released, those that run and those that hold money are not", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const store = yield* IdempotencyStore
          const caller = yield* knownCaller
          const [lost, running, held] = ["lost", "running", "held"].map((idempotencyKey) =>
            requestOf(caller, { idempotencyKey })
          ) as [IdempotentRequest, IdempotentRequest, IdempotentRequest]
          for (const request of [lost, running, held]) yield* run(request)
          yield* reserve(held)
          yield* store.releaseLost([running.requestId])
          expect(yield* Effect.flip(again(lost))).toMatchObject(inProgress)
          yield* sql`update idempotent_request set claimed_at = now() - interval '31 seconds' where key_id = ${caller.keyId}`
          yield* store.releaseLost([running.requestId])
          expect((yield* again(lost))._tag).toBe("Run")
          expect(yield* Effect.flip(again(running))).toMatchObject(inProgress)
          expect(yield* Effect.flip(again(held))).toMatchObject(inProgress)
        })
      )

      it.effect("of another process falls at the start where no other process can have the database open", () =>
        Effect.gen(function* () {
          const { kind } = yield* Database
          const sql = yield* SqlClient
          const request = requestOf(yield* knownCaller)
          yield* run(request)
          const other = randomUUID()
          yield* sql`insert into node (id) values (${other})`
          yield* sql`update idempotent_request set node = ${other} where key_id = ${request.caller.keyId}`
          yield* Effect.scoped(Layer.build(Layer.fresh(IdempotencyStore.layer)))
          const begun = yield* Effect.either(again(request))
          expect(begun._tag).toBe(kind === "embedded" ? "Right" : "Left")
        })
      )

      it.effect("is finished once by a batch that is written twice", () =>
        Effect.gen(function* () {
          const store = yield* LedgerStore
          const request = requestOf(yield* knownCaller)
          const call = yield* run(request)
          yield* reserve(request)
          const settlement = {
            ...settled(100),
            callId: request.requestId,
            caller: request.caller,
            kept: call.seal(answerOf(3))
          }
          yield* store.apply([], [settlement], 200)
          yield* store.apply([], [settlement], 200)
          expect((yield* again(request))._tag).toBe("Replay")
          expect(yield* spent(request.caller)).toBe(100)
        })
      )
    })
  })
}
