import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** A sign-in link works no longer than the session that asked for it. */
const sessionLinks = `
alter table sign_in_code add column session_id uuid;
comment on column sign_in_code.session_id is 'The session that asked for this code, which may be deleted by now; null where the start, a command or a proof did';
`

export const sessionLinkColumn = Effect.flatMap(SqlClient, (sql) => sql.unsafe(sessionLinks))
