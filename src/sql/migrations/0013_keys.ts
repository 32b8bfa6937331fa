import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { rateLimitsOfScopes } from "./0013_rate_limits.ts"
import { spendPeriods } from "./0013_spend_periods.ts"

/** What people change of keys, projects and routing configurations through the account API. */
const tables = `
alter table api_key
  add column previous_hash bytea check (length(previous_hash) = 32),
  add column previous_until timestamptz,
  add column revoked_at timestamptz,
  add column deleted_at timestamptz,
  add column rate_limits jsonb,
  add constraint api_key_previous check ((previous_hash is null) = (previous_until is null)),
  add constraint api_key_ended check (not (is_active and (revoked_at is not null or deleted_at is not null)));
comment on column api_key.previous_hash is 'Of the secret before the last rotation, which works until previous_until';
comment on column api_key.revoked_at is 'A revoked key never becomes active again';
comment on column api_key.deleted_at is 'A deleted key is revoked and no longer listed; its calls stay';
comment on column api_key.rate_limits is 'In place of those that GATEWAY_CONFIG has for every key; null: these';
create index api_key_previous on api_key (previous_hash) where previous_hash is not null;

alter table project add column rate_limits jsonb;
comment on column project.rate_limits is 'In place of those that GATEWAY_CONFIG has for every project; null: these';

alter table routing_configuration add column active_version int;
comment on column routing_configuration.active_version is 'Whose settings the row has; null where GATEWAY_CONFIG has written it';

create table routing_configuration_version (
  configuration_id uuid not null references routing_configuration (id) on delete cascade,
  version int not null check (version > 0),
  settings jsonb not null,
  created_at timestamptz not null default now(),
  created_by uuid not null,
  primary key (configuration_id, version)
);
comment on table routing_configuration_version is 'Every version that a routing configuration ever had, unless GATEWAY_CONFIG wrote it';
create function routing_version_is_immutable() returns trigger language plpgsql as $$
begin
  raise exception 'versions of routing configurations are immutable';
end $$;
create trigger routing_version_immutable before update on routing_configuration_version
  for each statement execute function routing_version_is_immutable();
`

export const keysAndVersions = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* spendPeriods
  yield* rateLimitsOfScopes
  yield* sql.unsafe(tables)
})
