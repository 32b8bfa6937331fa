import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * What proves a charge: the prices of its admission stand on the call, as `snapshotOf` writes them, and `call_cost` computes the
 * cost from them as `costOf` does. What failed attempts have used stands on their rows; what it costs is the operator's,
 * and in the journal of kind `absorbed`.
 *
 * The constraint of the journal is not validated: it is wider than the one before, and reading all rows takes a lock for as long.
 */
const prices = `
alter table call add column prices jsonb;
comment on column call.prices is 'The prices that the usage is charged at; null where there is no usage, or no price';
alter table attempt
  add column input_tokens bigint,
  add column cache_read_tokens bigint,
  add column cache_write_tokens bigint,
  add column output_tokens bigint,
  add column reasoning_tokens bigint,
  add column provider_cost_micro_usd bigint check (provider_cost_micro_usd >= 0);
comment on column attempt.provider_cost_micro_usd is
  'What an attempt that has failed costs at its provider, as reported or estimated; null where nothing is known to be used';
alter table journal drop constraint journal_kind_check;
alter table journal add constraint journal_kind_check
  check (kind in ('usage', 'overrun', 'late', 'absorbed', 'credit')) not valid;
alter table ledger_check add column absorbed_micro_usd bigint not null default 0;

create function call_cost(p_prices jsonb, p_input bigint, p_cache_read bigint, p_cache_write bigint, p_output bigint,
  p_reasoning bigint, p_audio_input bigint, p_audio_output bigint) returns numeric language sql immutable as $$
  select ceil((
      (p_input - a.input) * (r.rates ->> 'input')::numeric
      + a.input * coalesce(r.rates ->> 'audioInput', r.rates ->> 'input')::numeric
      + p_cache_read * coalesce(r.rates ->> 'cacheRead', r.rates ->> 'input')::numeric
      + p_cache_write * coalesce(r.rates ->> 'cacheWrite', r.rates ->> 'input')::numeric
      + (p_output - a.output + p_reasoning) * (r.rates ->> 'output')::numeric
      + a.output * coalesce(r.rates ->> 'audioOutput', r.rates ->> 'output')::numeric
    ) / 1000000) + coalesce((p_prices ->> 'webSearchMicroUsd')::numeric, 0)
  from (
    select coalesce((
      select t.tier from jsonb_array_elements(p_prices -> 'tiers') as t(tier)
      where p_input + p_cache_read + p_cache_write > (t.tier ->> 'abovePromptTokens')::bigint
      order by (t.tier ->> 'abovePromptTokens')::bigint desc limit 1), p_prices) as rates
  ) r, (
    select least(p_input, coalesce(p_audio_input, 0)) as input, least(p_output, coalesce(p_audio_output, 0)) as output
  ) a
$$;
`

