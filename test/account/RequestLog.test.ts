import { randomUUID } from "node:crypto"
import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { findEnded, RequestLog } from "../../src/account/requests/RequestLog.ts"
import { type RequestFilter, RequestLogStore } from "../../src/account/requests/RequestLogStore.ts"
import { cost } from "../../src/domain/Call.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { AccountId, KeyId, ProjectId } from "../../src/domain/Ids.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { usage } from "../../src/domain/Usage.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { RequestOut } from "../../src/wire/account/Requests.ts"
import { databases } from "../ledger/databases.ts"
import { newCaller, option, settled, voided, wants } from "../ledger/fixtures.ts"
import { logCalls } from "./calls.ts"

const maxScanned = 10

/** Every item of a list, page by page. */
const walk = (project: ProjectId, filter: RequestFilter, limit: number) =>
  Effect.gen(function* () {
    const log = yield* RequestLog
    const ids: Array<string> = []
    let after: string | null = null
    let pages = 0
    do {
      const page: Effect.Effect.Success<ReturnType<typeof log.page>> = yield* log.page(project, filter, after, limit)
      expect(page.items.length).toBeLessThanOrEqual(limit)
      ids.push(...page.items.map(({ id }) => id))
      after = page.next
      pages += 1
    } while (after !== null)
    return { ids, pages }
  })

