import { SqlClient } from "@effect/sql/SqlClient"
import { describe, expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { type Attempt, type AttemptUse, type CallRecord, cost } from "../../src/domain/Call.ts"
import type { CallerShape } from "../../src/domain/Caller.ts"
import { IdGenerator } from "../../src/domain/IdGenerator.ts"
import { Timers } from "../../src/domain/Timers.ts"
import { type Usage, usage } from "../../src/domain/Usage.ts"
import { Ledger, LedgerLayer } from "../../src/ledger/Ledger.ts"
import { databases } from "./databases.ts"
import { newCaller, option, record, settled, wants } from "./fixtures.ts"

const columns = `call_id, position, provider, model, status, error_code, error_message, cost_micro_usd::int as cost, cost_basis,
  latency_millis, (extract(epoch from started_at) * 1000)::float8 as started, input_tokens::int as input,
  cache_read_tokens::int as cache_read, cache_write_tokens::int as cache_write, output_tokens::int as output,
  reasoning_tokens::int as reasoning`

const tokensOf = (used: Usage | null) => ({
  input: used?.inputTokens ?? null,
  cache_read: used?.cacheReadTokens ?? null,
  cache_write: used?.cacheWriteTokens ?? null,
  output: used?.outputTokens ?? null,
  reasoning: used?.reasoningTokens ?? null
})

/** What the columns say of the attempts of a record. */
const expected = (callId: string, { attempts, attemptUses }: CallRecord) =>
  attempts.map((attempt, position) => ({
    call_id: callId,
    position,
    provider: attempt.provider,
    model: attempt.model,
    status: attempt.status,
    error_code: attempt.error?.code ?? null,
    error_message: attempt.error?.message ?? null,
    cost: attempt.cost.amount_microusd,
    cost_basis: attempt.cost.basis,
    latency_millis: attempt.latency_ms,
    started: attemptUses[position]?.startedAtMillis ?? null,
    ...tokensOf(attemptUses[position]?.usage ?? null)
  }))

/** Mostly the value of the call's own column. */
const often = <A>(value: A, ...others: ReadonlyArray<A>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constantFrom(...others) })

const used = usage({ inputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 3, outputTokens: 2, reasoningTokens: 1 })

const usages: fc.Arbitrary<Usage | null> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(used) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens", "reasoningTokens")
      .map((name) => ({ ...used, [name]: 9 }))
  },
  { weight: 1, arbitrary: fc.constantFrom(null, { ...used }) }
)

const attempts: fc.Arbitrary<{ readonly attempt: Attempt; readonly use: AttemptUse }> = fc
  .record({
    provider: often("sim", "other"),
    model: often("sim/large", "sim/small"),
    status: often<Attempt["status"]>("success", "error", "timeout", "cancelled"),
    amount: often(7, 8),
    basis: often<Attempt["cost"]["basis"]>("charged", "estimated"),
    latency: fc.constantFrom(0, 0.1, 12.5),
    started: fc.constantFrom(1_767_225_600_124, 1_767_225_600_500),
    used: usages
  })
  .map((of) => ({
    attempt: {
      provider: of.provider,
      model: of.model,
      status: of.status,
      error: of.status === "success" ? null : { code: of.status, message: null },
      cost: cost(of.amount, of.basis),
      latency_ms: of.latency
    },
    use: { startedAtMillis: of.started, usage: of.used, isReported: of.used !== null, dropped: [] }
  }))

const records: fc.Arbitrary<CallRecord> = fc
  .record({
    attempts: fc.oneof(
      { weight: 8, arbitrary: fc.array(attempts, { minLength: 1, maxLength: 1 }) },
      { weight: 1, arbitrary: fc.array(attempts, { maxLength: 3 }) }
    ),
    status: often<CallRecord["status"]>("success", "cancelled"),
    usage: often<Usage | null>(used, null)
  })
  .map((of) =>
    record({
      cost: cost(7, "charged"),
      status: of.status,
      usage: of.usage,
      attempts: of.attempts.map(({ attempt }) => attempt),
      attemptUses: of.attempts.map(({ use }) => use)
    })
  )

