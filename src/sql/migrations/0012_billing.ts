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

export const billing = Effect.flatMap(SqlClient, (sql) => sql.unsafe(journal + credentials))
