import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Nothing is stored of a sign-in at the identity provider before it ends, so that strangers cannot fill the table. */
const endedSignIns = `
comment on table sign_in_flow is 'Sign-ins at the identity provider that have ended, until they could not end again anyway';
`

export const endedSignInRows = Effect.flatMap(SqlClient, (sql) => sql.unsafe(endedSignIns))
