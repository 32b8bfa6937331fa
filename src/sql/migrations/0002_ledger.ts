import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { ledgerBatch } from "./0002_ledger_batch.ts"
import { ledgerExpire } from "./0002_ledger_expire.ts"

const tables = `
create table scope (
  id uuid primary key,
  kind text not null check (kind in ('account', 'project', 'key')),
  -- Null is no limit; for an account it is what has been credited. No check against what is spent: a limit may be lowered.
  limit_micro_usd bigint check (limit_micro_usd >= 0),
  spent_micro_usd bigint not null default 0 check (spent_micro_usd >= 0),
  held_micro_usd bigint not null default 0 check (held_micro_usd >= 0),
  created_at timestamptz not null default now(),
  check (kind <> 'account' or limit_micro_usd is not null)
) with (fillfactor = 50);
comment on table scope is 'What can run out: the balance of an account, the limit of a project or of a key';

create table hold (
  id uuid primary key,
  key_id uuid not null,
  project_id uuid not null,
  account_id uuid not null,
  -- False: the project pays its providers itself, so the account''s balance is no scope of this hold.
  managed boolean not null,
  requested_model text not null,
  amount_micro_usd bigint not null check (amount_micro_usd >= 0),
  actual_micro_usd bigint,
  state text not null default 'held' check (state in ('held', 'settled', 'cancelled', 'void', 'expired')),
  node uuid not null,
  created_at timestamptz not null default now(),
  closed_at timestamptz,
  check ((state = 'held') = (closed_at is null)),
  check ((state = 'held') = (actual_micro_usd is null)),
  check (actual_micro_usd >= 0 and actual_micro_usd <= amount_micro_usd),
  check (state not in ('void', 'expired') or actual_micro_usd = 0)
) with (fillfactor = 80);
comment on table hold is 'Money taken aside for one call; its state changes once, from held, by compare-and-set';
create index hold_open on hold (node, created_at) where state = 'held';

create table journal (
  id bigint generated always as identity primary key,
  kind text not null check (kind in ('usage', 'overrun', 'late', 'credit')),
  debit text not null,
  credit text not null,
  amount_micro_usd bigint not null check (amount_micro_usd > 0),
  call_id uuid,
  -- What a credit stands for; the same source credits an account once.
  source text,
  at timestamptz not null default now(),
  check (debit <> credit),
  check ((kind = 'credit') = (source is not null)),
  check ((kind = 'credit') = (call_id is null))
);
comment on table journal is 'Every movement of money, one row from debit to credit: account:<id>, revenue, house, payments';
create unique index journal_call on journal (call_id, kind) where call_id is not null;
create unique index journal_source on journal (credit, source) where source is not null;
create index journal_debit on journal (debit, id);

create function journal_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the journal is append-only';
end $$;
create trigger journal_append_only before update or delete or truncate on journal
  for each statement execute function journal_is_append_only();

create table node (
  id uuid primary key,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
comment on table node is 'Running processes, by the database''s own clock';

create table call (
  id uuid primary key,
  key_id uuid not null,
  project_id uuid not null,
  account_id uuid not null,
  requested_model text not null,
  model text,
  provider text,
  -- Null where the process that knew it is gone.
  endpoint text check (endpoint in ('chat', 'responses', 'embedded')),
  stream boolean,
  token_doctor boolean not null,
  status text not null check (status in ('success', 'error', 'timeout', 'cancelled')),
  error_code text,
  error_message text,
  cost_micro_usd bigint not null check (cost_micro_usd >= 0),
  cost_basis text not null check (cost_basis in ('charged', 'estimated')),
  -- All null when nothing is known of the usage; the first five are disjoint.
  input_tokens bigint,
  cache_read_tokens bigint,
  cache_write_tokens bigint,
  output_tokens bigint,
  reasoning_tokens bigint,
  input_audio_tokens bigint,
  output_audio_tokens bigint,
  accepted_prediction_tokens bigint,
  rejected_prediction_tokens bigint,
  latency_millis double precision,
  first_content_millis double precision,
  routing_config text,
  reason text,
  policy_version bigint,
  -- In rank order.
  pool text[] not null check (cardinality(pool) > 0),
  client_request_id text,
  started_at timestamptz not null,
  written_at timestamptz not null default now()
);
comment on table call is 'One row per call that was admitted, written together with the end of its hold';
create index call_project on call (project_id, started_at desc, id);
create index call_key on call (key_id, started_at desc, id);

create table attempt (
  call_id uuid not null references call (id) on delete cascade,
  position int not null,
  provider text not null,
  model text not null,
  status text not null check (status in ('success', 'error', 'timeout', 'cancelled')),
  error_code text,
  error_message text,
  cost_micro_usd bigint not null check (cost_micro_usd >= 0),
  cost_basis text not null check (cost_basis in ('charged', 'estimated')),
  latency_millis double precision not null,
  primary key (call_id, position)
);
comment on table attempt is 'The calls to providers that one call made, in order'
`

/** Money and the call log: the tables, and the two functions that change holds. */
export const ledger = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql.unsafe(tables)
  yield* sql.unsafe(ledgerBatch)
  yield* sql.unsafe(ledgerExpire)
})
