import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** What the router saw of a call, so that another policy can be tried on it: see `RequestFeatures`. */
const column = `
alter table call add column features text;
comment on column call.features is
  'What the router saw of the request, as JSON without any text of it; null for a call that names its model';
`

/** The log of calls writes it; processes of the version before leave it out. */
const log = `
do $do$
declare
  definition text := pg_get_functiondef('call_log(jsonb, jsonb)'::regprocedure);
  changed text;
begin
  changed := replace(definition, 'client_request_id, started_at)', 'client_request_id, features, started_at)');
  changed := replace(changed, 'c.client_request_id,', 'c.client_request_id, c.features,');
  changed := replace(changed, 'client_request_id text, started_at_millis', 'client_request_id text, features text, started_at_millis');
  if length(changed) <> length(definition) + length('features, c.features, features text, ') then
    raise exception 'call_log writes its rows in another way';
  end if;
  execute changed;
end $do$;
`

export const callFeatures = Effect.flatMap(SqlClient, (sql) => Effect.zipRight(sql.unsafe(column), sql.unsafe(log)))
