import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Calls of conversations are told apart from those of clients; the keys that pay for them are named after what they are for. */
const origin = `
alter table call
  drop constraint call_origin_check,
  add constraint call_origin_check check (origin in ('user', 'conversation', 'analysis')) not valid;
update api_key set name = 'Chat of ' || substr(name, length('Dashboard of ') + 1)
where kind = 'dashboard' and name like 'Dashboard of %';
`

export const conversationOrigin = Effect.flatMap(SqlClient, (sql) => sql.unsafe(origin))
