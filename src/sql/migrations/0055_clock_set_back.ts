import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * `open_holds_move` of 0040 for a clock that is set back: holds that are created then were before `since` without being listed, and
 * were held for ever once their node had died. `since` follows the clock back, to before anything that was written since; going back
 * only makes holds be read again.
 */
const openHolds = `
create or replace function open_holds_move(p_margin interval) returns void
language plpgsql set enable_seqscan = off set jit = off as $$
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
  if to_time = from_time then return; end if;
  if to_time < from_time then
    -- nodes sweep every few seconds
    update open_holds set since = to_time - interval '1 minute';
    return;
  end if;
  insert into long_hold select h.id from hold h
  where h.created_at >= from_time and h.created_at < to_time and h.closed_at is null on conflict do nothing;
  update open_holds set since = to_time;
end $$;
`

/**
 * Sums of activity never reach the last `p_margin`, unless the clock was set back. Calls that ended since then were never summed up, and
 * cannot be told from those that were: the sums from that day on are made again, where all of its calls are still there.
 */
const activity = `
do $do$
declare
  definition text := pg_get_functiondef('activity_sum_up(interval, int)'::regprocedure);
  begun constant text := 'if not found then return false; end if;';
  again constant text := $sql$
  if from_time > now() - p_margin then
    to_time := date_trunc('day', now() - interval '1 minute', 'UTC');
    if to_time >= (select deleted_before from retention) then
      delete from activity_day where day >= (to_time at time zone 'UTC')::date;
      delete from savings_day where day >= (to_time at time zone 'UTC')::date;
      delete from activity_hour where hour >= to_time;
      update activity_progress set through = to_time;
      from_time := to_time;
    end if;
  end if;$sql$;
begin
  if strpos(definition, begun) = 0 then raise exception 'activity_sum_up begins in another way'; end if;
  execute replace(definition, begun, begun || again);
end $do$;
`

export const clockSetBack = Effect.flatMap(SqlClient, (sql) =>
  Effect.zipRight(sql.unsafe(openHolds), sql.unsafe(activity))
)
