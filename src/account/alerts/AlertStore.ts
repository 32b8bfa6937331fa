import type { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator, type IdGeneratorShape } from "../../domain/IdGenerator.ts"
import { ProjectId } from "../../domain/Ids.ts"
import { AccountSql } from "../../sql/AccountDatabase.ts"
import { Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"
import { AlertThreshold } from "../../wire/account/Alerts.ts"

const Webhook = Schema.Struct({ url: Schema.String, sealedSecret: Schema.Uint8ArrayFromSelf })
/** A URL, and the secret that signs what is sent there. */
export type Webhook = typeof Webhook.Type

export interface Alerts {
  readonly webhook: Webhook | null
  readonly thresholds: ReadonlyArray<AlertThreshold>
}

const SealedSecret = Schema.Struct({ projectId: ProjectId, sealed: Schema.Uint8ArrayFromSelf })
/** What signs the webhook of a project, as it is stored. */
export type SealedSecret = typeof SealedSecret.Type
const decodeSecrets = Schema.decodeUnknown(Schema.Array(SealedSecret))

const AlertEvent = Schema.Struct({
  id: Schema.String,
  threshold: AlertThreshold,
  periodStart: Schema.NullOr(Schema.DateFromSelf),
  spentMicroUsd: Int8,
  limitMicroUsd: Schema.NullOr(Int8),
  firedAt: Schema.DateFromSelf,
  attempts: Schema.Int,
  nextAttemptAt: Schema.NullOr(Schema.DateFromSelf),
  lastError: Schema.NullOr(Schema.String),
  deliveredAt: Schema.NullOr(Schema.DateFromSelf)
})
export type AlertEvent = typeof AlertEvent.Type

const DueEvent = Schema.Struct({
  ...AlertEvent.fields,
  projectId: ProjectId,
  projectName: Schema.String,
  url: Schema.String,
  sealedSecret: Schema.Uint8ArrayFromSelf
})
/** An event with where to send it. */
export type DueEvent = typeof DueEvent.Type

export interface AlertStoreShape {
  readonly read: (project: ProjectId) => Effect.Effect<Alerts, StoreUnavailable>
  /** Until the end of the transaction nobody else changes them, seals their secret anew, or notes an event of them. */
  readonly lock: (project: ProjectId) => Effect.Effect<void, StoreUnavailable>
  /** What waits to be sent is dropped where there is no URL any more. */
  readonly write: (project: ProjectId, alerts: Alerts) => Effect.Effect<void, StoreUnavailable>
  /** With the secret, and whatever was reached or waits to be sent. */
  readonly erase: (project: ProjectId) => Effect.Effect<void, StoreUnavailable>
  /** A portion of the secrets, by project, those after `after`. */
  readonly secrets: (
    after: ProjectId | undefined,
    max: number
  ) => Effect.Effect<ReadonlyArray<SealedSecret>, StoreUnavailable>
  /** Replaces a secret, unless it has been changed meanwhile. */
  readonly reseal: (secret: SealedSecret, sealed: Uint8Array) => Effect.Effect<void, StoreUnavailable>
  /** The newest first. */
  readonly events: (project: ProjectId, max: number) => Effect.Effect<ReadonlyArray<AlertEvent>, StoreUnavailable>
  /**
   * Notes which thresholds of a portion of projects, those after `after`, are reached and were not yet in their period. Returns
   * the last project of the portion; `undefined` when there is none left, or another node is at it.
   */
  readonly evaluate: (after: ProjectId | undefined, at: Date) => Effect.Effect<ProjectId | undefined, StoreUnavailable>
  /**
   * Takes events that are due then, of all accounts in turn, so that those of one whose webhooks do not answer do not delay all
   * others. Each is due again, for any node, after the delay for the number of its attempts.
   */
  readonly take: (
    at: Date,
    max: number,
    retryAfterSeconds: ReadonlyArray<number>
  ) => Effect.Effect<ReadonlyArray<DueEvent>, StoreUnavailable>
  readonly delivered: (id: string, at: Date) => Effect.Effect<void, StoreUnavailable>
  /** `isLast`: it is not sent again. */
  readonly failed: (id: string, error: string, isLast: boolean) => Effect.Effect<void, StoreUnavailable>
}

/** The thresholds of projects and the events of reaching them. */
export class AlertStore extends Context.Tag("gateway/account/AlertStore")<AlertStore, AlertStoreShape>() {
  static readonly layer: Layer.Layer<AlertStore, never, AccountSql | IdGenerator> = Layer.effect(
    this,
    Effect.zipWith(AccountSql, IdGenerator, (sql, ids) => make(sql, ids))
  )
}

/** Evaluated by one statement, within the time of a statement also where each has many calls. */
const projectsPerPortion = 20
/** Of each project, beside those of a limit that never resets: more than it can have in one period. */
const maxEvents = 1_000
/** An arbitrary number, the same in every version of the gateway and used for nothing else. */
const evaluationLock = 7_021_415

const AlertsRow = Schema.Struct({
  url: Schema.NullOr(Schema.String),
  sealedSecret: Schema.NullOr(Schema.Uint8ArrayFromSelf),
  thresholds: Schema.Array(AlertThreshold)
})
const decodeAlerts = Schema.decodeUnknown(Schema.Array(AlertsRow))
const decodeEvents = Schema.decodeUnknown(Schema.Array(AlertEvent))
const decodeDue = Schema.decodeUnknown(Schema.Array(DueEvent))
const decodeLocked = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ locked: Schema.Boolean })))
const decodeProjects = Schema.decodeUnknown(Schema.Array(Schema.Struct({ id: ProjectId })))

