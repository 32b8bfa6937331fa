import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Conversations of people with models: their messages, the images in them and the artifacts that were made. */
const conversations = `
create table conversation (
  id uuid primary key,
  user_id uuid not null references app_user (id),
  project_id uuid not null references project (id),
  title text not null,
  title_source text not null default 'none' check (title_source in ('none', 'question', 'person')),
  turn_id uuid,
  node_id uuid,
  stop_requested boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  constraint conversation_turn check ((turn_id is null) = (node_id is null))
);
comment on table conversation is 'A person''s conversation with models, paid by a project';
comment on column conversation.turn_id is 'The message that is being written, by the process node_id; null when none is';
comment on column conversation.updated_at is 'Of the last message or title';
comment on column conversation.deleted_at is 'Its content is erased within a day';
create index conversation_newest on conversation (user_id, updated_at desc, id desc) where deleted_at is null;
create index conversation_running on conversation (user_id) where turn_id is not null;
create index conversation_deleted on conversation (deleted_at) where deleted_at is not null;

create table chat_message (
  id uuid primary key,
  conversation_id uuid not null references conversation (id),
  position int not null check (position >= 0),
  -- Of the messages at one position; the current one is shown, those before it are its versions.
  version int not null default 1,
  is_current boolean not null default true,
  role text not null check (role in ('user', 'assistant')),
  status text not null check (status in ('complete', 'streaming', 'stopped', 'failed', 'interrupted')),
  content text not null,
  reasoning text not null default '',
  settings jsonb,
  steps jsonb not null default '[]',
  model_requested text,
  model_used text,
  request_ids uuid[] not null default '{}',
  finish_reason text,
  error_code text,
  error_message text,
  cost_micro_usd bigint not null default 0,
  cost_basis text not null default 'charged' check (cost_basis in ('charged', 'estimated')),
  created_at timestamptz not null,
  unique (conversation_id, position, version)
);
comment on column chat_message.settings is 'What an answer was asked for with, as in the account API; null for a question';
comment on column chat_message.steps is 'The calls of tools in an answer, with the length of the text before each';
comment on column chat_message.request_ids is 'The calls of an answer; they have no foreign key, since calls are deleted earlier';
create unique index chat_message_current on chat_message (conversation_id, position) where is_current;

create table chat_image (
  id uuid primary key,
  user_id uuid not null references app_user (id),
  filename text not null,
  media_type text not null,
  size_bytes int not null,
  created_at timestamptz not null
);
comment on table chat_image is 'Images of messages; their bytes are objects of the same id';
create index chat_image_age on chat_image (created_at);

create table chat_message_image (
  message_id uuid not null references chat_message (id),
  image_id uuid not null references chat_image (id),
  position int not null,
  primary key (message_id, position)
);
create index chat_message_image_image on chat_message_image (image_id);

create table chat_artifact (
  id uuid primary key,
  conversation_id uuid not null references conversation (id),
  name text not null,
  created_at timestamptz not null,
  deleted_at timestamptz
);
create unique index chat_artifact_name on chat_artifact (conversation_id, name) where deleted_at is null;

create table chat_artifact_version (
  artifact_id uuid not null references chat_artifact (id),
  version int not null check (version > 0),
  media_type text not null,
  content text not null,
  size_bytes int not null,
  created_at timestamptz not null,
  primary key (artifact_id, version)
);

create table chat_artifact_event (
  id uuid primary key,
  message_id uuid not null references chat_message (id),
  artifact_id uuid not null references chat_artifact (id),
  version int not null,
  action text not null check (action in ('created', 'updated', 'restored', 'deleted')),
  created_at timestamptz not null
);
comment on table chat_artifact_event is 'What happened to artifacts, on the message during or after which it happened';
create index chat_artifact_event_message on chat_artifact_event (message_id);
create index chat_artifact_event_artifact on chat_artifact_event (artifact_id);
`

export const conversationTables = Effect.flatMap(SqlClient, (sql) => sql.unsafe(conversations))
