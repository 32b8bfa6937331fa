import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * `rate_limit_admit` of 0013 with two changes. A level falls at the limit under which it rose, which stands beside it now; under another
 * limit it is no higher than that one's minute, so that no change of a limit makes anybody wait for longer. And a row that
 * something else has locked is waited for no longer than `p_lock_millis`. Processes of the version before call the function without
 * that, and wait as they did.
 */
const rateLimits = `
alter table rate_limit add column requests_limit bigint, add column tokens_limit bigint;
comment on column rate_limit.requests_limit is 'Under which requests_level rose; null: none, or not known';

create function rate_limit_level(p_level bigint, p_limit bigint, p_new_limit bigint, p_millis bigint) returns bigint
language sql immutable as $$
  select case
    when p_new_limit is null then 0
    when p_limit = p_new_limit then greatest(0, p_level - greatest(0, p_millis)::numeric * p_limit)
    else least(p_new_limit * 60000, greatest(0, p_level - greatest(0, p_millis)::numeric * coalesce(p_limit, p_new_limit)))
  end::bigint
$$;

create function rate_limit_admit(
  p_process uuid, p_silence interval, o_scopes uuid[], o_running int[], o_limits bigint[],
  a_keys uuid[], a_projects uuid[], a_tokens bigint[], p_lock_millis int,
  out verdicts text[], out waits bigint[], out remaining bigint[], out resets bigint[]
) language plpgsql as $$
declare
  minute constant bigint := 60000;
  names constant text[] := array['requests', 'tokens', 'concurrency'];
  n constant int := cardinality(a_keys);
  now_millis bigint;
  ids uuid[]; at int[]; requests_levels bigint[]; tokens_levels bigint[]; own int[]; others bigint[];
  places int[]; place int; lim bigint; units bigint; level bigint; wait bigint; longest bigint;
  i int; k int; l int;
begin
  perform set_config('lock_timeout', p_lock_millis::text, true);
  verdicts := array_fill(''::text, array[n]); waits := array_fill(0::bigint, array[n]);
  remaining := array_fill(0::bigint, array[4 * n]); resets := array_fill(0::bigint, array[4 * n]);

  insert into rate_limit (scope_id)
  select s.id from unnest(o_scopes) as s(id) order by s.id
  on conflict do nothing;
  -- the locks come first: what follows sees everything that earlier batches have written
  perform 1 from (
    select r.scope_id from rate_limit r where r.scope_id = any(o_scopes) order by r.scope_id for update
  ) locked;
  now_millis := floor(extract(epoch from clock_timestamp()) * 1000);

  select array_agg(b.scope_id), array_agg(b.at), array_agg(b.own), array_agg(b.others),
    array_agg(rate_limit_level(b.requests_level, b.requests_limit, o_limits[3 * b.at - 2], now_millis - b.at_millis)),
    array_agg(rate_limit_level(b.tokens_level, b.tokens_limit, o_limits[3 * b.at - 1], now_millis - b.at_millis))
  into ids, at, own, others, requests_levels, tokens_levels
  from (
    select r.*, o.running as own, o.at::int as at,
      (select coalesce(sum(other.running), 0) from rate_limit_running other where other.scope_id = r.scope_id
        and other.process <> p_process and other.seen_at > now() - p_silence) as others
    from unnest(o_scopes, o_running) with ordinality as o(id, running, at) join rate_limit r on r.scope_id = o.id
  ) b;

  for i in 1 .. n loop
    places := array[array_position(ids, a_keys[i]), array_position(ids, a_projects[i])];
    longest := 0;
    for k in 1 .. 2 loop
      place := places[k];
      for l in 1 .. 3 loop
        lim := o_limits[3 * at[place] - 3 + l];
        if lim is null then continue; end if;
        if l = 3 then
          wait := case when others[place] + own[place] >= lim then 1000 else 0 end;
        else
          units := case l when 1 then 1 else a_tokens[i] end;
          level := case l when 1 then requests_levels[place] else tokens_levels[place] end;
          wait := case
            when units = 0 then 0
            when lim <= 0 then minute
            else greatest(0, ceil((level + least(units, lim) * minute - lim * minute)::numeric / lim))
          end;
        end if;
        if wait > longest then
          longest := wait;
          verdicts[i] := case k when 1 then 'key/' else 'project/' end || names[l];
        end if;
      end loop;
    end loop;
    waits[i] := longest;
    for k in 1 .. 2 loop
      place := places[k];
      if longest = 0 then
        if o_limits[3 * at[place] - 2] is not null then
          requests_levels[place] := requests_levels[place] + minute;
        end if;
        if o_limits[3 * at[place] - 1] is not null then
          tokens_levels[place] := tokens_levels[place] + a_tokens[i] * minute;
        end if;
        own[place] := own[place] + 1;
      end if;
      for l in 1 .. 2 loop
        lim := o_limits[3 * at[place] - 3 + l];
        if coalesce(lim, 0) <= 0 then continue; end if;
        level := case l when 1 then requests_levels[place] else tokens_levels[place] end;
        remaining[4 * (i - 1) + 2 * (k - 1) + l] := greatest(0, (lim * minute - level) / minute);
        resets[4 * (i - 1) + 2 * (k - 1) + l] := ceil(level::numeric / lim);
      end loop;
    end loop;
  end loop;

  if n > 0 then
    update rate_limit r set requests_level = d.requests, tokens_level = d.tokens, at_millis = now_millis,
      requests_limit = o_limits[3 * d.at - 2], tokens_limit = o_limits[3 * d.at - 1]
    from unnest(ids, at, requests_levels, tokens_levels) as d(id, at, requests, tokens)
    where r.scope_id = d.id and r.scope_id = any(a_keys || a_projects);
  end if;
  insert into rate_limit_running as r (scope_id, process, running, seen_at)
  select d.id, p_process, d.own, now() from unnest(ids, own) as d(id, own)
  on conflict (scope_id, process) do update set running = excluded.running, seen_at = excluded.seen_at;
end $$;

create or replace function rate_limit_admit(
  p_process uuid, p_silence interval, o_scopes uuid[], o_running int[], o_limits bigint[],
  a_keys uuid[], a_projects uuid[], a_tokens bigint[],
  out verdicts text[], out waits bigint[], out remaining bigint[], out resets bigint[]
) language sql as $$
  select * from rate_limit_admit(p_process, p_silence, o_scopes, o_running, o_limits, a_keys, a_projects, a_tokens, 0)
$$
`

export const changedRateLimits = Effect.flatMap(SqlClient, (sql) => sql.unsafe(rateLimits))
