import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** What a call records for analyses. The check is not validated: old rows have the default, and reading them takes a lock for as long. */
const columns = `
alter table call add column conversation bytea, add column origin text not null default 'user';
alter table call add constraint call_origin_check check (origin in ('user', 'analysis')) not valid;
alter table attempt add column started_at timestamptz;
comment on column call.conversation is 'Hash of the conversation within its project; null for calls of earlier versions';
comment on column attempt.input_tokens is 'What the attempt has used, as reported or estimated; null where nothing is known';
`

/** The log of calls writes them; processes of the version before leave them out. */
const log = `
do $do$
declare
  definition text := pg_get_functiondef('call_log(jsonb, jsonb)'::regprocedure);
  changed text;
begin
  changed := replace(definition, 'client_request_id, features, started_at)', 'client_request_id, features, conversation, origin, started_at)');
  changed := replace(changed, 'c.features,', 'c.features, decode(c.conversation, ''hex''), coalesce(c.origin, ''user''),');
  changed := replace(changed, 'features text, started_at_millis', 'features text, conversation text, origin text, started_at_millis');
  changed := replace(changed, 'latency_millis, input_tokens,', 'latency_millis, started_at, input_tokens,');
  changed := replace(changed, 'a.latency_millis, a.input_tokens,', 'a.latency_millis, to_timestamp(a.started_at_millis / 1000), a.input_tokens,');
  changed := replace(changed, 'provider_cost_micro_usd bigint)', 'provider_cost_micro_usd bigint, started_at_millis double precision)');
  if length(changed) <> length(definition) + length('conversation, origin, decode(c.conversation, ''hex''), coalesce(c.origin, ''user''), '
    || 'conversation text, origin text, started_at, to_timestamp(a.started_at_millis / 1000), , started_at_millis double precision') then
    raise exception 'call_log writes its rows in another way';
  end if;
  execute changed;
end $do$;
`

/**
 * Captured calls. Whatever is content, or says something of it, is in `sealed`: under the key of the project and day, which is
 * sealed under the key of the project, and that under the master key. Without the row of a key nothing under it opens again.
 */
const tables = `
create table capture_window (
  project_id uuid not null references project (id),
  config_version int not null check (config_version > 0),
  enabled boolean not null,
  sampling_rate double precision not null check (sampling_rate between 0 and 1),
  retention_days int not null check (retention_days > 0),
  max_samples int not null check (max_samples > 0),
  content text not null check (content in ('full', 'fingerprint')),
  replay_allowed boolean not null,
  content_warning text not null,
  salt bytea not null,
  opened_at timestamptz not null,
  closed_at timestamptz,
  primary key (project_id, config_version)
);
create unique index capture_window_open on capture_window (project_id) where closed_at is null;
comment on table capture_window is 'The settings of a project''s data collection; a change closes one and opens the next';

create table capture_threshold (
  project_id uuid not null references project (id),
  config_version int not null,
  class text not null,
  below double precision not null,
  primary key (project_id, config_version, class)
);
comment on table capture_threshold is 'Conversations of the class are kept only where their hash is below; it falls as the collection fills';

create table capture_project_key (
  project_id uuid primary key references project (id),
  sealed bytea not null
);
create table capture_day_key (
  project_id uuid not null references project (id),
  day date not null,
  sealed bytea not null,
  primary key (project_id, day)
);

create table capture_conversation (
  project_id uuid not null references project (id),
  config_version int not null,
  conversation bytea not null,
  day date not null,
  class text not null,
  u double precision not null,
  samples int not null default 0 check (samples >= 0),
  primary key (project_id, config_version, conversation)
);
create index capture_conversation_order on capture_conversation (project_id, config_version, u);
comment on column capture_conversation.day is 'Whose key seals its calls: that of the first, so that a chain does not break at midnight';

create table capture_sample (
  id uuid primary key,
  project_id uuid not null references project (id),
  config_version int not null,
  conversation bytea not null,
  day date not null,
  base uuid,
  key_id uuid not null,
  end_user bytea,
  flow_authorized boolean not null,
  captured_at timestamptz not null,
  expires_at timestamptz not null,
  shared bytea[] not null default '{}',
  sealed bytea not null
);
create index capture_sample_conversation on capture_sample (project_id, conversation, id);
create index capture_sample_expiry on capture_sample (expires_at);
comment on column capture_sample.base is 'The sample of the same conversation that it refers to for the blocks that both have';

create table capture_shared (
  project_id uuid not null references project (id),
  day date not null,
  id bytea not null,
  sealed bytea not null,
  primary key (project_id, day, id)
);
comment on table capture_shared is 'Blocks that begin many conversations of a day, such as tools and instructions';
`

export const capture = Effect.flatMap(SqlClient, (sql) =>
  Effect.zipRight(Effect.zipRight(sql.unsafe(columns), sql.unsafe(log)), sql.unsafe(tables))
)