for (const [name, database] of databases) {
  describe(`the request log on ${name}`, () => {
    const services = RequestLog.layer.pipe(
      Layer.provide(RequestLogStore.layer({ maxScanned })),
      Layer.provideMerge(LedgerLayer()),
      Layer.provideMerge(database),
      Layer.provide(IdGenerator.layer),
      Layer.provideMerge(Timers.layer)
    )
    layer(services, { timeout: 60_000, excludeTestServices: true })((it) => {
      it.effect("lists a call once, however many end while a page is read", () =>
        Effect.gen(function* () {
          for (let at = 0; at < 20; at++) {
            const caller = {
              accountId: AccountId.make(randomUUID()),
              projectId: ProjectId.make(randomUUID()),
              keyId: KeyId.make(randomUUID())
            }
            // the last call that is read for the first page
            const rare = maxScanned - 1
            yield* logCalls(
              Array.from({ length: 30 }, (_, place) => ({
                caller,
                agoSeconds: 100 + place,
                model: place === rare ? "acme/rare" : "sim/large"
              }))
            )
            const ending = logCalls([1, 2, 3].map(() => ({ caller, agoSeconds: 0 })))
            const [{ ids }] = yield* Effect.all(
              [
                walk(caller.projectId, { model: "acme/rare" }, 20),
                Effect.zipRight(Effect.repeatN(Effect.yieldNow(), at), ending)
              ],
              { concurrency: "unbounded" }
            )
            expect(ids.length).toBe(1)
          }
        })
      )

      it.effect("has a call as the ledger has written it, with its attempts", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const log = yield* RequestLog
          const caller = yield* newCaller({})
          const hold = yield* ledger.reserve(wants(caller, option(100)))
          const attempts = [
            {
              provider: "acme",
              model: "acme/a",
              status: "error" as const,
              error: { code: "provider_timeout", message: "No answer in time." },
              cost: cost(0, "charged"),
              latency_ms: 7.5
            },
            {
              provider: "sim",
              model: "sim/large",
              status: "success" as const,
              error: null,
              cost: cost(42, "charged"),
              latency_ms: 12.5
            }
          ]
          yield* ledger.settle(
            hold,
            settled(42, {
              attempts,
              routingConfig: "cheap",
              clientRequestId: "mine",
              usage: usage({
                inputTokens: 10,
                cacheReadTokens: 5,
                cacheWriteTokens: 1,
                outputTokens: 20,
                reasoningTokens: 4
              })
            })
          )
          yield* ledger.flushed
          const request = Option.getOrThrow(yield* log.find(hold.callId))
          expect(Schema.is(RequestOut)(request)).toBe(true)
          expect(request).toMatchObject({
            id: hold.callId,
            project_id: caller.projectId,
            key_id: caller.keyId,
            key_name: null,
            endpoint: "chat",
            stream: true,
            status: "success",
            error: null,
            requested_model: "auto",
            model: "sim/large",
            provider: "sim",
            reason: "quality_cost_tradeoff",
            routing_config: "cheap",
            policy_version: 1,
            candidate_pool: { models: ["sim/large", "sim/small"] },
            cost: cost(42, "charged"),
            usage: {
              prompt_tokens: 16,
              completion_tokens: 24,
              total_tokens: 40,
              prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 1 },
              completion_tokens_details: { reasoning_tokens: 4 }
            },
            latency_ms: 12.5,
            first_content_ms: 3.25,
            client_request_id: "mine",
            attempts,
            started_at: "2026-01-01T00:00:00.123Z"
          })
          expect((yield* log.page(caller.projectId, {}, null, 20)).items).toEqual([request])
        })
      )

      it.effect("has the models that each call was chosen from, whether their row has names or numbers", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const log = yield* RequestLog
          const caller = yield* newCaller({})
          const pools = [["sim/a", "sim/b", "sim/c"], ["sim/c", "sim/a"], ["sim/b"]] as const
          const isWritten = sql`select 1 from call where project_id = ${caller.projectId} and pool_numbers is not null limit 1`
          let hasNumbers = false
          while (!hasNumbers) {
            for (const models of pools) {
              yield* ledger.settle(yield* ledger.reserve(wants(caller, option(1))), settled(1, { pool: { models } }))
            }
            yield* ledger.flushed
            hasNumbers = (yield* isWritten).length > 0
          }
          const { items } = yield* log.page(caller.projectId, {}, null, 6)
          const shown = new Set(items.map(({ candidate_pool }) => candidate_pool.models.join(" ")))
          expect([...shown].sort()).toEqual(pools.map((models) => models.join(" ")).sort())
        })
      )

      it.effect("has a call without usage, and no call of another id", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const log = yield* RequestLog
          const caller = yield* newCaller({})
          const hold = yield* ledger.reserve(wants(caller, option(100)))
          yield* ledger.settle(hold, voided)
          yield* ledger.flushed
          expect(Option.getOrThrow(yield* log.find(hold.callId))).toMatchObject({
            status: "error",
            usage: null,
            cost: cost(0, "charged"),
            error: { code: "all_providers_failed", message: null }
          })
          expect(Option.isNone(yield* log.find(randomUUID()))).toBe(true)
        })
      )

      it.effect("finds a call whose settlement another node writes meanwhile, and waits for no other", () =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const log = yield* RequestLog
          const hold = yield* ledger.reserve(wants(yield* newCaller({}), option(100)))
          const find = (id: string, openUntil: number) =>
            Effect.suspend(() => {
              let looked = 0
              const isOpen = (call: string) =>
                Effect.tap(log.isOpen(call), () =>
                  ++looked === openUntil
                    ? Effect.zipRight(ledger.settle(hold, settled(42)), ledger.flushed)
                    : Effect.void
                )
              const found = findEnded({ find: log.find, isOpen }, Effect.void, id)
              return Effect.map(found, (request) => ({ cost: Option.getOrNull(request)?.cost ?? null, looked }))
            })
          // it goes on
          expect(yield* find(hold.callId, Number.POSITIVE_INFINITY)).toEqual({ cost: null, looked: 7 })
          expect(yield* find(hold.callId, 4)).toEqual({ cost: cost(42, "charged"), looked: 5 })
          expect(yield* find(randomUUID(), 1)).toEqual({ cost: null, looked: 1 })
          expect(yield* find("no id", 1)).toEqual({ cost: null, looked: 1 })
        })
      )

      const project = () => ({
        accountId: AccountId.make(randomUUID()),
        projectId: ProjectId.make(randomUUID()),
        keyId: KeyId.make(randomUUID())
      })

      it.effect("pages go through all calls once, the newest first, also where many ended at once", () =>
        Effect.gen(function* () {
          const caller = project()
          yield* logCalls(
            Array.from({ length: 13 }, (_, index) => ({ caller, agoSeconds: 1_000 + Math.floor(index / 4) }))
          )
          yield* logCalls([{ caller: project(), agoSeconds: 1_000 }])
          const sql = yield* SqlClient
          const expected = (yield* sql<{ id: string }>`
            select id from call where project_id = ${caller.projectId} order by written_at desc, id desc`).map(
            ({ id }) => id
          )
          for (const limit of [1, 3, 4, 12, 13, 20]) {
            expect((yield* walk(caller.projectId, {}, limit)).ids).toEqual(expected)
          }
          // what ends meanwhile does not move the pages after it
          const log = yield* RequestLog
          const first = yield* log.page(caller.projectId, {}, null, 5)
          yield* logCalls([{ caller, agoSeconds: 0 }])
          const second = yield* log.page(caller.projectId, {}, first.next, 5)
          expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(expected.slice(0, 10))
          const all = yield* Stream.runCollect(log.all(caller.projectId, {}))
          expect(
            Chunk.toReadonlyArray(all)
              .map(({ id }) => id)
              .slice(1)
          ).toEqual(expected)
        })
      )

      it.effect(
        "filters by status, model, provider, key and time, and reads a bounded number of calls for a page",
        () =>
          Effect.gen(function* () {
            const caller = project()
            const other = { ...caller, keyId: KeyId.make(randomUUID()) }
            const stranger = { ...project(), keyId: other.keyId }
            yield* logCalls([
              ...Array.from({ length: 40 }, (_, index) => ({
                caller: index % 10 === 3 ? other : caller,
                agoSeconds: 100 * index,
                model: index === 35 ? "acme/rare" : "sim/large",
                status: index % 7 === 6 ? ("error" as const) : ("success" as const)
              })),
              { caller: stranger, agoSeconds: 5 }
            ])
            const sql = yield* SqlClient
            const idsWhere = (condition: string) =>
              Effect.map(
                sql.unsafe<{ id: string }>(
                  `select id from call where project_id = $1 and ${condition} order by written_at desc, id desc`,
                  [caller.projectId]
                ),
                (rows) => rows.map(({ id }) => id)
              )
            const [times] = yield* sql<{ from: Date; to: Date }>`
            select (array_agg(written_at order by written_at))[10] as from, (array_agg(written_at order by written_at))[20] as to
            from call where project_id = ${caller.projectId}`
            const cases: ReadonlyArray<readonly [RequestFilter, condition: string, count: number]> = [
              [{ status: "error" }, "status = 'error'", 5],
              [{ status: "timeout" }, "status = 'timeout'", 0],
              [{ model: "acme/rare" }, "model = 'acme/rare'", 1],
              [{ provider: "sim" }, "provider = 'sim'", 39],
              [{ key: other.keyId }, `key_id = '${other.keyId}'`, 4],
              [
                { key: caller.keyId, status: "error", provider: "sim" },
                `key_id = '${caller.keyId}' and status = 'error'`,
                4
              ]
            ]
            for (const [filter, condition, count] of cases) {
              const expected = yield* idsWhere(condition)
              const { ids, pages } = yield* walk(caller.projectId, filter, 20)
              expect([filter, ids]).toEqual([filter, expected])
              expect(ids).toHaveLength(count)
              expect(pages).toBeLessThanOrEqual(5)
            }
            const rare = yield* (yield* RequestLog).page(caller.projectId, { model: "acme/rare" }, null, 20)
            expect(rare.items).toEqual([])
            expect(rare.next).not.toBeNull()
            // milliseconds are what a client can say; the rows have microseconds
            const { ids } = yield* walk(caller.projectId, { from: times?.from, to: times?.to }, 20)
            expect(ids.length).toBeGreaterThanOrEqual(9)
            expect(ids.length).toBeLessThanOrEqual(11)
          })
      )
    })
  })
}
