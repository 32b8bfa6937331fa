import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Rate limits that several processes count together: leaky buckets per key and project, in 60 000ths of a unit and whole
 * milliseconds of the database's clock, and the running requests of each process. Neither survives a crash of the server,
 * which makes writing them cheap.
 *
 * `rate_limit_batch` decides admissions (`a_*`) in their order, and writes how many requests run in this process (`o_*`, of
 * every scope of an admission and of any other). A scope's limits are `[requests per minute, tokens per minute, concurrent
 * requests]`, null where there is none. Results, by position: the limit
 * that makes the request wait longest, as `<scope>/<limit>`, or an empty text for an admission; for how long; and of each
 * limit per minute what remains and when its bucket is empty again, as `[key requests, key tokens, project requests,
 * project tokens]` in four numbers each. Rows are locked in the order of their ids, so that processes never deadlock.
 */
const rateLimits = `
create unlogged table rate_limit (
  scope_id uuid primary key,
  requests_level bigint not null default 0,
  tokens_level bigint not null default 0,
  at_millis bigint not null default 0
) with (fillfactor = 50);
comment on table rate_limit is 'The level of the buckets of a key or project at at_millis';

create unlogged table rate_limit_running (
  scope_id uuid not null,
  process uuid not null,
  running int not null,
  seen_at timestamptz not null,
  primary key (scope_id, process)
) with (fillfactor = 50);
comment on table rate_limit_running is 'Requests that run now, by process; those of a process that was not seen for long do not count';

create function rate_limit_batch(
  p_process uuid, p_silence interval, p_key_limits bigint[], p_project_limits bigint[],
  o_scopes uuid[], o_running int[], a_keys uuid[], a_projects uuid[], a_tokens bigint[],
  out verdicts text[], out waits bigint[], out remaining bigint[], out resets bigint[]
) language plpgsql as $$
declare
  minute constant bigint := 60000;
  names constant text[] := array['requests', 'tokens', 'concurrency'];
  n constant int := cardinality(a_keys);
  now_millis bigint;
  ids uuid[]; requests_levels bigint[]; tokens_levels bigint[]; own int[]; others bigint[];
  places int[]; limits bigint[]; place int; units bigint; level bigint; wait bigint; longest bigint;
  i int; k int; l int;
begin
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

  select array_agg(b.scope_id), array_agg(b.own), array_agg(b.others),
    array_agg(greatest(0, b.requests_level - (now_millis - b.at_millis) * coalesce(b.limits[1], 0))),
    array_agg(greatest(0, b.tokens_level - (now_millis - b.at_millis) * coalesce(b.limits[2], 0)))
  into ids, own, others, requests_levels, tokens_levels
  from (
    select r.*, o.running as own,
      case when r.scope_id = any(a_projects) then p_project_limits else p_key_limits end as limits,
      (select coalesce(sum(other.running), 0) from rate_limit_running other where other.scope_id = r.scope_id
        and other.process <> p_process and other.seen_at > now() - p_silence) as others
    from unnest(o_scopes, o_running) as o(id, running) join rate_limit r on r.scope_id = o.id
  ) b;

  for i in 1 .. n loop
    places := array[array_position(ids, a_keys[i]), array_position(ids, a_projects[i])];
    longest := 0;
    for k in 1 .. 2 loop
      limits := case k when 1 then p_key_limits else p_project_limits end;
      place := places[k];
      for l in 1 .. 3 loop
        if limits[l] is null then continue; end if;
        if l = 3 then
          wait := case when others[place] + own[place] >= limits[3] then 1000 else 0 end;
        else
          units := case l when 1 then 1 else a_tokens[i] end;
          level := case l when 1 then requests_levels[place] else tokens_levels[place] end;
          wait := case
            when units = 0 then 0
            when limits[l] <= 0 then minute
            else greatest(0, ceil((level + least(units, limits[l]) * minute - limits[l] * minute)::numeric / limits[l]))
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
      limits := case k when 1 then p_key_limits else p_project_limits end;
      place := places[k];
      if longest = 0 then
        if limits[1] is not null then requests_levels[place] := requests_levels[place] + minute; end if;
        if limits[2] is not null then tokens_levels[place] := tokens_levels[place] + a_tokens[i] * minute; end if;
        own[place] := own[place] + 1;
      end if;
      for l in 1 .. 2 loop
        if coalesce(limits[l], 0) <= 0 then continue; end if;
        level := case l when 1 then requests_levels[place] else tokens_levels[place] end;
        remaining[4 * (i - 1) + 2 * (k - 1) + l] := greatest(0, (limits[l] * minute - level) / minute);
        resets[4 * (i - 1) + 2 * (k - 1) + l] := ceil(level::numeric / limits[l]);
      end loop;
    end loop;
  end loop;

  if n > 0 then
    update rate_limit r set requests_level = d.requests, tokens_level = d.tokens, at_millis = now_millis
    from unnest(ids, requests_levels, tokens_levels) as d(id, requests, tokens)
    where r.scope_id = d.id and r.scope_id = any(a_keys || a_projects);
  end if;
  insert into rate_limit_running as r (scope_id, process, running, seen_at)
  select d.id, p_process, d.own, now() from unnest(ids, own) as d(id, own)
  on conflict (scope_id, process) do update set running = excluded.running, seen_at = excluded.seen_at;
end $$
`

export const rateLimitTables = Effect.flatMap(SqlClient, (sql) => sql.unsafe(rateLimits))
