import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { StoredPrices } from "../../capture/StoredFacts.ts"
import { CallStatus, CostBasis, endpoints, routingReasons } from "../../domain/Call.ts"
import type { AnalysedCall } from "../../domain/CapturedCall.ts"
import { byCodePoint } from "../../domain/CodePointOrder.ts"
import { dateAt } from "../../domain/Dates.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { KeyId, ProjectId, RequestId } from "../../domain/Ids.ts"
import { codesOfOtherFaults } from "../../domain/ProviderError.ts"
import { usage } from "../../domain/Usage.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"
import type { AttemptTally } from "../actions/Recommend.ts"

const CountOrNull = Schema.NullOr(Int8)

const AttemptRow = Schema.Struct({
  provider: Schema.String,
  model: Schema.String,
  status: CallStatus,
  latency: Schema.Number,
  cost: Schema.Number,
  basis: CostBasis
})

const Row = Schema.Struct({
  id: RequestId,
  keyId: KeyId,
  projectId: ProjectId,
  requestedModel: Schema.String,
  endpoint: Schema.NullOr(Schema.Literal(...endpoints)),
  stream: Schema.NullOr(Schema.Boolean),
  status: CallStatus,
  errorCode: Schema.NullOr(Schema.String),
  cost: Int8,
  basis: CostBasis,
  input: CountOrNull,
  cacheRead: CountOrNull,
  cacheWrite: CountOrNull,
  output: CountOrNull,
  reasoning: CountOrNull,
  latency: Schema.NullOr(Schema.Number),
  firstContent: Schema.NullOr(Schema.Number),
  routingConfig: Schema.NullOr(Schema.String),
  reason: Schema.NullOr(Schema.Literal(...routingReasons)),
  policyVersion: CountOrNull,
  prices: Schema.NullOr(StoredPrices),
  /** The call's own id where an earlier version has written it. */
  conversation: Schema.String,
  startedAt: Schema.DateFromSelf,
  attempts: Schema.Array(AttemptRow)
})
const decodeRows = Schema.decodeUnknown(Schema.Array(Row))
const decodeAttempts = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ model: Schema.String, attempts: Int8, failed: Int8 }))
)
const decodeTimes = Schema.decodeUnknown(Schema.Array(Schema.Struct({ at: Schema.String })))
const decodeTraffic = Schema.decodeUnknown(
  Schema.Tuple(Schema.Struct({ calls: Int8, spent: Int8, optedIn: Int8, optedInSpent: Int8 }))
)

export interface Range {
  readonly from: Date
  readonly to: Date
}

interface Sums {
  readonly calls: number
  readonly spentMicroUsd: number
}

/** Calls of clients in a range. */
export interface Traffic extends Sums {
  /** Of these, the calls that may be collected: their requests had `token_doctor: true`. */
  readonly optedIn: Sums
}

export interface CallLogStoreShape {
  /** The newest calls of the log, without prompts. */
  readonly calls: (
    project: ProjectId,
    range: Range & { readonly max: number }
  ) => Effect.Effect<ReadonlyArray<AnalysedCall>, StoreUnavailable>
  /** Of clients: without the calls of analyses. */
  readonly traffic: (project: ProjectId, range: Range) => Effect.Effect<Traffic, StoreUnavailable>
  /** Of calls that named no model, by model. */
  readonly attempts: (project: ProjectId, range: Range) => Effect.Effect<ReadonlyArray<AttemptTally>, StoreUnavailable>
}

