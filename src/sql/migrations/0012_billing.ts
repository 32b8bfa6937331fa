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

export const billing = Effect.flatMap(SqlClient, (sql) => sql.unsafe(journal))
