import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * A call that its first attempt answers, which most are, says all of that attempt but two values in columns of its own: with these two
 * it needs no row in `attempt`. Such a row, its index and its foreign key were two fifths of what the log of a call costs the database.
 * Nodes of the version before write all rows, and read of newer calls no attempt.
 */
const columns = `
alter table call add column attempt_started_at timestamptz, add column attempt_latency_millis double precision;
comment on column call.attempt_started_at is
  'When the only attempt began, where the columns of the call tell all else of it; null where its attempts are in the table attempt';
comment on column call.attempt_latency_millis is
  'How long the only attempt took, where the columns of the call tell all else of it; null where its attempts are in the table attempt';

create view call_attempt as
  select call_id, position, provider, model, status, error_code, error_message, cost_micro_usd, cost_basis, latency_millis,
    started_at, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, provider_cost_micro_usd
  from attempt
  union all
  select id, 0, provider, model, status, error_code, error_message, cost_micro_usd, cost_basis, attempt_latency_millis,
    attempt_started_at, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, null
  from call where attempt_latency_millis is not null;
comment on view call_attempt is 'The attempts of all calls, whether they have rows of their own or not';
comment on table attempt is 'Attempts of calls whose own columns do not tell all of them; call_attempt has those of all calls';
`

/** As before, with the two columns, and without the work for attempts where there are none. */
const log = `
create or replace function call_log(p_calls jsonb, p_attempts jsonb) returns void language plpgsql as $$
declare
  written uuid[];
begin
  with inserted as (
    insert into call (id, key_id, project_id, account_id, requested_model, model, provider, endpoint, stream, token_doctor,
      status, error_code, error_message, cost_micro_usd, cost_basis, input_tokens, cache_read_tokens, cache_write_tokens,
      output_tokens, reasoning_tokens, input_audio_tokens, output_audio_tokens, accepted_prediction_tokens,
      rejected_prediction_tokens, prices, latency_millis, first_content_millis, routing_config, reason, policy_version, pool,
      pool_numbers, client_request_id, alpha, excluded, baseline_model, baseline_micro_usd, features, conversation, origin,
      attempt_started_at, attempt_latency_millis, started_at)
    select c.id, c.key_id, c.project_id, c.account_id, c.requested_model, c.model, c.provider, c.endpoint, c.stream,
      c.token_doctor, c.status, c.error_code, c.error_message, c.cost_micro_usd, c.cost_basis, c.input_tokens,
      c.cache_read_tokens, c.cache_write_tokens, c.output_tokens, c.reasoning_tokens, c.input_audio_tokens,
      c.output_audio_tokens, c.accepted_prediction_tokens, c.rejected_prediction_tokens, c.prices::jsonb, c.latency_millis,
      c.first_content_millis, c.routing_config, c.reason, c.policy_version, c.pool, c.pool_numbers, c.client_request_id,
      c.alpha, c.excluded::jsonb, c.baseline_model, c.baseline_micro_usd, c.features, decode(c.conversation, 'hex'),
      coalesce(c.origin, 'user'), to_timestamp(c.attempt_started_at_millis / 1000), c.attempt_latency_millis,
      to_timestamp(c.started_at_millis / 1000)
    from jsonb_to_recordset(p_calls) as c(id uuid, key_id uuid, project_id uuid, account_id uuid, requested_model text,
      model text, provider text, endpoint text, stream boolean, token_doctor boolean, status text, error_code text,
      error_message text, cost_micro_usd bigint, cost_basis text, input_tokens bigint, cache_read_tokens bigint,
      cache_write_tokens bigint, output_tokens bigint, reasoning_tokens bigint, input_audio_tokens bigint,
      output_audio_tokens bigint, accepted_prediction_tokens bigint, rejected_prediction_tokens bigint,
      prices text, latency_millis double precision, first_content_millis double precision, routing_config text, reason text,
      policy_version bigint, pool text[], pool_numbers text, client_request_id text, alpha double precision, excluded text,
      baseline_model text, baseline_micro_usd bigint, features text, conversation text, origin text,
      attempt_started_at_millis double precision, attempt_latency_millis double precision, started_at_millis double precision)
    on conflict (id) do nothing returning id
  )
  select array_agg(id) into written from inserted;
  if written is null or jsonb_array_length(p_attempts) = 0 then return; end if;

  with logged as (
    insert into attempt (call_id, position, provider, model, status, error_code, error_message, cost_micro_usd, cost_basis,
      latency_millis, started_at, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
      provider_cost_micro_usd)
    select a.call_id, a.position, a.provider, a.model, a.status, a.error_code, a.error_message, a.cost_micro_usd,
      a.cost_basis, a.latency_millis, to_timestamp(a.started_at_millis / 1000), a.input_tokens, a.cache_read_tokens,
      a.cache_write_tokens, a.output_tokens, a.reasoning_tokens, a.provider_cost_micro_usd
    from jsonb_to_recordset(p_attempts) as a(call_id uuid, position int, provider text, model text, status text,
      error_code text, error_message text, cost_micro_usd bigint, cost_basis text, latency_millis double precision,
      input_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, output_tokens bigint,
      reasoning_tokens bigint, provider_cost_micro_usd bigint, started_at_millis double precision)
    where a.call_id = any(written)
    returning call_id, provider_cost_micro_usd
  )
  insert into journal (kind, debit, credit, amount_micro_usd, call_id)
  select 'absorbed', 'house', 'revenue', sum(l.provider_cost_micro_usd), l.call_id
  from logged l join hold h on h.id = l.call_id
  where h.managed and l.provider_cost_micro_usd > 0 group by l.call_id;
end $$;
`

export const callAttempts = Effect.flatMap(SqlClient, (sql) => Effect.zipRight(sql.unsafe(columns), sql.unsafe(log)))