const Reached = Schema.Struct({
  projectId: ProjectId,
  threshold: Schema.String,
  occasion: Schema.String,
  periodStart: Schema.NullOr(Schema.DateFromSelf),
  spent: Schema.String,
  limit: Schema.NullOr(Schema.String),
  sends: Schema.Boolean
})
const decodeReached = Schema.decodeUnknown(Schema.Array(Reached))

const make = (sql: SqlClient, ids: IdGeneratorShape): AlertStoreShape => {
  const eventColumns =
    sql.literal(`e.id, e.threshold, e.period_start as "periodStart", e.spent_micro_usd as "spentMicroUsd",
    e.limit_micro_usd as "limitMicroUsd", e.fired_at as "firedAt", e.attempts, e.next_attempt_at as "nextAttemptAt",
    e.last_error as "lastError", e.delivered_at as "deliveredAt"`)
  const evaluation = evaluationOn(sql, ids)
  const lock = (project: ProjectId) => sql`select from alert where project_id = ${project} for update`
  return {
    read: (project) =>
      sql`select webhook_url as url, sealed_secret as "sealedSecret", thresholds from alert where project_id = ${project}`.pipe(
        Effect.flatMap(decodeAlerts),
        Effect.map(([row]) => (row === undefined ? none : alertsOf(row))),
        fromSql
      ),
    lock: (project) => fromSql(Effect.asVoid(lock(project))),
    write: (project, { thresholds, webhook }) =>
      Effect.gen(function* () {
        yield* sql`insert into alert (project_id, webhook_url, sealed_secret, thresholds)
          values (${project}, ${webhook?.url ?? null}, ${webhook?.sealedSecret ?? null}, ${JSON.stringify(thresholds)}::jsonb)
          on conflict (project_id) do update set webhook_url = excluded.webhook_url, sealed_secret = excluded.sealed_secret,
            thresholds = excluded.thresholds, thresholds_set_at = case when alert.thresholds = excluded.thresholds
              then alert.thresholds_set_at else now() end`
        if (webhook === null)
          yield* sql`update alert_event set next_attempt_at = null
            where project_id = ${project} and next_attempt_at is not null`
      }).pipe(fromSql),
    erase: (project) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            // whoever notes an event of it has done so by then, or finds it gone
            yield* lock(project)
            yield* sql`delete from alert_event where project_id = ${project}`
            yield* sql`delete from alert where project_id = ${project}`
          })
        )
        .pipe(fromSql),
    secrets: (after, max) =>
      sql`select project_id as "projectId", sealed_secret as sealed from alert
        where sealed_secret is not null ${after === undefined ? sql`` : sql`and project_id > ${after}`}
        order by project_id limit ${max}`.pipe(Effect.flatMap(decodeSecrets), fromSql),
    reseal: ({ projectId, sealed: before }, sealed) =>
      sql`update alert set sealed_secret = ${sealed} where project_id = ${projectId} and sealed_secret = ${before}`.pipe(
        Effect.asVoid,
        fromSql
      ),
    events: (project, max) =>
      sql`select ${eventColumns} from alert_event e where e.project_id = ${project} order by e.id desc limit ${max}`.pipe(
        Effect.flatMap(decodeEvents),
        fromSql
      ),
    evaluate: (after, at) => fromSql(sql.withTransaction(evaluation(after, at))),
    take: (at, max, retryAfterSeconds) =>
      sql`with ranked as (
          select e.id, row_number() over (partition by p.account_id order by e.next_attempt_at, e.id) as place
          from alert_event e join alert a on a.project_id = e.project_id join project p on p.id = e.project_id
          where e.next_attempt_at <= ${at} and a.webhook_url is not null
        ), due as (
          select e.id from alert_event e join ranked r on r.id = e.id where e.next_attempt_at <= ${at}
          order by r.place, e.next_attempt_at limit ${max} for update of e skip locked
        )
        update alert_event e set attempts = e.attempts + 1, next_attempt_at = ${at}::timestamptz + interval '1 second'
          * (${`{${retryAfterSeconds.join(",")}}`}::int[])[least(e.attempts + 1, ${retryAfterSeconds.length}::int)]
        from due, alert a, project p
        where e.id = due.id and a.project_id = e.project_id and p.id = e.project_id
        returning ${eventColumns}, e.project_id as "projectId", p.name as "projectName", a.webhook_url as url,
          a.sealed_secret as "sealedSecret"`.pipe(Effect.flatMap(decodeDue), fromSql),
    delivered: (id, at) =>
      sql`update alert_event set delivered_at = ${at}, next_attempt_at = null, last_error = null where id = ${id}`.pipe(
        Effect.asVoid,
        fromSql
      ),
    failed: (id, error, isLast) =>
      sql`update alert_event set last_error = ${error}, next_attempt_at = ${isLast ? sql`null` : sql`next_attempt_at`}
        where id = ${id} and delivered_at is null`.pipe(Effect.asVoid, fromSql)
  }
}

