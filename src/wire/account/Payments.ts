import * as Schema from "effect/Schema"
import { PaymentId } from "../../domain/Ids.ts"
import { within } from "../validation/SchemaParts.ts"
import { pageOf } from "./Page.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const CreateCheckoutRequest = strict({
  credit_amount_cents: within({ type: "integer", minimum: 1_000, maximum: 100_000 }).annotations({
    description: "Amount of credit to buy, in US cents, 1000 to 100000."
  })
}).annotations({ identifier: "CreateCheckoutRequest" })

export const CreateCheckoutResponse = Schema.Struct({
  checkout_url: Schema.String.annotations({ description: "URL of the checkout page." }),
  session_id: Schema.String.annotations({ description: "Id of the checkout session." }),
  payment_id: Schema.String.annotations({ description: "Id of the payment." })
}).annotations({ identifier: "CreateCheckoutResponse" })

const fields = {
  session_id: Schema.String.annotations({ description: "Id of the checkout session." }),
  status: Schema.String.annotations({
    description:
      "open: not yet paid. processing: paid, not yet confirmed. credited: added to the balance. failed, expired: not paid. refunded, disputed: returned to the payer."
  }),
  checkout_amount_cents: Schema.Int.annotations({ description: "Amount to be paid, in US cents." }),
  credited_amount_microusd: Schema.Int.annotations({
    description: "Net amount credited to the balance, in micro-USD: the credit, less refunds and disputes."
  }),
  failure_category: Schema.NullOr(Schema.String).annotations({
    description: "Machine-readable reason of the failure."
  }),
  failure_message: Schema.NullOr(Schema.String).annotations({ description: "Human-readable reason of the failure." })
}

export const CheckoutStatusOut = Schema.Struct(fields).annotations({ identifier: "CheckoutStatusOut" })

export const PaymentOut = Schema.Struct({
  id: PaymentId.annotations({ description: "Id of the payment." }),
  provider: Schema.Literal("stripe", "test").annotations({
    description: "test: the local test checkout, which takes no real money."
  }),
  ...fields,
  session_id: Schema.NullOr(Schema.String).annotations({
    description: "Id of the checkout session; null where none has been opened yet."
  }),
  created_at: timestamp("When it was created."),
  updated_at: timestamp("When its status last changed.")
}).annotations({ identifier: "PaymentOut" })

export const PaymentsPage = pageOf("PaymentsPage", PaymentOut)