/** Calls and their attempts, with what the attempts that failed cost; a call that is logged already stays as it is. */
const log = `
create function call_log(p_calls jsonb, p_attempts jsonb) returns void language plpgsql as $$
begin
  with written as (
    insert into call (id, key_id, project_id, account_id, requested_model, model, provider, endpoint, stream, token_doctor,
      status, error_code, error_message, cost_micro_usd, cost_basis, input_tokens, cache_read_tokens, cache_write_tokens,
      output_tokens, reasoning_tokens, input_audio_tokens, output_audio_tokens, accepted_prediction_tokens,
      rejected_prediction_tokens, prices, latency_millis, first_content_millis, routing_config, reason, policy_version, pool,
      client_request_id, started_at)
    select c.id, c.key_id, c.project_id, c.account_id, c.requested_model, c.model, c.provider, c.endpoint, c.stream,
      c.token_doctor, c.status, c.error_code, c.error_message, c.cost_micro_usd, c.cost_basis, c.input_tokens,
      c.cache_read_tokens, c.cache_write_tokens, c.output_tokens, c.reasoning_tokens, c.input_audio_tokens,
      c.output_audio_tokens, c.accepted_prediction_tokens, c.rejected_prediction_tokens, c.prices::jsonb, c.latency_millis,
      c.first_content_millis, c.routing_config, c.reason, c.policy_version, c.pool, c.client_request_id,
      to_timestamp(c.started_at_millis / 1000)
    from jsonb_to_recordset(p_calls) as c(id uuid, key_id uuid, project_id uuid, account_id uuid, requested_model text,
      model text, provider text, endpoint text, stream boolean, token_doctor boolean, status text, error_code text,
      error_message text, cost_micro_usd bigint, cost_basis text, input_tokens bigint, cache_read_tokens bigint,
      cache_write_tokens bigint, output_tokens bigint, reasoning_tokens bigint, input_audio_tokens bigint,
      output_audio_tokens bigint, accepted_prediction_tokens bigint, rejected_prediction_tokens bigint,
      prices text, latency_millis double precision, first_content_millis double precision, routing_config text, reason text,
      policy_version bigint, pool text[], client_request_id text, started_at_millis double precision)
    on conflict (id) do nothing returning id
  ), logged as (
    insert into attempt (call_id, position, provider, model, status, error_code, error_message, cost_micro_usd, cost_basis,
      latency_millis, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
      provider_cost_micro_usd)
    select a.call_id, a.position, a.provider, a.model, a.status, a.error_code, a.error_message, a.cost_micro_usd,
      a.cost_basis, a.latency_millis, a.input_tokens, a.cache_read_tokens, a.cache_write_tokens, a.output_tokens,
      a.reasoning_tokens, a.provider_cost_micro_usd
    from jsonb_to_recordset(p_attempts) as a(call_id uuid, position int, provider text, model text, status text,
      error_code text, error_message text, cost_micro_usd bigint, cost_basis text, latency_millis double precision,
      input_tokens bigint, cache_read_tokens bigint, cache_write_tokens bigint, output_tokens bigint,
      reasoning_tokens bigint, provider_cost_micro_usd bigint)
    join written w on w.id = a.call_id
    returning call_id, provider_cost_micro_usd
  )
  insert into journal (kind, debit, credit, amount_micro_usd, call_id)
  select 'absorbed', 'house', 'revenue', sum(l.provider_cost_micro_usd), l.call_id
  from logged l join hold h on h.id = l.call_id
  where h.managed and l.provider_cost_micro_usd > 0 group by l.call_id;
end $$;
`

/**
 * As in 0005, with the log in a function of its own, and with the time that a lock is waited for as `p_lock_millis`. Processes of
 * the version before call the function of 0005, which stays.
 */
