import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** What was reached at the end of a period is noted after it, by thresholds that were there then. */
const alerts = `
alter table alert add column thresholds_set_at timestamptz not null default now();
comment on column alert.thresholds_set_at is 'When the thresholds were changed last';
`

export const thresholdsSetAt = Effect.flatMap(SqlClient, (sql) => sql.unsafe(alerts))
