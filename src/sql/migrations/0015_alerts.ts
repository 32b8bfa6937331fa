import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Thresholds of spend, and how often they were reached. */
const alerts = `
create table alert (
  project_id uuid primary key references project (id),
  webhook_url text,
  sealed_secret bytea,
  thresholds jsonb not null,
  constraint alert_signed check ((webhook_url is null) = (sealed_secret is null))
);
comment on table alert is 'When to tell a project what it has spent, and where';
comment on column alert.sealed_secret is 'Signs what is sent to the URL; sealed under the master key';
comment on column alert.thresholds is 'As in the account API';

create table alert_event (
  id uuid primary key,
  project_id uuid not null references alert (project_id),
  threshold jsonb not null,
  -- What a threshold fires once for: a period, and of a part of the limit also that limit.
  occasion text not null,
  period_start timestamptz,
  spent_micro_usd bigint not null,
  limit_micro_usd bigint,
  fired_at timestamptz not null,
  attempts int not null default 0,
  next_attempt_at timestamptz,
  last_error text,
  delivered_at timestamptz,
  unique (project_id, threshold, occasion)
);
comment on table alert_event is 'Thresholds that were reached, and what came of telling it';
comment on column alert_event.period_start is 'Null for a limit that is for ever';
comment on column alert_event.next_attempt_at is 'Null when nothing is left to be sent';
create index alert_event_newest on alert_event (project_id, id desc);
create index alert_event_due on alert_event (next_attempt_at) where next_attempt_at is not null;
`

export const alertTables = Effect.flatMap(SqlClient, (sql) => sql.unsafe(alerts))
