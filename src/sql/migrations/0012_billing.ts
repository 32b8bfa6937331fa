import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * What is paid back takes credit from an account: a row of the journal from the account to `payments`. A refund of money that is
 * spent leaves the account overdrawn.
 */
const journal = `
alter table journal
  drop constraint journal_kind_check,
  drop constraint journal_check1,
  drop constraint journal_check2,
  add column note text;
alter table journal
  add constraint journal_kind_check
    check (kind in ('usage', 'overrun', 'late', 'absorbed', 'credit', 'refund', 'dispute')) not valid,
  add constraint journal_source_check
    check ((kind in ('credit', 'refund', 'dispute')) = (source is not null)) not valid,
  add constraint journal_call_check check ((source is null) = (call_id is not null)) not valid;
comment on column journal.note is 'What the operator who gave the credit wrote';
create index journal_credit on journal (credit, id) where source is not null;
create index journal_paid_back on journal (debit) where source is not null;
`

/** Sealed with a key that is derived from the master key; the plain secret is nowhere in the database. */
const credentials = `
create table credential (
  id uuid primary key,
  project_id uuid not null references project (id),
  provider text not null,
  label text not null check (length(label) between 1 and 200),
  masked text not null,
  sealed bytea not null,
  allowed_models text[],
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (project_id, provider, label)
);
comment on table credential is 'A project''s own credential of a provider, which its calls use while its billing mode is byok';
comment on column credential.masked is 'The end of the secret';
comment on column credential.sealed is 'AES-256-GCM: nonce, tag, secret; the ids of project and credential are authenticated with it';
comment on column credential.allowed_models is 'Ids, <prefix>/* or *. null allows every model of the provider';
`

/**
 * Facts about a payment arrive in any order, more than once and on several nodes at once, so that each is kept as it is known
 * and money moves by the difference between what is known and what has been moved.
 */
const payments = `
create table payment (
  id uuid primary key,
  account_id uuid not null references account (id),
  provider text not null check (provider in ('stripe', 'test')),
  amount_cents int not null check (amount_cents > 0),
  session_id text unique,
  checkout_url text,
  payment_intent text unique,
  state text not null default 'open' check (state in ('open', 'processing', 'expired', 'failed')),
  is_paid boolean not null default false,
  credited_micro_usd bigint not null default 0 check (credited_micro_usd >= 0),
  failure_category text,
  failure_message text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
comment on table payment is 'A checkout; its amount is what is credited, whatever an event says';
comment on column payment.id is 'The client reference of the checkout session';
comment on column payment.state is 'Of a payment that is not paid; it only moves to the right';
create index payment_account on payment (account_id, id desc);

create table payment_event (
  id text primary key,
  at timestamptz not null default now()
);
comment on table payment_event is 'Events that were taken, in the transaction of what they changed';

create table payment_reversal (
  id text primary key,
  kind text not null check (kind in ('refund', 'dispute')),
  payment_intent text not null,
  amount_cents int not null check (amount_cents > 0),
  is_reinstated boolean not null default false,
  applied_micro_usd bigint not null default 0 check (applied_micro_usd >= 0)
);
comment on table payment_reversal is 'What was paid back of a charge, which may be known before its payment';
comment on column payment_reversal.applied_micro_usd is 'What the journal has of it';
create index payment_reversal_intent on payment_reversal (payment_intent);
`

export const billing = Effect.flatMap(SqlClient, (sql) => sql.unsafe(journal + credentials + payments))
