import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** The replay that an analysis which has ended is run again for. */
const replay = `
alter table analysis
  add column replay jsonb,
  add column replay_epoch int not null default 0,
  drop constraint analysis_phase_check,
  add constraint analysis_phase_check check (phase in ('select', 'load', 'static', 'plan', 'replay', 'report'));
comment on column analysis.replay is 'What was asked for: the most that it may cost, the judge, the candidates';
comment on column analysis.replay_epoch is 'The epoch when it was asked for: claims are counted from there';
`

export const analysisReplay = Effect.flatMap(SqlClient, (sql) => sql.unsafe(replay))
