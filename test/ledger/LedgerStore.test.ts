import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { noCost } from "../../src/domain/Call.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { usage } from "../../src/domain/Usage.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { databases } from "./databases.ts"
import { newCaller, option, record, settled, voided, wants } from "./fixtures.ts"

for (const [name, database] of databases) {
  describe(`the ledger's tables on ${name}`, () => {
    layer(
      LedgerLayer.pipe(
        Layer.provideMerge(database),
        Layer.provide(IdGenerator.layer),
        Layer.provideMerge(Timers.layer)
      ),
      {
        timeout: 60_000,
        excludeTestServices: true
      }
    )((it) => {
      it.effect("a call's row and its attempts are written with the end of its hold, every field of them", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          const hold = yield* ledger.reserve(wants(caller, option(400)))
          const details = {
            inputAudioTokens: 6,
            outputAudioTokens: 7,
            acceptedPredictionTokens: 8,
            rejectedPredictionTokens: 9
          }
          yield* ledger.settle(
            hold,
            settled(123, {
              tokenDoctor: true,
              usage: usage({
                inputTokens: 1,
                cacheReadTokens: 2,
                cacheWriteTokens: 3,
                outputTokens: 4,
                reasoningTokens: 5,
                details
              }),
              routingConfig: "cheap",
              policyVersion: 3,
              clientRequestId: "mine",
              attempts: [
                {
                  provider: "acme",
                  model: "acme/x",
                  status: "timeout",
                  error: { code: "timeout", message: 'no "content" in time, {really}' },
                  cost: noCost,
                  latency_ms: 15_000.5
                },
                ...record().attempts
              ]
            })
          )
          yield* ledger.flushed
          const [row] =
            yield* sql`select *, extract(epoch from started_at) * 1000 as started from call where id = ${hold.callId}`
          expect(row).toMatchObject({
            key_id: caller.keyId,
            project_id: caller.projectId,
            account_id: caller.accountId,
            requested_model: "auto",
            model: "sim/large",
            provider: "sim",
            endpoint: "chat",
            stream: true,
            token_doctor: true,
            status: "success",
            error_code: null,
            error_message: null,
            cost_micro_usd: "123",
            cost_basis: "charged",
            input_tokens: "1",
            cache_read_tokens: "2",
            cache_write_tokens: "3",
            output_tokens: "4",
            reasoning_tokens: "5",
            input_audio_tokens: "6",
            output_audio_tokens: "7",
            accepted_prediction_tokens: "8",
            rejected_prediction_tokens: "9",
            latency_millis: 12.5,
            first_content_millis: 3.25,
            routing_config: "cheap",
            reason: "quality_cost_tradeoff",
            policy_version: "3",
            pool: ["sim/large", "sim/small"],
            client_request_id: "mine"
          })
          expect(Number(row?.["started"])).toBeCloseTo(1_767_225_600_123, 0)
          expect(
            yield* sql`select position, provider, model, status, error_code, error_message, latency_millis
              from attempt where call_id = ${hold.callId} order by position`
          ).toEqual([
            {
              position: 0,
              provider: "acme",
              model: "acme/x",
              status: "timeout",
              error_code: "timeout",
              error_message: 'no "content" in time, {really}',
              latency_millis: 15_000.5
            },
            {
              position: 1,
              provider: "sim",
              model: "sim/large",
              status: "success",
              error_code: null,
              error_message: null,
              latency_millis: 12.5
            }
          ])
        })
      )

      it.effect("text that PostgreSQL cannot hold does not stop a batch", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          const evil = `a\0b\ud800c\udc00\\u0000'"{},🙂`
          const hold = yield* ledger.reserve({ ...wants(caller, option(400)), requestedModel: evil })
          yield* ledger.settle(
            hold,
            settled(5, {
              requestedModel: evil,
              pool: { models: [evil] },
              clientRequestId: evil,
              error: { code: evil, message: evil }
            })
          )
          yield* ledger.flushed
          const kept = `a\ufffdb\ufffdc\ufffd\\u0000'"{},🙂`
          expect(
            yield* sql`select requested_model, pool, client_request_id, error_message from call where id = ${hold.callId}`
          ).toEqual([{ requested_model: kept, pool: [kept], client_request_id: kept, error_message: kept }])
          expect((yield* ledger.balance(caller.accountId)).spentMicroUsd).toBe(5)
        })
      )

      it.effect("every movement of money is one row, from one account to another", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          const account = `account:${caller.accountId}`
          const hold = yield* ledger.reserve(wants(caller, option(400)))
          yield* ledger.settle(hold, settled(450))
          yield* ledger.settle(yield* ledger.reserve(wants(caller, option(100))), voided)
          yield* ledger.flushed
          expect(
            yield* sql`select kind, debit, credit, amount_micro_usd::int as amount, source from journal
              where ${account} in (debit, credit) or call_id = ${hold.callId} order by id`
          ).toEqual([
            { kind: "credit", debit: "payments", credit: account, amount: 1_000, source: "opening" },
            { kind: "usage", debit: account, credit: "revenue", amount: 400, source: null },
            { kind: "overrun", debit: "house", credit: "revenue", amount: 50, source: null }
          ])
        })
      )

      it.effect("the journal is never changed", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          yield* newCaller({ credit: 1_000 })
          for (const change of ["update journal set amount_micro_usd = 1", "delete from journal", "truncate journal"]) {
            const outcome = yield* Effect.either(sql.unsafe(change))
            expect(Either.isLeft(outcome) && String(outcome.left.cause)).toContain("append-only")
          }
        })
      )

      it.effect("the audit names what does not add up", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          const hold = yield* ledger.reserve(wants(caller, option(400)))
          yield* ledger.settle(hold, settled(100))
          yield* ledger.flushed
          const broken: ReadonlyArray<readonly [change: string, found: string]> = [
            ["update scope set held_micro_usd = held_micro_usd + 1 where kind = 'key'", "sum of its open holds"],
            ["update scope set spent_micro_usd = spent_micro_usd + 1 where kind = 'project'", "sum of its closed ones"],
            [
              "update scope set limit_micro_usd = limit_micro_usd + 1 where kind = 'account'",
              "the sum of its credits in the journal"
            ],
            ["update scope set limit_micro_usd = 50 where kind = 'account'", "never spends and holds more"],
            [
              "update hold set actual_micro_usd = actual_micro_usd - 1 where actual_micro_usd > 0",
              "exactly its charge in the journal"
            ],
            [
              "update hold set state = 'expired', actual_micro_usd = 0 where state = 'settled'",
              "exactly its charge in the journal"
            ],
            ["update call set key_id = project_id", "a call's row belongs to a closed hold of the same key"],
            [
              "insert into journal (kind, debit, credit, amount_micro_usd, call_id) values ('overrun', 'house', 'revenue', 1, gen_random_uuid())",
              "are written off"
            ]
          ]
          for (const [change, found] of broken) {
            const violations = yield* sql
              .withTransaction(
                sql.unsafe(change).pipe(
                  Effect.zipRight(ledger.checkInvariants),
                  Effect.flatMap((violations) => Effect.fail({ violations }))
                )
              )
              .pipe(Effect.flip)
            expect("violations" in violations && violations.violations.join("\n"), change).toContain(found)
          }
          expect(yield* ledger.checkInvariants).toEqual([])
        })
      )

      // The index keeps an entry of every hold that was ever open until it is cleaned, and so grew slower by the minute.
      it.effect(
        "a batch finds its holds by their ids, without the index of open holds and without reading a table",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient
            const ledger = yield* Ledger
            const caller = yield* newCaller({})
            const ended = yield* ledger.reserve(wants(caller, option(10)))
            const { accountId, keyId, projectId } = caller
            const batch = sql`select verdicts from ledger_batch(gen_random_uuid(), array[gen_random_uuid()],
            array[false], array[false], array[${keyId}::uuid], array[${projectId}::uuid], array[${accountId}::uuid], array[true],
            array['auto'], array[1], array[10::bigint], array[null::bigint], array[10::bigint], array[${ended.callId}::uuid],
            array['settled'], array[5::bigint], null, null)`
            const scans = sql<
              Record<string, string>
            >`select pg_stat_get_xact_numscans('hold_open'::regclass) as open_holds,
            pg_stat_get_xact_numscans('hold'::regclass) as holds, pg_stat_get_xact_numscans('scope'::regclass) as scopes,
            pg_stat_get_xact_numscans('hold_pkey'::regclass) as by_id`
            const [[before], rows, [after]] = yield* sql.withTransaction(Effect.all([scans, batch, scans]))
            expect(rows).toEqual([{ verdicts: ["granted"] }])
            expect(after).toEqual({ ...before, by_id: expect.anything() })
            expect(Number(after?.["by_id"])).toBeGreaterThan(Number(before?.["by_id"]))
          })
      )
    })
  })
}
