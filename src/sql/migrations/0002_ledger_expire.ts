/**
 * Expires holds whose process is gone: the customer pays nothing, and the call's row records it. Takes the oldest holds of
 * every node without a heartbeat for `p_silence`, and any that is older than `p_age`; null disables that rule. Holds that are
 * being closed elsewhere are skipped without waiting.
 */
export const ledgerExpire = `
create function ledger_expire(p_silence interval, p_age interval, p_most int) returns int language plpgsql as $$
declare
  expired int;
begin
  with gone as (
    select h.id from hold h left join node n on n.id = h.node
    where h.state = 'held'
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
