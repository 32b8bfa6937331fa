import type { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { ProjectId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

/** Which calls to add up. */
export interface ActivityQuestion {
  /** Whose calls. */
  readonly project: ProjectId
  /** Today in UTC and the days before it: a whole number, at least 1. */
  readonly days: number
}

const Sums = {
  requests: Schema.NonNegativeInt,
  tokens: Schema.NonNegativeInt,
  spend: Schema.NonNegativeInt
}
const Point = Schema.Struct({ date: Schema.String, requests: Sums.requests, spend: Sums.spend })

/** What the ledger's rows add up to, in one snapshot. */
const ActivityRow = Schema.Struct({
  last24Hours: Schema.Struct({ ...Sums, failures: Schema.NonNegativeInt }),
  points: Schema.Array(Point),
  providers: Schema.Array(Schema.Struct({ provider: Schema.String, requests: Sums.requests })),
  models: Schema.Array(Schema.Struct({ model: Schema.String, ...Sums })),
  keys: Schema.Array(Schema.Struct({ keyId: Schema.String, name: Schema.NullOr(Schema.String), ...Sums }))
})
export type ActivityRow = typeof ActivityRow.Type

const SavingsRow = Schema.Struct({
  model: Schema.String,
  requests: Schema.NonNegativeInt,
  spend: Schema.NonNegativeInt,
  baseline: Schema.NonNegativeInt
})
/** Calls that are compared with a model, and what their tokens would have cost there, in micro-USD. */
export type SavingsRow = typeof SavingsRow.Type

export interface ActivityStoreShape {
  /** With a point for each day. */
  readonly byDay: (question: ActivityQuestion) => Effect.Effect<ActivityRow, StoreUnavailable>
  /** With a point for each hour from the start of the first day. */
  readonly byHour: (question: ActivityQuestion) => Effect.Effect<ActivityRow, StoreUnavailable>
  /** By the model that calls are compared with, most calls first. */
  readonly savings: (question: ActivityQuestion) => Effect.Effect<ReadonlyArray<SavingsRow>, StoreUnavailable>
  /** Adds a portion of calls that have ended to the sums; true when more are left. */
  readonly sumUp: Effect.Effect<boolean, StoreUnavailable>
}

/** The sums of days and hours, and the calls that are not yet in them. */
export class ActivityStore extends Context.Tag("gateway/account/ActivityStore")<ActivityStore, ActivityStoreShape>() {
  static readonly layer = (options: ActivityStoreOptions = {}): Layer.Layer<ActivityStore, never, AccountSql> =>
    Layer.effect(
      this,
      Effect.map(AccountSql, (sql) => make(sql, options))
    )
}

export interface ActivityStoreOptions {
  /** Calls are summed up once they are this old. */
  readonly marginMillis?: number
}

/** Longer than any statement may take: within it a transaction has written something, or has ended. */
const defaultMarginMillis = 20_000
/** Summed up by one statement: 20,000 took the embedded database, where calls wait meanwhile, 0.1 s. */
const maxPerPortion = 2_000

const make = (sql: SqlClient, { marginMillis = defaultMarginMillis }: ActivityStoreOptions): ActivityStoreShape => {
  const query = (text: string) =>
    flow(
      SqlSchema.single({
        Request: Schema.Struct({ project: ProjectId, days: Schema.Int }),
        Result: ActivityRow,
        execute: ({ days, project }) => sql.unsafe(text, [project, days])
      }),
      Effect.catchIf(Cause.isNoSuchElementException, () => Effect.dieMessage("an aggregate has one row")),
      fromSql
    )
  return {
    byDay: query(activityQuery(pointsOfDays)),
    byHour: query(activityQuery(pointsOfHours)),
    savings: flow(
      SqlSchema.findAll({
        Request: Schema.Struct({ project: ProjectId, days: Schema.Int }),
        Result: SavingsRow,
        execute: ({ days, project }) => sql.unsafe(savingsQuery, [project, days])
      }),
      fromSql
    ),
    sumUp: sql`select activity_sum_up(${`${marginMillis} milliseconds`}::interval, ${maxPerPortion}) as more`.pipe(
      Effect.flatMap(decodeMore),
      Effect.map(([{ more }]) => more),
      fromSql
    )
  }
}

const decodeMore = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ more: Schema.Boolean })))

/** Prompt and completion tokens of a call; null counts are unknown. */
const tokens = "coalesce(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + reasoning_tokens, 0)"

/** True of every call. Of a range with both ends the planner expects few rows, of one with a single unknown end a third of all. */
const tillNow = "written_at <= now() + interval '1 day'"

/**
 * One statement, so that everything is read from one snapshot: the sums of the calls before `through`, and the calls since. Of
 * the 24 hours only the first is read from its calls. `json` keeps whole numbers exact up to 2^53.
 */
