import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * A running claim on an Idempotency-Key belongs to a node and falls with it, together with the hold of its run; the kept
 * response is written in the statement that settles the call. Rows of older versions have no node: they expire by their time.
 *
 * A fallen run that never had a hold is given a closed one, so that a hold that is still on its way to the database fails: no
 * two runs of one key are ever charged.
 */
const claims = `
alter table idempotent_request
  add column node uuid,
  add column claimed_at timestamptz not null default now(),
  add column status int not null default 200,
  -- besides the content type
  add column headers jsonb not null default '{}';
create index idempotent_request_running on idempotent_request (node) where state = 'running';

create function idempotency_claim(
  p_key uuid, p_name text, p_run uuid, p_hash bytea, p_project uuid, p_account uuid, p_node uuid, p_silence interval,
  out o_state text, out o_hash bytea, out o_status int, out o_content_type text, out o_headers jsonb, out o_answer bytea
) language plpgsql as $$
declare
  found_row idempotent_request;
  hold_state text;
  is_free boolean;
begin
  loop
    insert into idempotent_request (key_id, idempotency_key, run_id, request_hash, state, node, expires_at)
    values (p_key, p_name, p_run, p_hash, 'running', p_node, 'infinity') on conflict do nothing;
    if found then o_state := 'claimed'; return; end if;

    select * into found_row from idempotent_request where key_id = p_key and idempotency_key = p_name;
    -- released meanwhile
    continue when not found;

    is_free := found_row.expires_at <= now();
    if not is_free and found_row.state = 'running' and found_row.node is not null then
      select h.state into hold_state from hold h where h.id = found_row.run_id;
      if hold_state = 'expired' then is_free := true;
      elsif not exists (select from node n where n.id = found_row.node and n.seen_at > now() - p_silence) then
        insert into hold (id, key_id, project_id, account_id, managed, requested_model, amount_micro_usd, actual_micro_usd,
          state, closed_at, node)
        values (found_row.run_id, p_key, p_project, p_account, false, '', 0, 0, 'void', now(), found_row.node)
        on conflict do nothing;
        select h.state <> 'held' into is_free from hold h where h.id = found_row.run_id;
      end if;
    end if;

    if not is_free then
      o_state := found_row.state; o_hash := found_row.request_hash; o_status := found_row.status;
      o_content_type := found_row.content_type; o_headers := found_row.headers; o_answer := found_row.answer;
      return;
    end if;
    update idempotent_request
    set run_id = p_run, request_hash = p_hash, state = 'running', content_type = null, answer = null, node = p_node,
      claimed_at = now(), status = 200, headers = '{}', expires_at = 'infinity'
    where key_id = p_key and idempotency_key = p_name and run_id = found_row.run_id and state = found_row.state;
    if found then o_state := 'claimed'; return; end if;
  end loop;
end $$;

-- Evaluated after ledger_batch in the same statement: a call that was expired before has no charge, and keeps no response.
create function idempotency_keep(p_kept jsonb) returns void language plpgsql strict as $$
begin
  update idempotent_request r
  set state = 'finished', status = k.status, content_type = k.content_type, headers = k.headers,
    answer = decode(k.answer, 'base64'), expires_at = now() + k.kept_millis * interval '1 millisecond'
  from jsonb_to_recordset(p_kept) as k(key_id uuid, idempotency_key text, run_id uuid, status int, content_type text,
      headers jsonb, answer text, kept_millis double precision)
    join hold h on h.id = k.run_id and h.state in ('settled', 'cancelled', 'void')
  where r.key_id = k.key_id and r.idempotency_key = k.idempotency_key and r.run_id = k.run_id and r.state = 'running';
end $$
`

export const idempotentClaims = Effect.flatMap(SqlClient, (sql) => sql.unsafe(claims))
