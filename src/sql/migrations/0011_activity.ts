import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * The request log is read in the order in which calls ended, which is the order of `call.written_at` but for the few seconds that a
 * settlement may take to be committed. Every index of `call` so grows at its end, and a call that ends never appears in the
 * middle of a list.
 *
 * `activity_day` and `activity_hour` have the sums of all calls that were written before `activity_progress.through`; later ones are
 * read from `call`. A call is therefore counted once, whenever it is asked for, and its settlement locks no row that another
 * settlement needs. The indexes cost a settlement within 1 % of what it took before; a row of sums in its own statement took 3 to
 * 7 % more, and partitions by month 7 to 10 % (batches of 1, 8 and 32 calls on PostgreSQL 15, beside each other).
 */
const activity = `
drop index call_project;
drop index call_key;
create index call_project on call (project_id, written_at, id);
create index call_key on call (key_id, written_at, id);
create index call_unsuccessful on call (project_id, written_at, id) where status <> 'success';
create index call_written on call (written_at);

create table activity_day (
  project_id uuid not null,
  -- In UTC.
  day date not null,
  key_id uuid not null,
  -- Of the last attempt; empty where no provider was called.
  provider text not null,
  model text not null,
  requests bigint not null,
  -- Of the requests: errors and timeouts.
  failures bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  spend_micro_usd bigint not null,
  primary key (project_id, day, key_id, provider, model)
) with (fillfactor = 50);
comment on table activity_day is 'Sums of the calls that ended on a day; they outlive the calls';

create table activity_hour (
  project_id uuid not null,
  hour timestamptz not null,
  requests bigint not null,
  failures bigint not null,
  prompt_tokens bigint not null,
  completion_tokens bigint not null,
  spend_micro_usd bigint not null,
  primary key (project_id, hour)
) with (fillfactor = 50);
comment on table activity_hour is 'Sums of the calls that ended in an hour, for recent hours';

create table activity_progress (
  id int primary key default 1 check (id = 1),
  -- Calls that were written before this are in the sums.
  through timestamptz not null default '-infinity'
) with (fillfactor = 10);
insert into activity_progress default values;
-- The planner takes a table that was never analyzed for one of 2,000 rows.
analyze activity_progress;

-- Adds one portion of calls to the sums; true when more are left. A call becomes visible at its commit and counts at the time when
-- its transaction began, so the sums go no further than the oldest transaction that has written something and still runs.
-- One that has begun and not yet written anything does so within p_margin.
create function activity_sum_up(p_margin interval, p_max int) returns boolean language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  from_time timestamptz; to_time timestamptz; end_time timestamptz; summed bigint;
begin
  select through into from_time from activity_progress for update skip locked;
  if not found then return false; end if;
  to_time := least(now() - p_margin, (
    select min(a.xact_start) from pg_stat_activity a
    where a.datname = current_database() and a.backend_xid is not null and a.pid <> pg_backend_pid()));
  select written_at into end_time from call where written_at >= from_time and written_at < to_time
  order by written_at offset p_max limit 1;
  -- All calls of one batch have the same time.
  if end_time is not null then to_time := greatest(end_time, from_time + interval '1 microsecond'); end if;
  with ended as materialized (
    select project_id, key_id, coalesce(provider, '') as provider, coalesce(model, '') as model, written_at,
      (status in ('error', 'timeout'))::int as failed, cost_micro_usd as spend,
      coalesce(input_tokens + cache_read_tokens + cache_write_tokens, 0) as prompt,
      coalesce(output_tokens + reasoning_tokens, 0) as completion
    from call where written_at >= from_time and written_at < to_time
  ), days as (
    insert into activity_day as d (project_id, day, key_id, provider, model, requests, failures, prompt_tokens,
      completion_tokens, spend_micro_usd)
    select project_id, (written_at at time zone 'UTC')::date, key_id, provider, model, count(*), sum(failed), sum(prompt),
      sum(completion), sum(spend)
    from ended group by 1, 2, 3, 4, 5
    on conflict (project_id, day, key_id, provider, model) do update set requests = d.requests + excluded.requests,
      failures = d.failures + excluded.failures, prompt_tokens = d.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = d.completion_tokens + excluded.completion_tokens,
      spend_micro_usd = d.spend_micro_usd + excluded.spend_micro_usd
  ), hours as (
    insert into activity_hour as h (project_id, hour, requests, failures, prompt_tokens, completion_tokens, spend_micro_usd)
    select project_id, date_trunc('hour', written_at, 'UTC'), count(*), sum(failed), sum(prompt), sum(completion), sum(spend)
    from ended group by 1, 2
    on conflict (project_id, hour) do update set requests = h.requests + excluded.requests,
      failures = h.failures + excluded.failures, prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = h.completion_tokens + excluded.completion_tokens,
      spend_micro_usd = h.spend_micro_usd + excluded.spend_micro_usd
  )
  select count(*) into summed from ended;
  -- An idle gateway writes nothing.
  if summed > 0 or end_time is not null then update activity_progress set through = to_time; end if;
  return end_time is not null;
end $$;
`

