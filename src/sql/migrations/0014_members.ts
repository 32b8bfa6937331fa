import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Memberships have ids, by which they are listed; what a browser that signs in at the identity provider has begun. */
const members = `
alter table project_member add column id uuid;
update project_member set id = gen_random_uuid();
alter table project_member alter column id set not null, add constraint project_member_id unique (id);
create index project_member_newest on project_member (project_id, id desc);

create table sign_in_flow (
  hash bytea primary key check (length(hash) = 32),
  expires_at timestamptz not null
);
comment on table sign_in_flow is 'Sign-ins at the identity provider that have begun and not ended; each ends once';
comment on column sign_in_flow.hash is 'SHA-256 of the secret in the cookie of the browser, from which all else is derived';
create index sign_in_flow_expired on sign_in_flow (expires_at);
`

export const memberTables = Effect.flatMap(SqlClient, (sql) => sql.unsafe(members))
