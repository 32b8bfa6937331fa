import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** A refund can fail after its charge has counted it, and can be known before its charge is. */
const refunds = `
create table payment_refund (
  id text primary key,
  reversal_id text not null references payment_reversal (id),
  amount_cents int not null check (amount_cents > 0),
  is_failed boolean not null
);
comment on table payment_refund is 'The refunds of a charge as they are known one by one, those before this table only if they have failed since';
comment on column payment_refund.is_failed is 'Failed or canceled: the buyer did not get the money';
create index payment_refund_reversal on payment_refund (reversal_id);

alter table payment_reversal
  drop constraint payment_reversal_amount_cents_check,
  add constraint payment_reversal_amount_cents_check check (amount_cents >= 0);
comment on column payment_reversal.amount_cents is 'The highest total that its events have told; 0 where only payment_refund has refunds of it';
`

export const refundTable = Effect.flatMap(SqlClient, (sql) => sql.unsafe(refunds))
