import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Limits that begin anew, also for a hold that is written alone: `ledger_reserve` counted what was ever spent against them, and
 * granted less than was left. `ledger_batch` and `ledger_apply` count from the period's beginning; the rest of the function stays.
 */
const reserve = `
do $do$
declare
  definition text := pg_get_functiondef((select oid from pg_proc where proname = 'ledger_reserve'
    and pronamespace = current_schema()::regnamespace));
  changed text;
begin
  changed := replace(definition, 'select s.limit_micro_usd, s.spent_micro_usd',
    'select s.limit_micro_usd + scope_base(s) as limit_micro_usd, s.spent_micro_usd');
  if changed = definition then raise exception 'ledger_reserve reads limits in another way'; end if;
  execute changed;
end $do$;
`

export const reservePeriods = Effect.flatMap(SqlClient, (sql) => sql.unsafe(reserve))
