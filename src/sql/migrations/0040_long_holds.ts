import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * One call that lasts no longer makes the search for open holds read every hold since. The time before which no hold is open
 * moves on without those that are still open then; they are listed by themselves, as are those that the check of the invariants
 * passes while they are open.
 *
 * The plans of these functions are made while the tables are small, and kept: what is listed is read into an array, so that none of them
 * can begin with all holds.
 *
 * Nodes of earlier versions know nothing of the lists: they call the old `ledger_expire`, which calls the new one, and check no
 * invariants, since for them the next check is never due.
 */
const openHolds = `
create table long_hold (
  id uuid primary key
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table long_hold is 'Holds from before open_holds.since that were open when it moved past them';
comment on table open_holds is 'No hold that was created before since is open, except those of long_hold';

create table unsummed_hold (
  id uuid primary key
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table unsummed_hold is
  'Holds from before ledger_check.holds_through that were open when it moved past them; ledger_scope_base is without them';
alter table ledger_check add column begun_at timestamptz not null default '-infinity';
update ledger_check set begun_at = checked_at, checked_at = 'infinity';
comment on column ledger_check.checked_at is 'For nodes of versions that know no unsummed_hold: they must not check';
comment on column ledger_check.holds_through is 'Holds from before this are in ledger_scope_base, except those of unsummed_hold';

create function open_holds_read() returns setof hold language plpgsql stable rows 100 set enable_seqscan = off set jit = off as $$
declare
  from_time timestamptz := (select since from open_holds);
begin
  return query
    select h.* from hold h where h.created_at >= from_time and h.closed_at is null
    union all
    select h.* from hold h where h.id = any(array(select id from long_hold)) and h.created_at < from_time and h.closed_at is null;
end $$;

-- Within p_margin a transaction has written something, or has ended: a hold has the time at which its transaction began.
create function open_holds_move(p_margin interval) returns void language plpgsql set enable_seqscan = off set jit = off as $$
declare
  listed uuid[] := array(select id from long_hold);
  open uuid[] := array(select h.id from hold h where h.id = any(listed) and h.closed_at is null);
  from_time timestamptz; to_time timestamptz;
begin
  select since into from_time from open_holds for update skip locked;
  if not found then return; end if;
  select least(now() - p_margin, min(a.xact_start)) into to_time from pg_stat_activity a
  where a.datname = current_database() and a.backend_xid is not null and a.pid <> pg_backend_pid();
  delete from long_hold l where l.id = any(listed) and l.id <> all(open);
  if to_time <= from_time then return; end if;
  insert into long_hold select h.id from hold h
  where h.created_at >= from_time and h.created_at < to_time and h.closed_at is null on conflict do nothing;
  update open_holds set since = to_time;
end $$;

-- What is older than p_age, or of a node that is silent, is older than p_margin, and therefore listed.
create function ledger_expire(p_node uuid, p_silence interval, p_age interval, p_max int, p_margin interval) returns int
language plpgsql set enable_seqscan = off set jit = off as $$
declare
  hears constant boolean := node_hears(p_node, p_silence);
  expired int;
begin
  perform open_holds_move(p_margin);
  with open as materialized (
    select h.id, h.node, h.created_at from hold h
    where h.id = any(array(select id from long_hold)) and h.closed_at is null
  ), old as (
    select o.id from open o left join node n on n.id = o.node
    where o.created_at <= now() - p_age
      or (hears and o.node <> p_node and (n.id is null or n.seen_at <= now() - p_silence))
    order by o.created_at limit p_max
  ), gone as (
    select h.id from hold h where h.id = any(array(select id from old)) and h.closed_at is null for update skip locked
  ), closed as (
    update hold h set state = 'expired', closed_at = now(), actual_micro_usd = 0 from gone g where h.id = g.id
    returning h.*
  ), logged as (
    insert into call (id, key_id, project_id, account_id, requested_model, token_doctor, status, error_code, error_message,
      cost_micro_usd, cost_basis, pool, started_at)
    select c.id, c.key_id, c.project_id, c.account_id, c.requested_model, false, 'error', 'gateway_restarted',
      'The gateway stopped before the call ended; nothing was charged.', 0, 'charged', array[c.requested_model], c.created_at
    from closed c on conflict (id) do nothing
  ), effects as (
    select s.id, sum(c.amount_micro_usd)::bigint as released
    from closed c cross join lateral (
      values (c.key_id), (c.project_id), (case when c.managed then c.account_id end)) as s(id)
    where s.id is not null group by s.id
  ), locked as (
    select s.id, e.released from scope s join effects e on e.id = s.id order by s.id for update of s
  ), updated as (
    update scope s set held_micro_usd = s.held_micro_usd - l.released from locked l where l.id = s.id
  )
  select count(*) into expired from closed;
  return expired;
end $$;

create or replace function ledger_expire(p_node uuid, p_silence interval, p_age interval, p_most int) returns int
language plpgsql as $$
begin
  return ledger_expire(p_node, p_silence, p_age, p_most, interval '20 seconds');
end $$;

create or replace function node_forget(p_node uuid, p_silence interval) returns void
language plpgsql set enable_seqscan = off set jit = off as $$
begin
  delete from node n where n.seen_at <= now() - p_silence and node_hears(p_node, p_silence) and not exists (
    select from hold h where h.id = any(array(select id from long_hold)) and h.closed_at is null and h.node = n.id);
end $$;

create or replace function retention_delete(p_age interval, p_hours_age interval, p_max int) returns int language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  horizon timestamptz; ids uuid[]; without_call uuid[];
begin
  if not pg_try_advisory_xact_lock(7021407) then return 0; end if;
  delete from activity_hour h where h.hour < least(now() - p_hours_age, (select through from activity_progress) - interval '2 hours');
  delete from refusal r where r.id = any(array(select id from refusal where refused_at < now() - p_age limit p_max));
  select least(now() - p_age, a.through, c.holds_through) into horizon from activity_progress a, ledger_check c;
  select array_agg(c.id) into ids from (
    select id from call where written_at < horizon and not exists (select from unsummed_hold u where u.id = call.id)
    order by written_at limit p_max for update skip locked) c;
  -- What was closed without a call: the void of a lost reservation. Only once no old hold has a call: else each portion would read
  -- all of them.
  if coalesce(cardinality(ids), 0) < p_max then
    select array_agg(h.id) into without_call from (
      select h.id from hold h where h.created_at < horizon - interval '1 day' and h.closed_at is not null
        and not exists (select from call c where c.id = h.id) and not exists (select from unsummed_hold u where u.id = h.id)
      order by h.created_at limit p_max for update skip locked) h;
  end if;
  if ids is null and without_call is null then return 0; end if;
  update retention set deleted_before = greatest(deleted_before, horizon);
  delete from attempt where call_id = any(ids);
  delete from call where id = any(ids);
  delete from hold where id = any(ids || without_call);
  return coalesce(cardinality(ids), 0) + coalesce(cardinality(without_call), 0);
end $$;

-- As before, in plpgsql: where an SQL function is not inlined, each call of it cost the embedded database 60 µs, this one 6.
create or replace function call_cost(p_prices jsonb, p_input bigint, p_cache_read bigint, p_cache_write bigint, p_output bigint,
  p_reasoning bigint, p_audio_input bigint, p_audio_output bigint) returns numeric language plpgsql immutable as $$
declare
  audio_input bigint := least(p_input, coalesce(p_audio_input, 0));
  audio_output bigint := least(p_output, coalesce(p_audio_output, 0));
  rates jsonb := p_prices;
  input_rate numeric; output_rate numeric;
begin
  if jsonb_array_length(p_prices -> 'tiers') > 0 then
    rates := coalesce((
      select t.tier from jsonb_array_elements(p_prices -> 'tiers') as t(tier)
      where p_input + p_cache_read + p_cache_write > (t.tier ->> 'abovePromptTokens')::bigint
      order by (t.tier ->> 'abovePromptTokens')::bigint desc limit 1), p_prices);
  end if;
  input_rate := rates ->> 'input';
  output_rate := rates ->> 'output';
  return ceil((
      (p_input - audio_input) * input_rate
      + audio_input * coalesce((rates ->> 'audioInput')::numeric, input_rate)
      + p_cache_read * coalesce((rates ->> 'cacheRead')::numeric, input_rate)
      + p_cache_write * coalesce((rates ->> 'cacheWrite')::numeric, input_rate)
      + (p_output - audio_output + p_reasoning) * output_rate
      + audio_output * coalesce((rates ->> 'audioOutput')::numeric, output_rate)
    ) / 1000000) + coalesce((p_prices ->> 'webSearchMicroUsd')::numeric, 0);
end $$
`

export const longHolds = Effect.flatMap(SqlClient, (sql) => sql.unsafe(openHolds))
