import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Limits that begin anew each day, week or month, from 00:00 UTC. What a scope has spent goes on to be counted for ever; beside
 * it stands what it had spent before the day, week and month that `day` lies in. The first change of a row on a later day moves
 * these on, whichever statement makes it; a row that has not changed since is read by `scope_base` as if it had been. So a limit
 * is reset exactly at its edge, by the database's clock, without a job that runs at midnight, and a call that settles after
 * the edge counts in the period of its settlement.
 */
const periods = `
alter table scope
  add column limit_reset text check (limit_reset in ('day', 'week', 'month')),
  add column day date not null default (now() at time zone 'UTC')::date,
  add column spent_before_day bigint not null default 0,
  add column spent_before_week bigint not null default 0,
  add column spent_before_month bigint not null default 0,
  add constraint scope_reset check (limit_reset is null or kind <> 'account');
update scope set spent_before_day = spent_micro_usd, spent_before_week = spent_micro_usd,
  spent_before_month = spent_micro_usd where spent_micro_usd > 0;
comment on column scope.limit_reset is 'How often the limit begins anew; null where it is for ever';
comment on column scope.day is 'The day, in UTC, that the row was changed last';
comment on column scope.spent_before_day is 'Of spent_micro_usd, what was spent before that day; so for its week, from Monday, and month';

create function scope_base(s scope) returns bigint language sql stable as $$
  select case s.limit_reset
    when 'day' then case when s.day < (now() at time zone 'UTC')::date then s.spent_micro_usd else s.spent_before_day end
    when 'week' then case when s.day < date_trunc('week', now() at time zone 'UTC')::date
      then s.spent_micro_usd else s.spent_before_week end
    when 'month' then case when s.day < date_trunc('month', now() at time zone 'UTC')::date
      then s.spent_micro_usd else s.spent_before_month end
    else 0 end
$$;
comment on function scope_base is 'What was spent before the current period of the limit, and does not count against it';

create function scope_day() returns trigger language plpgsql as $$
declare
  today constant timestamp := now() at time zone 'UTC';
begin
  new.day := today::date;
  new.spent_before_day := old.spent_micro_usd;
  if old.day < date_trunc('week', today)::date then new.spent_before_week := old.spent_micro_usd; end if;
  if old.day < date_trunc('month', today)::date then new.spent_before_month := old.spent_micro_usd; end if;
  new.ceiling_micro_usd := case when new.limit_micro_usd is not null
    then greatest(new.limit_micro_usd + scope_base(new), old.spent_micro_usd + old.held_micro_usd) end;
  return new;
end $$;
create trigger scope_day before update on scope for each row
  when (old.day < (now() at time zone 'UTC')::date) execute function scope_day();

create or replace function scope_ceiling() returns trigger language plpgsql as $$
begin
  new.ceiling_micro_usd := case when new.limit_micro_usd is not null
    then greatest(new.limit_micro_usd + scope_base(new), new.spent_micro_usd + new.held_micro_usd) end;
  return new;
end $$;
drop trigger scope_ceiling on scope;
create trigger scope_ceiling before insert or update of limit_micro_usd, limit_reset on scope
  for each row execute function scope_ceiling();
`

/**
 * In every version of the batch, so that processes of a version before respect the periods too: the limit that it decides by is
 * counted from what was spent before the period. The rest of the functions stays as it is.
 */
const batches = `
do $do$
declare
  version oid;
  definition text;
  changed text;
begin
  for version in
    select oid from pg_proc where proname = 'ledger_batch' and pronamespace = current_schema()::regnamespace
  loop
    definition := pg_get_functiondef(version);
    changed := replace(definition, 's.kind, s.limit_micro_usd, s.spent_micro_usd',
      's.kind, s.limit_micro_usd + scope_base(s) as limit_micro_usd, s.spent_micro_usd');
    if changed = definition then raise exception 'a version of ledger_batch reads limits in another way'; end if;
    execute changed;
  end loop;
end $do$;
`

export const spendPeriods = Effect.flatMap(SqlClient, (sql) =>
  Effect.zipRight(sql.unsafe(periods), sql.unsafe(batches))
)