const activityQuery = (points: string): string => `
  with bounds as materialized (
    select a.through, now() - interval '24 hours' as since,
      date_trunc('hour', now() - interval '24 hours', 'UTC') + interval '1 hour' as first_hour,
      (now() at time zone 'UTC')::date - ($2::int - 1) as first_day,
      ((now() at time zone 'UTC')::date - ($2::int - 1))::timestamp at time zone 'UTC' as first_time
    from activity_progress a
  ), recent as materialized (
    select date_trunc('hour', written_at, 'UTC') as hour, key_id, coalesce(provider, '') as provider, coalesce(model, '') as model,
      count(*) as requests, sum(${tokens}) as tokens, sum(cost_micro_usd) as spend
    from call
    where project_id = $1::uuid and written_at >= (select greatest(through, first_time) from bounds) and ${tillNow}
    group by 1, 2, 3, 4
  ), of_days as materialized (
    select day, key_id, provider, model, requests, prompt_tokens + completion_tokens as tokens, spend_micro_usd as spend
    from activity_day where project_id = $1::uuid and day >= (select first_day from bounds)
    union all select (hour at time zone 'UTC')::date, key_id, provider, model, requests, tokens, spend from recent
  ), of_24_hours as (
    select requests, failures, prompt_tokens + completion_tokens as tokens, spend_micro_usd as spend from activity_hour
    where project_id = $1::uuid and hour >= (select first_hour from bounds)
    union all
    select count(*), count(*) filter (where status in ('error', 'timeout')), coalesce(sum(${tokens}), 0),
      coalesce(sum(cost_micro_usd), 0)
    from call where project_id = $1::uuid and written_at >= (select greatest(since, through) from bounds)
      and ${tillNow}
    union all
    select count(*), count(*) filter (where status in ('error', 'timeout')), coalesce(sum(${tokens}), 0),
      coalesce(sum(cost_micro_usd), 0)
    from call where project_id = $1::uuid and written_at >= (select since from bounds)
      and written_at < (select least(first_hour, through) from bounds)
  ), ${points}
  select
    (select json_build_object('requests', sum(requests), 'failures', sum(failures), 'tokens', sum(tokens), 'spend', sum(spend))
      from of_24_hours) as "last24Hours",
    (select json_agg(json_build_object('date', label, 'requests', requests, 'spend', spend) order by at) from points) as points,
    (select coalesce(json_agg(json_build_object('provider', provider, 'requests', requests) order by requests desc, provider), '[]')
      from (select provider, sum(requests) as requests from of_days where provider <> '' group by 1) p) as providers,
    (select coalesce(json_agg(json_build_object('model', model, 'requests', requests, 'tokens', tokens, 'spend', spend)
        order by spend desc, requests desc, model), '[]')
      from (select model, sum(requests) as requests, sum(tokens) as tokens, sum(spend) as spend
        from of_days where model <> '' group by 1) m) as models,
    (select coalesce(json_agg(json_build_object('keyId', s.key_id, 'name', k.name, 'requests', s.requests, 'tokens', s.tokens,
        'spend', s.spend) order by s.spend desc, s.requests desc, s.key_id), '[]')
      from (select key_id, sum(requests) as requests, sum(tokens) as tokens, sum(spend) as spend
        from of_days group by 1) s left join api_key k on k.id = s.key_id and k.project_id = $1::uuid) as keys`

/** One snapshot, as in `activityQuery`. Doubles hold whole numbers to 2^53. */
const savingsQuery = `
  with bounds as materialized (
    select a.through, (now() at time zone 'UTC')::date - ($2::int - 1) as first_day,
      ((now() at time zone 'UTC')::date - ($2::int - 1))::timestamp at time zone 'UTC' as first_time
    from activity_progress a
  ), of_days as (
    select baseline_model as model, requests, spend_micro_usd as spend, baseline_micro_usd as baseline
    from savings_day where project_id = $1::uuid and day >= (select first_day from bounds)
    union all
    select baseline_model, 1, cost_micro_usd, baseline_micro_usd from call
    where project_id = $1::uuid and written_at >= (select greatest(through, first_time) from bounds) and ${tillNow}
      and baseline_micro_usd is not null
  )
  select model, sum(requests)::float8 as requests, sum(spend)::float8 as spend, sum(baseline)::float8 as baseline
  from of_days group by 1 order by 2 desc, 1`

const pointsOfDays = `
  points as (
    select d.at, to_char(d.at, 'YYYY-MM-DD') as label, coalesce(s.requests, 0) as requests, coalesce(s.spend, 0) as spend
    from bounds b cross join lateral generate_series(b.first_day::timestamp, (now() at time zone 'UTC'), interval '1 day') as d(at)
    left join (select day, sum(requests) as requests, sum(spend) as spend from of_days group by 1) s on s.day = d.at::date
  )`

const pointsOfHours = `
  of_hours as (
    select hour, requests, spend_micro_usd as spend from activity_hour
    where project_id = $1::uuid and hour >= (select first_time from bounds)
    union all select hour, requests, spend from recent
  ), points as (
    select h.at, to_char(h.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:00:00.000"Z"') as label,
      coalesce(s.requests, 0) as requests, coalesce(s.spend, 0) as spend
    from bounds b cross join lateral generate_series(b.first_time, now(), interval '1 hour') as h(at)
    left join (select hour, sum(requests) as requests, sum(spend) as spend from of_hours group by 1) s on s.hour = h.at
  )`
