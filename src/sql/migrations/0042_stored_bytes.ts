import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Messages of calls are paid for; copies, artifacts that a person saves, and images cost nothing, so what they may take is limited. */
const storedBytes = `
alter table conversation add column added_bytes bigint not null default 0 check (added_bytes >= 0);
comment on column conversation.added_bytes is
  'Bytes of text that its person has added to it without a call: copied messages and artifacts, saved artifacts';
create index chat_image_user on chat_image (user_id) include (size_bytes);
`

export const storedBytesOfPeople = Effect.flatMap(SqlClient, (sql) => sql.unsafe(storedBytes))
