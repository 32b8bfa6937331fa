import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * One hold that is granted, which is most of what the ledger writes for one call after the other: `ledger_batch` takes a third longer
 * for it. Without room, a scope or an id of its own it writes nothing, and `granted` is 0: `ledger_batch` then says why.
 */
const reserve = `
create function ledger_reserve(
  p_node uuid, p_id uuid, p_key uuid, p_project uuid, p_account uuid, p_managed boolean, p_model text,
  o_max bigint[], o_typical bigint[], o_min bigint[], p_lock_millis int,
  out granted int, out amount bigint, out available bigint
) language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan set lock_timeout = 200 as $$
declare
  unlimited constant bigint := 4000000000000000000; max_safe constant bigint := 9007199254740991;
  scopes constant uuid[] := case when p_managed then array[p_account, p_project, p_key] else array[p_project, p_key] end;
  room bigint; known int;
begin
  -- The setting of the function above is what is restored at its end.
  perform set_config('lock_timeout', p_lock_millis::text, true);
  granted := 0;
  select min(coalesce(l.limit_micro_usd, unlimited) - l.spent_micro_usd - l.held_micro_usd), count(*) into room, known
  from (
    select s.limit_micro_usd, s.spent_micro_usd, s.held_micro_usd from scope s where s.id = any(scopes) order by s.id for update
  ) l;
  if known < cardinality(scopes) then return; end if;
  for i in 1 .. cardinality(o_min) loop
    if o_min[i] <= room then
      amount := greatest(0, least(o_max[i], room, case when o_typical[i] is null then room
        else greatest(o_min[i], room / 16, least(o_typical[i], room / 2)) end));
      insert into hold (id, key_id, project_id, account_id, managed, requested_model, amount_micro_usd, node)
      values (p_id, p_key, p_project, p_account, p_managed, p_model, amount, p_node) on conflict (id) do nothing;
      if not found then return; end if;
      update scope set held_micro_usd = held_micro_usd + amount where id = any(scopes);
      granted := i;
      available := least(greatest(0, room - amount), max_safe);
      exit;
    end if;
  end loop;

  -- Last, since batches of one node run beside each other.
  if granted > 0 and not exists (select from node where id = p_node and seen_at > now() - interval '1 second') then
    perform node_heard(p_node);
  end if;
end $$;
`

export const ledgerReserve = Effect.flatMap(SqlClient, (sql) => sql.unsafe(reserve))
