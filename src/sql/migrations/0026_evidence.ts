import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Graded answers, and the immutable snapshots of them that models are ranked by. */
const evidence = `
create table quality_evidence (
  project_id uuid not null references project (id),
  class text not null,
  model text not null,
  source text not null check (source in ('analysis', 'feedback')),
  source_id text not null,
  mean double precision not null check (mean between 0 and 1),
  grades int not null check (grades > 0),
  comparison jsonb,
  graded_at timestamptz not null,
  primary key (project_id, class, model, source, source_id)
);
comment on table quality_evidence is 'Graded answers of a model to prompts of a class; the status of a call is no grade';
comment on column quality_evidence.source_id is 'The analysis or the request that was graded: counted once';
comment on column quality_evidence.comparison is 'Pairs won, lost and tied against the model that was served; null where answers were graded one by one';
create index quality_evidence_age on quality_evidence (project_id, graded_at);

create table quality_snapshot (
  project_id uuid not null references project (id),
  version int not null check (version > 0),
  created_at timestamptz not null,
  rows jsonb not null,
  primary key (project_id, version)
);
comment on table quality_snapshot is 'What the grades of a project say by class and model; a version never changes';
`

export const evidenceTables = Effect.flatMap(SqlClient, (sql) => sql.unsafe(evidence))
