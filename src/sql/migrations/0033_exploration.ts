import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** What projects leave to chance. */
const share = `
alter table project add column exploration_share double precision not null default 0
  check (exploration_share between 0 and 0.02);
comment on column project.exploration_share is
  'In this share of the calls that name no model one of the models near the best comes first, by chance. 0 explores nothing';
`

export const exploration = Effect.flatMap(SqlClient, (sql) => sql.unsafe(share))