const none: Alerts = { webhook: null, thresholds: [] }

const alertsOf = ({ sealedSecret, thresholds, url }: typeof AlertsRow.Type): Alerts => ({
  webhook: url === null || sealedSecret === null ? null : { url, sealedSecret },
  thresholds
})

const evaluationOn = (sql: SqlClient, ids: IdGeneratorShape) => (after: ProjectId | undefined, at: Date) =>
  Effect.gen(function* () {
    const [{ locked }] = yield* Effect.flatMap(
      sql`select pg_try_advisory_xact_lock(${evaluationLock}) as locked`,
      decodeLocked
    )
    if (!locked) return undefined
    const projects = yield* Effect.flatMap(
      sql`select a.project_id as id from alert a join project p on p.id = a.project_id
        where a.thresholds <> '[]' and p.deleted_at is null and ${after === undefined ? sql`true` : sql`a.project_id > ${after}`}
        order by a.project_id limit ${projectsPerPortion}`,
      decodeProjects
    )
    const last = projects.at(-1)?.id
    if (last === undefined) return undefined
    const reached = yield* Effect.flatMap(reachedBy(sql, projects, at), decodeReached)
    if (reached.length === 0) return last
    const projectIds = [...new Set(reached.map(({ projectId }) => projectId))]
    // not of one that was deleted meanwhile
    yield* sql`select from alert where project_id = any(${projectIds}::uuid[]) order by project_id for key share`
    yield* sql`insert into alert_event (id, project_id, threshold, occasion, period_start, spent_micro_usd, limit_micro_usd,
        fired_at, next_attempt_at)
      select r.id, r."projectId", r.threshold::jsonb, r.occasion, r."periodStart", r.spent, r."limit", ${at},
        case when r.sends then ${at}::timestamptz end
      from jsonb_to_recordset(${JSON.stringify(reached.map((row) => ({ ...row, id: ids.uuid() })))}::jsonb) as r(id uuid,
        "projectId" uuid, threshold text, occasion text, "periodStart" timestamptz, spent bigint, "limit" bigint, sends boolean)
      join alert a on a.project_id = r."projectId"
      on conflict (project_id, threshold, occasion) do nothing`
    yield* sql`delete from alert_event e using unnest(${projectIds}::uuid[]) as p(id)
        cross join lateral (select id from alert_event where project_id = p.id order by id desc
          offset ${maxEvents} limit 1) oldest
      where e.project_id = p.id and e.id <= oldest.id and e.period_start is not null`
    return last
  })