for (const [name, database] of databases) {
  describe(`the attempts of calls on ${name}`, () => {
    const services = LedgerLayer().pipe(
      Layer.provideMerge(database),
      Layer.provide(IdGenerator.layer),
      Layer.provideMerge(Timers.layer)
    )
    layer(services, { timeout: 60_000, excludeTestServices: true })((it) => {
      const end = (caller: CallerShape, logged: CallRecord) =>
        Effect.gen(function* () {
          const ledger = yield* Ledger
          const hold = yield* ledger.reserve(wants(caller, option(50)))
          yield* ledger.settle(hold, settled(7, logged))
          return hold.callId
        })
      const rowsOf = (table: "attempt" | "call_attempt", callIds: ReadonlyArray<string>) =>
        Effect.flatMap(SqlClient, (sql) =>
          sql.unsafe(
            `select ${columns} from ${table} where call_id = any($1::uuid[])
            order by array_position($1::uuid[], call_id), position`,
            [callIds]
          )
        )

      it.effect("a call that its only attempt answered has it in its own row", () =>
        Effect.gen(function* () {
          const caller = yield* newCaller({ credit: 1_000 })
          const callId = yield* end(caller, record({ ...settled(7).record }))
          yield* (yield* Ledger).flushed
          expect(yield* rowsOf("attempt", [callId])).toEqual([])
          expect(yield* rowsOf("call_attempt", [callId])).toEqual(expected(callId, settled(7).record))
        })
      )

      it.effect("whatever they are, each is read as it was", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const caller = yield* newCaller({ credit: 100_000 })
          const logged = fc.sample(records, { numRuns: 300, seed: 5 })
          const ids = yield* Effect.forEach(logged, (each) => end(caller, each), { concurrency: "unbounded" })
          yield* (yield* Ledger).flushed
          const all = logged.flatMap((each, index) => expected(ids[index] ?? "", each))
          expect(yield* rowsOf("call_attempt", ids)).toEqual(all)
          const [{ told } = { told: 0 }] = yield* sql<{ readonly told: number }>`
            select count(*)::int as told from call where attempt_latency_millis is not null and id in ${sql.in(ids)}`
          expect(told).toBeGreaterThan(30)
          expect(yield* rowsOf("attempt", ids)).toHaveLength(all.length - told)
        })
      )

      it.effect("those that a node of the version before writes are read too", () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient
          const ledger = yield* Ledger
          const caller = yield* newCaller({ credit: 1_000 })
          const { callId } = yield* ledger.reserve(wants(caller, option(10)))
          const { accountId, keyId, projectId } = caller
          const call = {
            id: callId,
            key_id: keyId,
            project_id: projectId,
            account_id: accountId,
            requested_model: "auto",
            token_doctor: false,
            status: "success",
            cost_micro_usd: 0,
            cost_basis: "charged",
            pool: ["sim/large"],
            started_at_millis: 1_767_225_600_123
          }
          const attempt = {
            call_id: callId,
            position: 0,
            provider: "sim",
            model: "sim/large",
            status: "success",
            cost_micro_usd: 0,
            cost_basis: "charged",
            latency_millis: 3,
            started_at_millis: 1_767_225_600_124
          }
          yield* sql`select verdicts from ledger_batch(gen_random_uuid(), '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
            '{}', array[${callId}::uuid], array['settled'], array[0], ${JSON.stringify([call])}::jsonb,
            ${JSON.stringify([attempt])}::jsonb, null, 200)`
          expect(yield* sql`select state from hold where id = ${callId}`).toEqual([{ state: "settled" }])
          expect(yield* rowsOf("call_attempt", [callId])).toMatchObject([
            { call_id: callId, position: 0, model: "sim/large", latency_millis: 3, started: 1_767_225_600_124 }
          ])
        })
      )
    })
  })
}
