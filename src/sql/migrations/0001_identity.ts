import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Users, projects, keys and policies. Money is not here: an account's balance and the spending limits of projects and keys
 * are rows of the ledger's `scope` table, under the same ids.
 */
export const identity = Effect.gen(function* () {
  const sql = yield* SqlClient

  yield* sql`
    create table app_user (
      id uuid primary key,
      name text not null check (length(name) between 1 and 200),
      created_at timestamptz not null default now()
    )`
  yield* sql`comment on table app_user is 'A person who owns an account.'`

  yield* sql`
    create table account (
      id uuid primary key,
      user_id uuid not null unique references app_user (id),
      created_at timestamptz not null default now()
    )`
  yield* sql`comment on table account is 'Owner of one balance, on which all its projects draw; one per user. Its money is the scope row of the same id.'`

  yield* sql`
    create table project (
      id uuid primary key,
      account_id uuid not null references account (id),
      name text not null check (length(name) between 1 and 200),
      is_default boolean not null default false,
      billing_mode text not null default 'managed' check (billing_mode in ('managed', 'byok')),
      allowed_models text[],
      excluded_models text[],
      allowed_providers text[],
      excluded_providers text[],
      max_input_price_microusd_per_million bigint check (max_input_price_microusd_per_million >= 0),
      max_output_price_microusd_per_million bigint check (max_output_price_microusd_per_million >= 0),
      default_alpha double precision check (default_alpha between 0 and 1),
      enable_fallback boolean not null default true,
      policy_version integer not null default 1 check (policy_version > 0),
      managed_by_configuration boolean not null default false,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`
  yield* sql`create index project_account on project (account_id)`
  yield* sql`create unique index project_default on project (is_default) where is_default`
  yield* sql`comment on column project.is_default is 'The project that GATEWAY_CONFIG writes to: at most one, whatever its name becomes.'`
  yield* sql`comment on column project.billing_mode is 'managed: calls draw on the account. byok: the project pays its providers itself.'`
  yield* sql`comment on column project.allowed_models is 'Ids, <prefix>/* or *. null allows every model, an empty array none. Exclusions always win.'`
  yield* sql`comment on column project.policy_version is 'Goes up with every change of the policy or of the routing configurations.'`
  yield* sql`comment on column project.managed_by_configuration is 'The policy was written from GATEWAY_CONFIG and is read-only elsewhere.'`

  yield* sql`
    create table api_key (
      id uuid primary key,
      hash bytea not null unique check (length(hash) = 32),
      key_prefix text not null check (length(key_prefix) = 12),
      name text not null check (length(name) between 1 and 200),
      project_id uuid not null references project (id),
      is_active boolean not null default true,
      expires_at timestamptz,
      created_at timestamptz not null default now()
    )`
  yield* sql`create index api_key_project on api_key (project_id, created_at)`
  yield* sql`comment on column api_key.hash is 'SHA-256 of the whole key: the key itself is never stored.'`

  yield* sql`
    create table routing_configuration (
      id uuid primary key,
      project_id uuid not null references project (id),
      slug text not null check (length(slug) between 1 and 120),
      name text not null check (length(name) between 1 and 200),
      models_allow text[],
      models_deny text[] not null default '{}',
      providers_allow text[],
      providers_deny text[] not null default '{}',
      alpha double precision check (alpha between 0 and 1),
      max_input_price_microusd_per_million bigint check (max_input_price_microusd_per_million >= 0),
      max_output_price_microusd_per_million bigint check (max_output_price_microusd_per_million >= 0),
      enable_fallback boolean not null default true,
      is_active boolean not null default true,
      managed_by_configuration boolean not null default false,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (project_id, slug)
    )`
  yield* sql`comment on table routing_configuration is 'A named way of routing inside a project, addressed as auto:<slug>.'`
  yield* sql`comment on column routing_configuration.managed_by_configuration is 'Written from GATEWAY_CONFIG, removed when it is gone from there, read-only elsewhere.'`
})
