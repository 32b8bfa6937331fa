import * as Schema from "effect/Schema"
import { PaymentId } from "../../domain/Ids.ts"
import { pageOf } from "./Page.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const CreateCheckoutRequest = strict({
  credit_amount_cents: Schema.Number.pipe(Schema.int(), Schema.between(1_000, 100_000)).annotations({
    description: "Credit to buy, in US cents, 1000 to 100000."
  })
}).annotations({ identifier: "CreateCheckoutRequest" })

export const CreateCheckoutResponse = Schema.Struct({
  checkout_url: Schema.String.annotations({ description: "The page on which it is paid." }),
  session_id: Schema.String.annotations({ description: "Id of the checkout session." }),
  payment_id: Schema.String.annotations({ description: "Id of the payment." })
}).annotations({ identifier: "CreateCheckoutResponse" })

const fields = {
  session_id: Schema.String.annotations({ description: "Id of the checkout session." }),
  status: Schema.String.annotations({
    description:
      "open: not paid yet. processing: paid, not confirmed. credited: in the balance. failed, expired: not paid. refunded, disputed: paid back."
  }),
  checkout_amount_cents: Schema.Int.annotations({ description: "What is to be paid, in US cents." }),
  credited_amount_microusd: Schema.Int.annotations({
    description: "What the balance has of it, in micro-USD: what was credited, less what was paid back."
  }),
  failure_category: Schema.NullOr(Schema.String).annotations({ description: "Why it failed, for programs." }),
  failure_message: Schema.NullOr(Schema.String).annotations({ description: "Why it failed, for people." })
}

export const CheckoutStatusOut = Schema.Struct(fields).annotations({ identifier: "CheckoutStatusOut" })

export const PaymentOut = Schema.Struct({
  id: PaymentId.annotations({ description: "Id of the payment." }),
  provider: Schema.Literal("stripe", "test").annotations({
    description: "test: the local checkout page, where nothing is really paid."
  }),
  ...fields,
  session_id: Schema.NullOr(Schema.String).annotations({
    description: "Id of the checkout session; null where none could be opened yet."
  }),
  created_at: timestamp("When it was begun."),
  updated_at: timestamp("When its state changed last.")
}).annotations({ identifier: "PaymentOut" })

export const PaymentsPage = pageOf("PaymentsPage", PaymentOut)
