import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Changes of actions that a share of the conversations does not get, so that their effect can be measured. */
const experiments = `
create table experiment (
  id uuid primary key,
  project_id uuid not null references project (id),
  analysis_id uuid references analysis (id) on delete set null,
  action_id text not null,
  slug text,
  fields_before jsonb not null,
  fields_after jsonb not null,
  alphas double precision[],
  share double precision not null check (share > 0 and share < 1),
  estimated_per_call double precision,
  started_by uuid not null,
  started_at timestamptz not null default now(),
  ends_at timestamptz not null,
  start_version int not null,
  state text not null default 'running' check (state in ('running', 'reverted', 'final', 'undone', 'superseded')),
  reason text,
  ended_at timestamptz,
  look_at timestamptz not null default now(),
  looks int not null default 0,
  measurement jsonb,
  measured_at timestamptz,
  constraint experiment_ended check ((ended_at is null) = (state = 'running'))
);
comment on table experiment is 'A change of a project that conversations are held out of; at most one of a project runs';
comment on column experiment.slug is 'Of the routing configuration that was changed; null: the policy';
comment on column experiment.alphas is 'Only calls at one of these are measured, first the one without the change; null: all that named no model';
comment on column experiment.share is 'Of the conversations that get the change';
comment on column experiment.estimated_per_call is 'What the report expects a call to save, in micro-USD';
comment on column experiment.start_version is 'Version of the policy from which on calls belong to an arm';
comment on column experiment.look_at is 'When it is measured again; raised by whoever is about to do so, which is the lease of that process';
comment on column experiment.looks is 'Counts them: what a former one measures is not written';
create unique index experiment_running on experiment (project_id) where state = 'running';
create index experiment_due on experiment (look_at) where state = 'running';
create index experiment_project on experiment (project_id, started_at);
create index experiment_analysis on experiment (analysis_id);
`

export const experimentTable = Effect.flatMap(SqlClient, (sql) => sql.unsafe(experiments))
