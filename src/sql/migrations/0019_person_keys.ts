import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** The key by which the calls count that a person makes from the dashboard: one for each person and project. */
const personKeys = `
alter table api_key
  add column kind text not null default 'secret' check (kind in ('secret', 'dashboard')),
  add column user_id uuid references app_user (id),
  add constraint api_key_person check ((kind = 'dashboard') = (user_id is not null));
comment on column api_key.kind is 'dashboard: for the calls of a person who is signed in; nobody has its secret';
create unique index api_key_of_person on api_key (project_id, user_id) where kind = 'dashboard' and deleted_at is null;
`

export const personKeysTable = Effect.flatMap(SqlClient, (sql) => sql.unsafe(personKeys))
