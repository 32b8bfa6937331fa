import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * People, their sessions and roles, the audit log, and what requests with an Idempotency-Key have answered.
 *
 * Before this there was one user, made at the first start, so that the oldest user is the operator. `audit_chain` has the last
 * row of each account's chain: whoever appends to the chain locks it.
 */
const account = `
alter table app_user
  add column issuer text,
  add column subject text,
  add column is_operator boolean not null default false,
  add constraint app_user_subject check ((issuer is null) = (subject is null)),
  add constraint app_user_identity unique (issuer, subject);
comment on column app_user.issuer is 'Of the identity provider that knows this person as subject; null for the user of the first start';
update app_user set is_operator = true where id = (select id from app_user order by created_at, id limit 1);

create table project_member (
  project_id uuid not null references project (id) on delete cascade,
  user_id uuid not null references app_user (id),
  role text not null check (role in ('owner', 'member', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (project_id, user_id)
);
comment on table project_member is 'Who may use a project besides the owner of its account, who always is an owner of it';
create index project_member_user on project_member (user_id);

alter table project
  add column deleted_at timestamptz,
  add constraint project_default_stays check (not (is_default and deleted_at is not null));
comment on column project.deleted_at is 'A deleted project has no active key; its calls and its money stay';

create table session (
  id uuid primary key,
  user_id uuid not null references app_user (id),
  token_hash bytea not null unique check (length(token_hash) = 32),
  transport text not null check (transport in ('cookie', 'bearer')),
  address text not null,
  user_agent text,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz
);
comment on column session.token_hash is 'SHA-256 of the token: the token itself is never stored';
comment on column session.expires_at is 'The latest end; a session that is not used ends earlier, counted from seen_at';
create index session_by_user on session (user_id, id desc);
create index session_by_end on session (expires_at);

create table sign_in_code (
  hash bytea primary key check (length(hash) = 32),
  user_id uuid not null references app_user (id),
  proof_hash bytea unique,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
comment on column sign_in_code.proof_hash is 'Of the proof that asked for this code, which so asks once';
create index sign_in_code_expired on sign_in_code (expires_at);

create table audit_chain (
  account_id uuid primary key references account (id),
  position bigint not null check (position > 0),
  hash bytea not null check (length(hash) = 32)
) with (fillfactor = 50);

create table audit (
  account_id uuid not null references account (id),
  position bigint not null check (position > 0),
  id uuid not null unique,
  at timestamptz not null,
  actor_user_id uuid,
  action text not null,
  target_kind text not null,
  target_id text not null,
  before json,
  after json,
  address text,
  request_id uuid,
  previous_hash bytea not null check (length(previous_hash) = 32),
  hash bytea not null unique check (length(hash) = 32),
  primary key (account_id, position)
);
comment on table audit is 'Every change made through the account API; each row has the hash of the one before it';
comment on column audit.actor_user_id is 'Null for what the gateway does by itself';
comment on column audit.before is 'As text: json keeps it as it was hashed';
create index audit_newest on audit (account_id, id desc);

create function audit_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end $$;
create trigger audit_append_only before update or delete on audit
  for each statement execute function audit_is_append_only();

create table account_request (
  user_id uuid not null references app_user (id),
  key_hash bytea not null check (length(key_hash) = 32),
  request_hash bytea not null check (length(request_hash) = 32),
  answer bytea not null,
  created_at timestamptz not null,
  primary key (user_id, key_hash)
);
comment on table account_request is 'What requests with an Idempotency-Key have answered, encrypted with that key';
create index account_request_created on account_request (created_at);
`

export const accountTables = Effect.flatMap(SqlClient, (sql) => sql.unsafe(account))