/** So long a period is looked at after its end: what was spent in its last seconds, or while no node could look. */
const evaluatedAfter = "1 hour"

/**
 * The thresholds of the projects that are reached and have no event of their period, or of one of spend that has just ended: a limit
 * is another one then. What was spent in a period is read as the activity is: sums of days, and the calls since they were summed up, none of them after the period: those have the database's
 * times, and the clock of this node may be behind it. A limit without a reset period counts all that was ever
 * spent; its event is of that limit, so that a raised one is notified again.
 */
const reachedBy = (sql: SqlClient, projects: ReadonlyArray<{ readonly id: ProjectId }>, at: Date) => sql`
  with thresholds as (
    select a.project_id, a.webhook_url is not null as sends, t.threshold, s.limit_micro_usd, s.spent_micro_usd as spent_ever,
      case t.threshold ->> 'type' when 'spend' then (t.threshold ->> 'amount_microusd')::numeric
        else ceil(s.limit_micro_usd::numeric * (t.threshold ->> 'percent')::int / 100) end as amount,
      e.begin at time zone 'UTC' as period_start, (e.begin + ('1 ' || p.period)::interval) at time zone 'UTC' as period_end
    from alert a cross join lateral jsonb_array_elements(a.thresholds) as t(threshold) join scope s on s.id = a.project_id
      cross join lateral (select case t.threshold ->> 'type' when 'spend' then t.threshold ->> 'period'
        else s.limit_reset end as period) p
      cross join lateral (select date_trunc(p.period, ${at}::timestamptz at time zone 'UTC') as begin) c
      cross join lateral (select c.begin union all select c.begin - ('1 ' || p.period)::interval
        where t.threshold ->> 'type' = 'spend' and a.thresholds_set_at < c.begin at time zone 'UTC'
          and ${at}::timestamptz < (c.begin + interval ${sql.literal(`'${evaluatedAfter}'`)}) at time zone 'UTC') e
    where a.project_id = any(${projects.map(({ id }) => id)}::uuid[])
      and (t.threshold ->> 'type' = 'spend' or s.limit_micro_usd is not null)
  ), not_fired as materialized (
    select t.*, o.occasion from thresholds t cross join lateral (select concat_ws(' ',
      to_char(t.period_start at time zone 'UTC', 'YYYY-MM-DD'),
      case when t.threshold ->> 'type' <> 'spend' then 'limit ' || t.limit_micro_usd end) as occasion) o
    where not exists (select from alert_event e
      where e.project_id = t.project_id and e.threshold = t.threshold and e.occasion = o.occasion)
  ), spent as materialized (
    select p.project_id, p.period_start, p.period_end,
      (select coalesce(sum(d.spend_micro_usd), 0) from activity_day d
        where d.project_id = p.project_id and d.day >= (p.period_start at time zone 'UTC')::date
          and d.day < (p.period_end at time zone 'UTC')::date)
      + (select coalesce(sum(c.cost_micro_usd), 0) from call c where c.project_id = p.project_id
        and c.written_at >= greatest((select through from activity_progress), p.period_start)
        and c.written_at < p.period_end) as spent
    from (select distinct project_id, period_start, period_end from not_fired where period_start is not null) p
  ), compared as (
    select n.*, case when n.period_start is null then n.spent_ever else s.spent end as spent
    from not_fired n left join spent s on s.project_id = n.project_id and s.period_start = n.period_start
      and s.period_end = n.period_end
  )
  select project_id as "projectId", threshold::text as threshold, occasion, period_start as "periodStart", spent::text as spent,
    limit_micro_usd::text as "limit", sends
  from compared where spent >= amount and spent > 0 order by project_id, amount`
