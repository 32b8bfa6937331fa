import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * The models from which a call was chosen are most of its row, and always of the same few hundred: numbers stand for them. Nodes of the
 * version before write names, and read of newer rows the first alone.
 */
const numbers = `
create table model_number (
  number int generated always as identity primary key,
  model text not null unique
);
comment on table model_number is 'Numbers that stand for models in call.pool_numbers; they are never given to another';
alter table call add column pool_numbers text;
comment on column call.pool_numbers is
  'The models from which the router chose, in its order, as numbers of model_number with commas between them; null where pool has them all';
comment on column call.pool is
  'The models from which the router chose, in its order; the first alone where pool_numbers is set';
`

/** The log of calls writes them. */
const log = `
do $do$
declare
  definition text := pg_get_functiondef('call_log(jsonb, jsonb)'::regprocedure);
  changed text;
begin
  changed := replace(definition, 'policy_version, pool,', 'policy_version, pool, pool_numbers,');
  changed := replace(changed, 'c.pool,', 'c.pool, c.pool_numbers,');
  changed := replace(changed, 'pool text[],', 'pool text[], pool_numbers text,');
  if length(changed) <> length(definition) + length('pool_numbers, ') + length('c.pool_numbers, ') + length('pool_numbers text, ') then
    raise exception 'call_log writes its rows in another way';
  end if;
  execute changed;
end $do$;
`

export const modelNumbers = Effect.flatMap(SqlClient, (sql) => Effect.zipRight(sql.unsafe(numbers), sql.unsafe(log)))
