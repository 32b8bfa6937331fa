import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * The time since a bucket's last request, from 1970 where it has had none, times its limit is no `bigint` from five million a minute
 * on: every request of the batch failed. And after the clock was set back, buckets seemed fuller than they can be. The rest of the
 * function stays as it is.
 */
const emptied = `
do $do$
declare
  definition text := pg_get_functiondef(
    'rate_limit_admit(uuid, interval, uuid[], int[], bigint[], uuid[], uuid[], bigint[])'::regprocedure);
  changed text;
begin
  changed := replace(definition, '(now_millis - b.at_millis) * coalesce', 'greatest(0, now_millis - b.at_millis)::numeric * coalesce');
  if length(changed) <> length(definition) + 2 * (length('greatest(0, )::numeric') - length('()')) then
    raise exception 'rate_limit_admit empties its buckets in another way';
  end if;
  execute changed;
end $do$;
`

export const wideRateLimits = Effect.flatMap(SqlClient, (sql) => sql.unsafe(emptied))