/** What the log of calls says to analyses: no prompts. */
export class CallLogStore extends Context.Tag("gateway/analysis/CallLogStore")<CallLogStore, CallLogStoreShape>() {
  static readonly layer: Layer.Layer<CallLogStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

/** A call is written when it has ended, by the clock of the database: it may be another than the one that says when it began. */
const maxAheadMillis = 3_600_000
const maxLateMillis = 86_400_000

interface Portion {
  readonly from: Date | string
  readonly to: Date | string
}

/** One statement sums up no more than `maxCallsEach`, so that it ends in time however many calls a range has. */
export const make = (sql: SqlClient, maxCallsEach = 200_000): CallLogStoreShape => {
  /** Of clients. By when they were written, which has an index, and then by when they began. */
  const own = (project: ProjectId, { from, to }: Range, portion: Portion) =>
    sql`c.project_id = ${project} and c.written_at >= ${portion.from}::timestamptz and c.written_at < ${portion.to}::timestamptz
      and c.started_at >= ${from} and c.started_at < ${to} and c.origin = 'user'`

  const whole = ({ from, to }: Range): Portion => ({
    from: dateAt(from.getTime() - maxAheadMillis),
    to: dateAt(to.getTime() + maxLateMillis)
  })

  /** The time at which the portion that begins here ends, where more calls come after it: later, however many have its first time. */
  const endOfPortion = (project: ProjectId, { from, to }: Portion) =>
    sql`select written_at::text as at from call
      where project_id = ${project} and written_at > ${from}::timestamptz and written_at < ${to}::timestamptz
      order by written_at offset ${maxCallsEach} limit 1`.pipe(Effect.flatMap(decodeTimes))

  const portions = (project: ProjectId, range: Range) =>
    Effect.gen(function* () {
      const { from, to } = whole(range)
      const found: Array<Portion> = []
      for (let begin: Date | string = from; ; ) {
        const [next] = yield* endOfPortion(project, { from: begin, to })
        found.push({ from: begin, to: next?.at ?? to })
        if (next === undefined) return found
        begin = next.at
      }
    })

  const traffic = (project: ProjectId, range: Range, portion: Portion) =>
    sql`select count(*)::text as calls, coalesce(sum(cost_micro_usd), 0)::text as spent,
        count(*) filter (where token_doctor)::text as "optedIn",
        coalesce(sum(cost_micro_usd) filter (where token_doctor), 0)::text as "optedInSpent" from call c
      where ${own(project, range, portion)}`.pipe(Effect.flatMap(decodeTraffic))

  const attempts = (project: ProjectId, range: Range, portion: Portion) =>
    sql`select a.model, count(*)::text as attempts, count(*) filter (where a.status in ('error', 'timeout')
        and coalesce(a.error_code, '') <> all (${codesOfOtherFaults}::text[]))::text as failed
      from (
        -- not from the view, which would be joined with the calls of all projects
        select c.model, c.status, c.error_code from call c
        where ${own(project, range, portion)} and c.reason is distinct from 'pinned_model' and c.attempt_latency_millis is not null
        union all
        select a.model, a.status, a.error_code from call c join attempt a on a.call_id = c.id
        where ${own(project, range, portion)} and c.reason is distinct from 'pinned_model' and c.attempt_latency_millis is null) a
      group by a.model`.pipe(Effect.flatMap(decodeAttempts))

  return {
    calls: (project, { max, ...range }) =>
      sql`select c.id, c.key_id as "keyId", c.project_id as "projectId", c.requested_model as "requestedModel", c.endpoint, c.stream,
          c.status, c.error_code as "errorCode", c.cost_micro_usd::text as cost, c.cost_basis as basis, c.input_tokens::text as input,
          c.cache_read_tokens::text as "cacheRead", c.cache_write_tokens::text as "cacheWrite", c.output_tokens::text as output,
          c.reasoning_tokens::text as reasoning, c.latency_millis as latency, c.first_content_millis as "firstContent",
          c.routing_config as "routingConfig", c.reason, c.policy_version::text as "policyVersion", c.prices,
          coalesce(encode(c.conversation, 'hex'), c.id::text) as conversation, c.started_at as "startedAt",
          (select coalesce(jsonb_agg(jsonb_build_object('provider', a.provider, 'model', a.model, 'status', a.status,
              'latency', a.latency_millis, 'cost', a.cost_micro_usd, 'basis', a.cost_basis) order by a.position), '[]'::jsonb)
            from call_attempt a where a.call_id = c.id) as attempts
        from call c where ${own(project, range, whole(range))}
        order by c.written_at desc, c.id limit ${max}`.pipe(
        Effect.flatMap(decodeRows),
        Effect.map((rows) => rows.map(callOf)),
        fromSql
      ),
    traffic: (project, range) =>
      Effect.flatMap(portions(project, range), (all) =>
        Effect.reduce(all, noTraffic, (sum, portion) =>
          Effect.map(traffic(project, range, portion), ([part]) => ({
            calls: sum.calls + part.calls,
            spentMicroUsd: sum.spentMicroUsd + part.spent,
            optedIn: {
              calls: sum.optedIn.calls + part.optedIn,
              spentMicroUsd: sum.optedIn.spentMicroUsd + part.optedInSpent
            }
          }))
        )
      ).pipe(fromSql),
    attempts: (project, range) =>
      Effect.flatMap(portions(project, range), (all) =>
        Effect.forEach(all, (portion) => attempts(project, range, portion))
      ).pipe(Effect.map(tallied), fromSql)
  }
}

const noTraffic: Traffic = { calls: 0, spentMicroUsd: 0, optedIn: { calls: 0, spentMicroUsd: 0 } }

/** By model, whatever the portions. */
const tallied = (portions: ReadonlyArray<ReadonlyArray<AttemptTally>>): ReadonlyArray<AttemptTally> => {
  const tallies = new Map<string, AttemptTally>()
  for (const { attempts, failed, model } of portions.flat()) {
    const known = tallies.get(model)
    tallies.set(model, { model, attempts: attempts + (known?.attempts ?? 0), failed: failed + (known?.failed ?? 0) })
  }
  return [...tallies.values()].sort((a, b) => byCodePoint(a.model, b.model))
}

/** As a captured call whose content was not kept. */
const callOf = (row: typeof Row.Type): AnalysedCall => {
  const startedAt = row.startedAt.getTime()
  return {
    requestId: row.id,
    projectId: row.projectId,
    capturedAt: startedAt,
    window: { configVersion: 0, samplingRate: 1, inclusion: 1 },
    keyId: row.keyId,
    endUser: null,
    conversation: row.conversation,
    class: null,
    endpoint: row.endpoint ?? "chat",
    status: row.status,
    error: row.errorCode === null ? null : { code: row.errorCode, message: null },
    request: {
      messages: null,
      tools: null,
      blocks: [],
      params: { stream: row.stream ?? false },
      toolsOffered: [],
      toolsCalled: [],
      media: []
    },
    decision: {
      requestedModel: row.requestedModel,
      reason: row.reason ?? "only_candidate",
      alpha: null,
      routingConfig: row.routingConfig,
      policyVersion: row.policyVersion ?? 0
    },
    attempts: row.attempts.map(({ basis, cost, latency, model, provider, status }) => ({
      provider,
      model,
      status,
      error: null,
      cost: { amount_microusd: cost, currency: "USD" as const, basis },
      usage: null,
      startedAt,
      latencyMillis: latency
    })),
    response: null,
    usage:
      row.input === null
        ? null
        : usage({
            inputTokens: row.input,
            cacheReadTokens: row.cacheRead ?? 0,
            cacheWriteTokens: row.cacheWrite ?? 0,
            outputTokens: row.output ?? 0,
            reasoningTokens: row.reasoning ?? 0
          }),
    cost: { amount_microusd: row.cost, currency: "USD", basis: row.basis },
    prices: row.prices,
    latencyMillis: row.latency ?? 0,
    firstContentMillis: row.firstContent,
    truncated: true,
    flowAuthorized: false,
    expiresAt: Number.MAX_SAFE_INTEGER
  }
}
