import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Analyses of captured calls, and which of their recommendations were followed. */
const analyses = `
create table analysis (
  id uuid primary key,
  project_id uuid not null references project (id),
  status text not null default 'queued'
    check (status in ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'insufficient_data')),
  phase text not null default 'select' check (phase in ('select', 'load', 'static', 'report')),
  done int not null default 0,
  total int not null default 0,
  range_start timestamptz not null,
  range_end timestamptz not null,
  requested_count int not null,
  sample_count int not null default 0,
  seed int not null,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  error text,
  lease_node uuid,
  lease_until timestamptz,
  epoch int not null default 0,
  cancel_requested boolean not null default false,
  report_sealed bytea,
  constraint analysis_ended check ((finished_at is not null) = (status not in ('queued', 'running')))
);
comment on table analysis is 'One run over the captured calls of a project';
comment on column analysis.epoch is 'Raised by each claim: what a former holder of the lease writes has no effect';
comment on column analysis.report_sealed is 'Under a key derived from the master key';
create unique index analysis_active on analysis (project_id) where status in ('queued', 'running');
create index analysis_newest on analysis (project_id, id desc);
create index analysis_waiting on analysis (created_at) where status in ('queued', 'running');

create table analysis_action (
  analysis_id uuid not null references analysis (id) on delete cascade,
  action_id text not null,
  applied_at timestamptz not null,
  undone_at timestamptz,
  primary key (analysis_id, action_id)
);
comment on table analysis_action is 'Recommendations that somebody has followed, or has followed and taken back';
`

export const analysisTables = Effect.flatMap(SqlClient, (sql) => sql.unsafe(analyses))