const batch = `
create function ledger_batch(
  p_node uuid,
  r_ids uuid[], r_extends boolean[], r_waits boolean[], r_keys uuid[], r_projects uuid[], r_accounts uuid[], r_managed boolean[],
  r_models text[], r_options int[], o_max bigint[], o_typical bigint[], o_min bigint[],
  s_ids uuid[], s_states text[], s_actuals bigint[], p_calls jsonb, p_attempts jsonb, p_voids jsonb,
  p_lock_millis int,
  out verdicts text[], out granted int[], out amounts bigint[],
  out needed_amounts bigint[], out available_amounts bigint[], out held_amounts bigint[]
) language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan set lock_timeout = 200 as $$
declare
  unlimited constant bigint := 4000000000000000000; max_safe constant bigint := 9007199254740991;
  n constant int := cardinality(r_ids);
  known uuid[]; known_amounts bigint[];
  c_scopes uuid[]; c_released bigint[]; c_spent bigint[];
  ids uuid[]; kinds text[]; limits bigint[]; spent bigint[]; held bigint[]; d_held bigint[]; d_spent bigint[];
  places int[]; place int; room bigint; lowest bigint; base bigint; amount bigint; option int; first_option int := 1;
  refusing int; blocked boolean[];
  verdict text; rank int; best int; endings_closed int; i int; j int;
begin
  -- The setting of the function above is what is restored at its end.
  perform set_config('lock_timeout', p_lock_millis::text, true);
  verdicts := array_fill(''::text, array[n]); granted := array_fill(0, array[n]); amounts := array_fill(0::bigint, array[n]);
  needed_amounts := amounts; available_amounts := amounts; held_amounts := amounts;

  -- Waits for a reservation that is being committed; what is committed by now is closed below like any other hold.
  if p_voids is not null then
    insert into hold (id, key_id, project_id, account_id, managed, requested_model, amount_micro_usd, actual_micro_usd, state,
      node, closed_at)
    select v.id, v.key_id, v.project_id, v.account_id, v.managed, '', 0, 0, 'void', p_node, now()
    from jsonb_to_recordset(p_voids) as v(id uuid, key_id uuid, project_id uuid, account_id uuid, managed boolean)
    order by v.id on conflict (id) do nothing;
  end if;

  if cardinality(s_ids) > 0 then
    with ending as (
      select e.id, e.state, e.actual from unnest(s_ids, s_states, s_actuals) as e(id, state, actual)
    ), closed as (
      update hold h
      set state = e.state, closed_at = now(),
        actual_micro_usd = case when e.state = 'void' then 0 else least(e.actual, h.amount_micro_usd) end
      from ending e where h.id = e.id and h.state = 'held'
      returning h.id, h.key_id, h.project_id, h.account_id, h.managed, h.amount_micro_usd as amount,
        h.actual_micro_usd as charged, case when e.state = 'void' then 0 else e.actual end as actual
    ), moved as (
      insert into journal (kind, debit, credit, amount_micro_usd, call_id)
      select 'usage', 'account:' || c.account_id, 'revenue', c.charged, c.id from closed c where c.managed and c.charged > 0
      union all
      select 'overrun', 'house', 'revenue', c.actual - c.charged, c.id from closed c where c.managed and c.actual > c.charged
    ), effects as (
      select s.id, sum(c.amount)::bigint as released, sum(c.charged)::bigint as charged
      from closed c cross join lateral (
        values (c.key_id), (c.project_id), (case when c.managed then c.account_id end)) as s(id)
      where s.id is not null group by s.id
    )
    select array_agg(e.id), array_agg(e.released), array_agg(e.charged), (select count(*) from closed)
    into c_scopes, c_released, c_spent, endings_closed from effects e;

    -- What ended after its hold had expired was never charged: the house bears it, once.
    if endings_closed < cardinality(s_ids) then
      insert into journal (kind, debit, credit, amount_micro_usd, call_id)
      select 'late', 'house', 'revenue', e.actual, h.id
      from unnest(s_ids, s_states, s_actuals) as e(id, state, actual) join hold h on h.id = e.id
      where h.state = 'expired' and h.managed and e.state <> 'void' and e.actual > 0
      on conflict (call_id, kind) where call_id is not null do nothing;
    end if;
  end if;

  if p_calls is not null then perform call_log(p_calls, p_attempts); end if;

  if n > 0 then
    select array_agg(h.id), array_agg(case when h.state = 'held' then h.amount_micro_usd else -1 end)
    into known, known_amounts
    from (select id, state, amount_micro_usd from hold where id = any(r_ids) order by id for update) h;
  end if;

  select array_agg(l.id), array_agg(l.kind), array_agg(coalesce(l.limit_micro_usd, unlimited)), array_agg(l.spent_micro_usd),
    array_agg(l.held_micro_usd), array_fill(0::bigint, array[count(*)::int]), array_fill(0::bigint, array[count(*)::int]),
    array_fill(false, array[count(*)::int])
  into ids, kinds, limits, spent, held, d_held, d_spent, blocked
  from (
    select s.id, s.kind, s.limit_micro_usd, s.spent_micro_usd, s.held_micro_usd from scope s
    where s.id = any(r_keys || r_projects || r_accounts || coalesce(c_scopes, '{}')) order by s.id for update
  ) l;

  for i in 1 .. coalesce(cardinality(c_scopes), 0) loop
    place := array_position(ids, c_scopes[i]);
    held[place] := held[place] - c_released[i]; d_held[place] := d_held[place] - c_released[i];
    spent[place] := spent[place] + c_spent[i]; d_spent[place] := d_spent[place] + c_spent[i];
  end loop;

  for i in 1 .. n loop
    places := array[array_position(ids, r_accounts[i]), array_position(ids, r_projects[i]), array_position(ids, r_keys[i])];
    if not r_managed[i] then places := places[2:3]; end if;
    place := array_position(known, r_ids[i]);
    base := case when r_extends[i] and place is not null then known_amounts[place] else 0 end;
    verdict := null; option := 0; amount := 0;
    if array_position(places, null) is not null then verdict := 'missing';
    elsif r_extends[i] and (place is null or base < 0) then verdict := 'closed';
    elsif not r_extends[i] and (place is not null or array_position(r_ids, r_ids[i]) < i) then verdict := 'duplicate';
    else
      room := unlimited;
      foreach j in array places loop room := least(room, limits[j] - spent[j] - held[j]); end loop;
      lowest := unlimited;
      for j in first_option .. first_option + r_options[i] - 1 loop
        lowest := least(lowest, o_min[j]);
        -- An extension whose least the hold covers already needs no room.
        if o_min[j] - base <= room or (r_extends[i] and o_min[j] <= base) then
          option := j - first_option + 1;
          amount := base + greatest(0, least(o_max[j] - base, room, case when o_typical[j] is null then room
            else greatest(o_min[j] - base, room / 16, least(o_typical[j] - base, room / 2)) end));
          exit;
        end if;
      end loop;
      refusing := null;
      if option > 0 and r_waits[i] then
        foreach j in array places loop
          if blocked[j] then refusing := j; end if;
        end loop;
      end if;
      if refusing is not null then
        verdict := kinds[refusing] || '/held'; option := 0; amount := 0;
      elsif option > 0 then
        verdict := 'granted'; available_amounts[i] := least(greatest(0, room - (amount - base)), max_safe);
        foreach j in array places loop
          held[j] := held[j] + amount - base; d_held[j] := d_held[j] + amount - base;
        end loop;
        if r_extends[i] then known_amounts[place] := amount; end if;
      else
        -- The scope that is furthest from granting it: exhausted before too large before held.
        best := 0;
        foreach j in array places loop
          if limits[j] - spent[j] - held[j] + base < lowest then
            rank := case when limits[j] - spent[j] <= 0 then 3 when limits[j] - spent[j] < lowest then 2 else 1 end;
            if rank > best then
              best := rank; refusing := j;
              verdict := kinds[j] || '/' || (array['held', 'too_large', 'exhausted'])[rank];
            end if;
          end if;
        end loop;
      end if;
      if option = 0 then
        if r_waits[i] and verdict like '%/held' then blocked[refusing] := true; end if;
        needed_amounts[i] := lowest - base; held_amounts[i] := held[refusing];
        available_amounts[i] := greatest(0, limits[refusing] - spent[refusing] - held[refusing]);
      end if;
    end if;
    verdicts[i] := verdict; granted[i] := option; amounts[i] := amount;
    first_option := first_option + r_options[i];
  end loop;

  update scope s set held_micro_usd = s.held_micro_usd + d.held, spent_micro_usd = s.spent_micro_usd + d.spent
  from unnest(ids, d_held, d_spent) as d(id, held, spent) where s.id = d.id and (d.held <> 0 or d.spent <> 0);

  if n > 0 then
    insert into hold (id, key_id, project_id, account_id, managed, requested_model, amount_micro_usd, node)
    select g.id, g.key, g.project, g.account, g.managed, g.model, g.amount, p_node
    from unnest(r_ids, r_keys, r_projects, r_accounts, r_managed, r_models, r_extends, verdicts, amounts)
      as g(id, key, project, account, managed, model, extends, verdict, amount)
    where g.verdict = 'granted' and not g.extends;
    if true = any(r_extends) then
      update hold h set amount_micro_usd = k.amount from unnest(known, known_amounts) as k(id, amount)
      where h.id = k.id and k.amount > h.amount_micro_usd;
    end if;
  end if;

  -- Last, since batches of one node run beside each other.
  if not exists (select from node where id = p_node and seen_at > now() - interval '1 second') then
    perform node_heard(p_node);
  end if;
end $$;
`

export const callPrices = Effect.flatMap(SqlClient, (sql) => sql.unsafe(prices + log + batch))
