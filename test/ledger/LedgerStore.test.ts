import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { noCost } from "../../src/domain/Call.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { microUsd } from "../../src/domain/Money.ts"
import { costOf, snapshotOf } from "../../src/domain/Prices.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { usage } from "../../src/domain/Usage.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { databases } from "./databases.ts"
import { newCaller, newCallId, option, settled, voided, wants } from "./fixtures.ts"

for (const [name, database] of databases) {
  describe(`the ledger's tables on ${name}`, () => {
    layer(
      LedgerLayer().pipe(
        Layer.provideMerge(database),
        Layer.provide(IdGenerator.layer),
        Layer.provideMerge(Timers.layer)
      ),
      {
        timeout: 60_000,
        excludeTestServices: true
      }
    )((it) => {
      it.effect("what the attempts of a project that pays its providers itself cost is not written off", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const caller = yield* newCaller({ billingMode: "byok" })
          const hold = yield* ledger.reserve(wants(caller, option(400)))
          yield* ledger.settle(hold, settled(5, { failedUsage: [{ usage: usage({}), cost: microUsd(9) }] }))
          yield* ledger.flushed
          expect(yield* sql`select kind from journal where call_id = ${hold.callId}`).toEqual([])
          expect(yield* ledger.checkInvariants).toEqual([])
        })
      )

      it.effect("the database computes a cost as the gateway does", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const count = fc.nat({ max: 3_000_000 })
          const rate = fc.nat({ max: 100_000_000 })
          const maybe = fc.option(rate)
          const rates = {
            input: rate,
            output: rate,
            cacheRead: maybe,
            cacheWrite: maybe,
            audioInput: maybe,
            audioOutput: maybe
          }
          const tier = fc.record({ ...rates, abovePromptTokens: fc.constantFrom(1_000, 200_000, 1_000_000) })
          const tiers = fc.uniqueArray(tier, { selector: ({ abovePromptTokens }) => abovePromptTokens })
          const list = fc.record({ ...rates, tiers }).map((one) => ({
            ...one,
            tiers: one.tiers.toSorted((a, b) => a.abovePromptTokens - b.abovePromptTokens)
          }))
          const prices = fc
            .tuple(list, list, fc.nat({ max: 50_000 }))
            .map(([standard, flex, webSearchMicroUsd]) => ({ ...standard, webSearchMicroUsd, serviceTiers: { flex } }))
          const terms = fc.record({
            serviceTier: fc.constantFrom(null, "flex"),
            webSearch: fc.boolean(),
            audioOutput: fc.constant(false)
          })
          const counts = fc.tuple(count, count, count, count, count, count, count)
          const cases = fc
            .sample(fc.tuple(prices, terms, counts), { numRuns: 200, seed: 11 })
            .map(([prices, terms, [input, cacheRead, cacheWrite, output, reasoning, audioIn, audioOut]]) => {
              const used = usage({
                inputTokens: input,
                cacheReadTokens: cacheRead,
                cacheWriteTokens: cacheWrite,
                outputTokens: output,
                reasoningTokens: reasoning,
                details: { inputAudioTokens: audioIn, outputAudioTokens: audioOut }
              })
              return {
                prices: snapshotOf(prices, terms),
                input,
                cache_read: cacheRead,
                cache_write: cacheWrite,
                output,
                reasoning,
                audio_in: audioIn,
                audio_out: audioOut,
                cost: costOf(prices, used, terms)
              }
            })
          const rows = yield* sql`select c.cost, c.prices from jsonb_to_recordset(${JSON.stringify(cases)}::jsonb) as
            c(prices text, input bigint, cache_read bigint, cache_write bigint, output bigint, reasoning bigint,
              audio_in bigint, audio_out bigint, cost numeric)
            where c.cost <> call_cost(c.prices::jsonb, c.input, c.cache_read, c.cache_write, c.output, c.reasoning,
              c.audio_in, c.audio_out)`
          expect(rows).toEqual([])
        })
      )

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
              prices: '{"input":0,"output":13666666}',
              failedUsage: [
                {
                  usage: usage({
                    inputTokens: 11,
                    cacheReadTokens: 12,
                    cacheWriteTokens: 13,
                    outputTokens: 14,
                    reasoningTokens: 15
                  }),
                  cost: microUsd(77)
                },
                null
              ],
              attemptUses: [
                { startedAtMillis: 1_767_225_600_000, usage: null, isReported: false, dropped: [] },
                {
                  startedAtMillis: 1_767_225_600_500,
                  usage: usage({ inputTokens: 10, outputTokens: 20 }),
                  isReported: true,
                  dropped: []
                }
              ],
              origin: "analysis",
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
                ...settled(123).record.attempts
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
            prices: { input: 0, output: 13_666_666 },
            latency_millis: 12.5,
            first_content_millis: 3.25,
            routing_config: "cheap",
            reason: "quality_cost_tradeoff",
            policy_version: "3",
            pool: expect.arrayContaining(["sim/large"]),
            client_request_id: "mine",
            conversation: Buffer.from("00112233445566778899aabbccddeeff", "hex"),
            origin: "analysis"
          })
          expect(Number(row?.["started"])).toBeCloseTo(1_767_225_600_123, 0)
          expect(
            yield* sql`select position, provider, model, status, error_code, error_message, latency_millis, input_tokens::int,
              cache_read_tokens::int, cache_write_tokens::int, output_tokens::int, reasoning_tokens::int,
              provider_cost_micro_usd::int, (extract(epoch from started_at) * 1000)::float8 as started
              from attempt where call_id = ${hold.callId} order by position`
          ).toEqual([
            {
              position: 0,
              provider: "acme",
              model: "acme/x",
              status: "timeout",
              error_code: "timeout",
              error_message: 'no "content" in time, {really}',
              latency_millis: 15_000.5,
              input_tokens: 11,
              cache_read_tokens: 12,
              cache_write_tokens: 13,
              output_tokens: 14,
              reasoning_tokens: 15,
              provider_cost_micro_usd: 77,
              started: 1_767_225_600_000
            },
            {
              position: 1,
              provider: "sim",
              model: "sim/large",
              status: "success",
              error_code: null,
              error_message: null,
              latency_millis: 12.5,
              input_tokens: 10,
              cache_read_tokens: 0,
              cache_write_tokens: 0,
              output_tokens: 20,
              reasoning_tokens: 0,
              provider_cost_micro_usd: null,
              started: 1_767_225_600_500
            }
          ])
          expect(
            yield* sql`select kind, debit, credit, amount_micro_usd::int as amount from journal
              where call_id = ${hold.callId} order by kind`
          ).toEqual([
            { kind: "absorbed", debit: "house", credit: "revenue", amount: 77 },
            { kind: "usage", debit: `account:${caller.accountId}`, credit: "revenue", amount: 123 }
          ])
          expect(yield* ledger.checkInvariants).toEqual([])
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
          yield* ledger.settle(hold, settled(450, {}, 400))
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
            ["update scope set held_micro_usd = 901 where kind = 'account'", "never spends and holds more"],
            [
              "update hold set actual_micro_usd = actual_micro_usd - 1 where actual_micro_usd > 0",
              "exactly its charge in the journal"
            ],
            [
              "update hold set state = 'expired', actual_micro_usd = 0 where state = 'settled'",
              "exactly its charge in the journal"
            ],
            ["update call set key_id = project_id", "has a call row of the same key"],
            ["update call set cost_micro_usd = cost_micro_usd + 1", "the cost of a call is the charge of its hold"],
            ["update attempt set cost_micro_usd = 7", "the costs of a call's attempts add up to its cost"],
            ["delete from call", "has a call row of the same key"],
            [
              "insert into call select (jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid()))).* from call c limit 1",
              "a call's row belongs to a hold"
            ],
            [
              "update scope set limit_micro_usd = 1000 where kind = 'key'; update scope set held_micro_usd = 1001 where kind = 'key'",
              "never spends and holds more than its limit"
            ],
            [
              "update hold set state = 'held', actual_micro_usd = null, closed_at = null, created_at = now() - interval '2 hours'",
              "no hold is open for longer than a call may take"
            ],
            [
              "insert into journal (kind, debit, credit, amount_micro_usd, call_id) values ('overrun', 'house', 'revenue', 1, gen_random_uuid())",
              "what is charged or written off belongs to a hold"
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

      it.effect("a void without a hold leaves a closed one in its place: a reservation that comes late fails", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          const late = wants(caller, option(400))
          yield* ledger.settle(
            { callId: late.callId, caller, option: 0, amount: microUsd(0), room: microUsd(0) },
            voided
          )
          yield* ledger.flushed
          expect(Exit.isFailure(yield* Effect.exit(ledger.reserve(late)))).toBe(true)
          expect(yield* sql`select state, amount_micro_usd::int as amount from hold where id = ${late.callId}`).toEqual(
            [{ state: "void", amount: 0 }]
          )
          expect((yield* ledger.balance(caller.accountId)).heldMicroUsd).toBe(0)
          const known = yield* ledger.reserve(wants(caller, option(400)))
          yield* ledger.settle({ ...known, callId: newCallId() }, settled(5))
          yield* ledger.settle(known, voided)
          yield* ledger.flushed
          expect(yield* ledger.balance(caller.accountId)).toMatchObject({ heldMicroUsd: 0, spentMicroUsd: 0 })
        })
      )

      it.effect(
        "a batch finds its holds by their ids, without the index of their times and without reading a table",
        () =>
          Effect.gen(function* () {
            const sql = yield* SqlClient
            const ledger = yield* Ledger
            const caller = yield* newCaller({})
            const ended = yield* ledger.reserve(wants(caller, option(10)))
            const { accountId, keyId, projectId } = caller
            const batch = sql`select verdicts from ledger_apply(gen_random_uuid(), array[gen_random_uuid()],
            array[false], array[false], array[${keyId}::uuid], array[${projectId}::uuid], array[${accountId}::uuid], array[true],
            array['auto'], array[1], array[10::bigint], array[null::bigint], array[10::bigint], array[${ended.callId}::uuid],
            array['settled'], array[5::bigint], null, null, null, 200)`
            const scans = sql<
              Record<string, string>
            >`select pg_stat_get_xact_numscans('hold_created'::regclass) as by_time,
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
