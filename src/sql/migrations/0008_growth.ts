import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * What keeps the ledger's own work independent of how many calls there were.
 *
 * No index of hold has a column that the end of a call changes, so that end is an update within the page, without a new entry in
 * any index. Open holds are found by their time of creation instead, from a watermark before which none is open.
 *
 * The invariants are checked in portions; `ledger_check` says how far they are, `ledger_scope_base` what the holds before
 * `holds_through` add up to, and `ledger_violation` which rows broke an invariant when they were last checked.
 */
const growth = `
drop index hold_open;
create index hold_created on hold (created_at);
alter table hold set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
alter table scope set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_cost_delay = 0);
alter table node set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table idempotent_request set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 1);
alter table journal set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table call set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table attempt set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

create table open_holds (
  id int primary key default 1 check (id = 1),
  since timestamptz not null
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
comment on table open_holds is 'No hold that was created before this time is open';
insert into open_holds (since) select coalesce(min(created_at), now()) - interval '1 minute' from hold where closed_at is null;

create or replace function ledger_expire(p_node uuid, p_silence interval, p_age interval, p_most int) returns int
language plpgsql as $$
declare
  hears constant boolean := node_hears(p_node, p_silence);
  from_time timestamptz;
  oldest timestamptz;
  has_no_node boolean;
  to_time timestamptz := now() - p_age;
  expired int;
begin
  select since into from_time from open_holds;
  select h.created_at, n.id is null into oldest, has_no_node from hold h left join node n on n.id = h.node
  where h.created_at >= from_time and h.closed_at is null order by h.created_at limit 1;
  -- A transaction that began before it was read may still commit a hold: none takes a minute.
  update open_holds set since = coalesce(oldest, now()) - interval '1 minute'
  where since < coalesce(oldest, now()) - interval '70 seconds';

  -- While every node is heard, only the oldest holds are read.
  if hears and (has_no_node or exists (select from node n where n.seen_at <= now() - p_silence)) then
    to_time := 'infinity';
  end if;
  with gone as (
    select h.id from hold h left join node n on n.id = h.node
    where h.created_at >= from_time and h.created_at <= to_time and h.closed_at is null
      and (h.created_at <= now() - p_age
        or (hears and h.node <> p_node and (n.id is null or n.seen_at <= now() - p_silence)))
    order by h.created_at limit p_most for update of h skip locked
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
-- The cost of a table without an index then looks high enough for the query to be compiled, which takes 0.2 s.
alter function ledger_expire(uuid, interval, interval, int) set enable_seqscan = off;
alter function ledger_expire(uuid, interval, interval, int) set jit = off;

create function node_forget(p_node uuid, p_silence interval) returns void language plpgsql set enable_seqscan = off set jit = off as $$
begin
  delete from node n where n.seen_at <= now() - p_silence and node_hears(p_node, p_silence) and not exists (
    select from hold h, open_holds o where h.created_at >= o.since and h.closed_at is null and h.node = n.id);
end $$;

-- What is spent and held can never rise above this: the limit, or what there was when the limit was lowered.
alter table scope add column ceiling_micro_usd bigint;
update scope set ceiling_micro_usd = greatest(limit_micro_usd, spent_micro_usd + held_micro_usd)
where limit_micro_usd is not null;
create function scope_ceiling() returns trigger language plpgsql as $$
begin
  new.ceiling_micro_usd := case when new.limit_micro_usd is not null
    then greatest(new.limit_micro_usd, new.spent_micro_usd + new.held_micro_usd) end;
  return new;
end $$;
create trigger scope_ceiling before insert or update of limit_micro_usd on scope
  for each row execute function scope_ceiling();

create table ledger_check (
  id int primary key default 1 check (id = 1),
  checked_at timestamptz not null default '-infinity',
  -- Holds that were created before this are closed, were checked, and are in ledger_scope_base.
  holds_through timestamptz not null default '-infinity',
  journal_through bigint not null default 0,
  -- These start again at the end, so that every row is checked again in time.
  holds_again timestamptz not null default '-infinity',
  calls_again uuid not null default '00000000-0000-0000-0000-000000000000',
  scopes_again uuid not null default '00000000-0000-0000-0000-000000000000',
  overrun_micro_usd bigint not null default 0,
  late_micro_usd bigint not null default 0,
  expired_holds bigint not null default 0
);
insert into ledger_check default values;
create table ledger_scope_base (
  scope_id uuid primary key,
  spent_micro_usd bigint not null
) with (fillfactor = 70);
create table ledger_violation (
  invariant text not null,
  subject text not null,
  detail jsonb not null,
  found_at timestamptz not null default now(),
  primary key (invariant, subject)
)
`

export const growthAndChecks = Effect.flatMap(SqlClient, (sql) => sql.unsafe(growth))
