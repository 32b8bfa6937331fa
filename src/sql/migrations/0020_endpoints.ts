import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Calls and refusals of Anthropic's Messages format. */
const messages = `
alter table call
  drop constraint call_endpoint_check,
  add constraint call_endpoint_check check (endpoint in ('chat', 'responses', 'messages', 'embedded')) not valid;
alter table refusal
  drop constraint refusal_endpoint_check,
  add constraint refusal_endpoint_check check (endpoint in ('chat', 'responses', 'messages', 'embedded')) not valid;
`

export const messagesEndpoint = Effect.flatMap(SqlClient, (sql) => sql.unsafe(messages))