const refusals = `
create table refusal (
  -- The id of the request.
  id uuid primary key,
  project_id uuid not null,
  key_id uuid not null,
  requested_model text not null,
  endpoint text not null check (endpoint in ('chat', 'responses', 'embedded')),
  status int not null check (status in (402, 404, 429)),
  code text not null,
  message text not null,
  -- What refused it: the balance of the account, or a limit of the project or key; null for a 404.
  scope text check (scope in ('account', 'project', 'key')),
  reason text check (reason in ('exhausted', 'held', 'too_large')),
  needed_micro_usd bigint,
  remaining_micro_usd bigint,
  held_micro_usd bigint,
  remaining_requests bigint,
  remaining_tokens bigint,
  retry_after_millis bigint,
  refused_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.05);
comment on table refusal is 'Requests that never became a call, the newest of each project';
create index refusal_project on refusal (project_id, refused_at, id);
`

/**
 * Deletes one portion of calls that ended longer ago than `p_age`, with their attempts and holds, and returns their number. None goes
 * before it is in the sums of its day, nor before what its hold has spent is in `ledger_scope_base`. The journal stays.
 */
const retention = `
create table retention (
  id int primary key default 1 check (id = 1),
  -- Calls and holds from before this may be deleted.
  deleted_before timestamptz not null default '-infinity'
) with (fillfactor = 10);
insert into retention default values;

create function retention_delete(p_age interval, p_hours_age interval, p_max int) returns int language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  horizon timestamptz; ids uuid[]; without_call uuid[];
begin
  if not pg_try_advisory_xact_lock(7021407) then return 0; end if;
  delete from activity_hour h where h.hour < least(now() - p_hours_age, (select through from activity_progress) - interval '2 hours');
  delete from refusal r where r.id = any(array(select id from refusal where refused_at < now() - p_age limit p_max));
  select least(now() - p_age, a.through, c.holds_through) into horizon from activity_progress a, ledger_check c;
  select array_agg(c.id) into ids from (
    select id from call where written_at < horizon order by written_at limit p_max for update skip locked) c;
  -- What was closed without a call: the void of a lost reservation. Only once no old hold has a call: else each portion would read
  -- all of them.
  if coalesce(cardinality(ids), 0) < p_max then
    select array_agg(h.id) into without_call from (
      select h.id from hold h where h.created_at < horizon - interval '1 day' and h.closed_at is not null
        and not exists (select from call c where c.id = h.id)
      order by h.created_at limit p_max for update skip locked) h;
  end if;
  if ids is null and without_call is null then return 0; end if;
  update retention set deleted_before = greatest(deleted_before, horizon);
  delete from attempt where call_id = any(ids);
  delete from call where id = any(ids);
  delete from hold where id = any(ids || without_call);
  return coalesce(cardinality(ids), 0) + coalesce(cardinality(without_call), 0);
end $$;

alter table call set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
alter table attempt set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1)
`

export const activityAndRetention = Effect.flatMap(SqlClient, (sql) => sql.unsafe(activity + refusals + retention))
