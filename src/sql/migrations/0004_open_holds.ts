import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Until vacuum, an index of open holds has an entry for each hold that was ever open, so only the query for open holds may use
 * it, never one for a hold by its id. The batch filters by the state `held`; the index therefore filters by the equivalent
 * `closed_at is null`, which keeps the planner from using it there. The settings keep a plan that was made for small tables
 * from scanning large ones, and the planner from planning every batch again.
 */
const openHolds = `
drop index hold_open;
create index hold_open on hold (node, created_at) where closed_at is null;
alter function ledger_batch set enable_seqscan = off;
alter function ledger_batch set plan_cache_mode = force_generic_plan;

create or replace function ledger_expire(p_silence interval, p_age interval, p_most int) returns int language plpgsql as $$
declare
  expired int;
begin
  with gone as (
    select h.id from hold h left join node n on n.id = h.node
    where h.closed_at is null
      and (n.id is null or n.seen_at <= now() - p_silence or h.created_at <= now() - p_age)
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
end $$
`

export const openHoldsIndex = Effect.flatMap(SqlClient, (sql) => sql.unsafe(openHolds))
