import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** What replays of an analysis have been started, and what came of each. */
const replay = `
create table analysis_item (
  analysis_id uuid not null,
  question text not null,
  sample uuid not null,
  arm text not null check (arm in ('plant', 'candidate', 'placebo')),
  -- Null until it has ended: one that its process has left is not asked again, since it may have been paid.
  outcome text check (outcome in ('compared', 'failed')),
  difference double precision check (difference between -1 and 1),
  judged boolean,
  unreadable int check (unreadable >= 0),
  started_at timestamptz not null default now(),
  primary key (analysis_id, question, sample, arm),
  check ((outcome = 'compared') = (difference is not null)),
  check ((difference is null) = (judged is null)),
  check ((difference is null) = (unreadable is null))
);
comment on table analysis_item is 'Comparisons of an analysis, without any text of them: none is paid for twice';
comment on column analysis_item.difference is 'Above 0 where the new answer is better';
`

export const replayTables = Effect.flatMap(SqlClient, (sql) => sql.unsafe(replay))
