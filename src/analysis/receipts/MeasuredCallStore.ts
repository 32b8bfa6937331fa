import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { dateAt } from "../../domain/Dates.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"
import type { ExperimentRow } from "./ExperimentStore.ts"
import type { ConversationTally } from "./Measurement.ts"

/**
 * Calls of an experiment that count, the first ones: it ends when it has them. What 50,000 come to was computed in 115 ms, in which
 * no call goes on (Node 20, 29,000 conversations).
 */
export const maxMeasuredCalls = 20_000
const maxCallsBefore = 5_000
const maxConversationsBefore = 1_000
const daysBefore = 14
/** A prompt that is as long as the one before within this time was asked again. */
const maxRetryMinutes = 10

const Tally = Schema.Struct({
  conversation: Schema.String,
  calls: Int8,
  costMicroUsd: Int8,
  errors: Schema.Number,
  retries: Schema.Number,
  feedback: Schema.NullOr(Schema.Number)
})
const decodeTallies = Schema.decodeUnknown(Schema.Array(Tally))

type Experiment = Pick<ExperimentRow, "alphas" | "projectId" | "slug" | "startedAt" | "startVersion">

export interface MeasuredCallStoreShape {
  /** Conversations without the change from the days before it; the newest 1,000. */
  readonly before: (experiment: Experiment) => Effect.Effect<ReadonlyArray<ConversationTally>, StoreUnavailable>
  /** Conversations of both arms, in the order of their first calls. */
  readonly since: (experiment: Experiment) => Effect.Effect<ReadonlyArray<ConversationTally>, StoreUnavailable>
}

/** What the log of calls says of conversations that a change concerns; no prompts, and no calls that named their model. */
export class MeasuredCallStore extends Context.Tag("gateway/analysis/MeasuredCallStore")<
  MeasuredCallStore,
  MeasuredCallStoreShape
>() {
  static readonly layer: Layer.Layer<MeasuredCallStore, never, AccountSql> = Layer.effect(
    this,
    Effect.map(AccountSql, (sql) => make(sql))
  )
}

const make = (sql: SqlClient): MeasuredCallStoreShape => {
  const own = ({ alphas, projectId, slug }: Experiment) => sql`c.project_id = ${projectId} and c.origin <> 'analysis'
    and c.features is not null and c.conversation is not null and ${slug === null ? sql`true` : sql`c.routing_config = ${slug}`}
    and ${alphas === null ? sql`true` : sql`c.alpha = any(${alphas}::double precision[])`}`
  const columns = sql.literal(`c.id, c.conversation, c.status, c.cost_micro_usd, c.started_at, c.written_at,
    (c.features::jsonb ->> 't')::double precision as prompt_tokens`)
  const tallies = (experiment: Experiment, calls: ReturnType<typeof own>, from: Date) => sql`
    with calls as (${calls}), grades as (
      select source_id, avg(mean) as mean from quality_evidence
      where project_id = ${experiment.projectId} and source = 'feedback' and graded_at >= ${from} group by source_id
    ), told as (
      select c.*, g.mean as grade, c.status in ('error', 'timeout') as failed, c.status = 'cancelled' or (
          c.prompt_tokens = lag(c.prompt_tokens) over own
          and c.started_at - lag(c.started_at) over own <= make_interval(mins => ${maxRetryMinutes})) as again
      from calls c left join grades g on g.source_id = c.id::text
      window own as (partition by c.conversation order by c.started_at, c.id)
    )
    select encode(conversation, 'hex') as conversation, count(*)::text as calls, sum(cost_micro_usd)::text as "costMicroUsd",
      coalesce(bool_or(failed), false)::int as errors, coalesce(bool_or(again), false)::int as retries,
      1 - avg(grade) as feedback, min(written_at) as began
    from told group by conversation`
  const tallied = <E>(rows: Effect.Effect<unknown, E>) => fromSql(Effect.flatMap(rows, decodeTallies))
  return {
    before: (experiment) => {
      const { alphas, startedAt, startVersion } = experiment
      const without = { ...experiment, alphas: alphas === null ? null : alphas.slice(0, 1) }
      const from = dateAt(startedAt.getTime() - daysBefore * 24 * 3_600_000)
      return tallied(
        sql`select * from (${tallies(
          experiment,
          sql`select ${columns} from call c where ${own(without)} and c.written_at >= ${from} and c.policy_version < ${startVersion}
          order by c.written_at desc, c.id desc limit ${maxCallsBefore}`,
          from
        )}) t order by began desc, conversation limit ${maxConversationsBefore}`
      )
    },
    since: (experiment) => {
      const { startedAt, startVersion } = experiment
      return tallied(
        sql`select * from (${tallies(
          experiment,
          sql`select ${columns} from call c where ${own(experiment)} and c.written_at >= ${startedAt} and c.policy_version >= ${startVersion}
          order by c.written_at, c.id limit ${maxMeasuredCalls}`,
          startedAt
        )}) t order by began, conversation`
      )
    }
  }
}
