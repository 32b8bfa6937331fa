import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Why a call went to its model, and what it would have cost at the best of the models that it could have gone to. */
const columns = `
alter table call
  add column alpha double precision,
  add column excluded jsonb,
  add column baseline_model text,
  add column baseline_micro_usd bigint check (baseline_micro_usd >= 0);
comment on column call.alpha is 'The balance of quality and cost that was applied; null for a call that names its model';
comment on column call.excluded is 'How many models were not eligible, by reason';
comment on column call.baseline_micro_usd is
  'What the tokens of the call would have cost at baseline_model; null for a call that names its model or has used nothing';

create table savings_day (
  project_id uuid not null,
  -- In UTC.
  day date not null,
  baseline_model text not null,
  requests bigint not null,
  spend_micro_usd bigint not null,
  baseline_micro_usd bigint not null,
  primary key (project_id, day, baseline_model)
) with (fillfactor = 50);
comment on table savings_day is 'Sums of the calls of a day that have a baseline; they outlive the calls';
`

/** The log of calls writes them; processes of the version before leave them out. */
const log = `
do $do$
declare
  definition text := pg_get_functiondef('call_log(jsonb, jsonb)'::regprocedure);
  changed text;
begin
  changed := replace(definition, 'client_request_id, features,', 'client_request_id, alpha, excluded, baseline_model, baseline_micro_usd, features,');
  changed := replace(changed, 'c.features,', 'c.alpha, c.excluded::jsonb, c.baseline_model, c.baseline_micro_usd, c.features,');
  changed := replace(changed, 'features text,', 'alpha double precision, excluded text, baseline_model text, baseline_micro_usd bigint, features text,');
  if length(changed) <> length(definition) + length('alpha, excluded, baseline_model, baseline_micro_usd, ')
    + length('c.alpha, c.excluded::jsonb, c.baseline_model, c.baseline_micro_usd, ')
    + length('alpha double precision, excluded text, baseline_model text, baseline_micro_usd bigint, ') then
    raise exception 'call_log writes its rows in another way';
  end if;
  execute changed;
end $do$;
`

/** The sums of days of those calls, in the statement that sums up their activity. */
const sums = `
do $do$
declare
  definition text := pg_get_functiondef('activity_sum_up(interval, int)'::regprocedure);
  changed text;
  savings constant text := $sql$, savings as (
    insert into savings_day as s (project_id, day, baseline_model, requests, spend_micro_usd, baseline_micro_usd)
    select project_id, (written_at at time zone 'UTC')::date, baseline_model, count(*), sum(spend), sum(baseline_micro_usd)
    from ended where baseline_micro_usd is not null group by 1, 2, 3
    on conflict (project_id, day, baseline_model) do update set requests = s.requests + excluded.requests,
      spend_micro_usd = s.spend_micro_usd + excluded.spend_micro_usd,
      baseline_micro_usd = s.baseline_micro_usd + excluded.baseline_micro_usd
  )
  select count(*) into summed from ended;$sql$;
  counted constant text := E'\\n  select count(*) into summed from ended;';
  ended constant text := 'as completion';
begin
  changed := replace(definition, ended, ended || ', baseline_model, baseline_micro_usd');
  changed := replace(changed, counted, savings);
  if length(changed) <> length(definition) + length(', baseline_model, baseline_micro_usd') + length(savings) - length(counted) then
    raise exception 'activity_sum_up sums its calls up in another way';
  end if;
  execute changed;
end $do$;
`

export const callDecisions = Effect.flatMap(SqlClient, (sql) =>
  Effect.zipRight(sql.unsafe(columns), Effect.zipRight(sql.unsafe(log), sql.unsafe(sums)))
)
