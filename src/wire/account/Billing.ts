import * as Schema from "effect/Schema"
import { KeyId, RequestId } from "../../domain/Ids.ts"
import { storedName, within } from "../validation/SchemaParts.ts"
import { pageOf } from "./Page.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const BalanceOut = Schema.Struct({
  credited_microusd: Schema.Int.annotations({
    description: "All credits, less refunds and disputes, in micro-USD; equals spent + held + available."
  }),
  spent_microusd: Schema.Int.annotations({ description: "Total cost of calls, in micro-USD." }),
  held_microusd: Schema.Int.annotations({ description: "Held by running calls, in micro-USD." }),
  available_microusd: Schema.Int.annotations({
    description: "Available to new calls, in micro-USD; negative after a refund of money that was already spent."
  })
}).annotations({ identifier: "BalanceOut" })

export const LedgerEntryOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "Id of the entry." }),
  kind: Schema.Literal("usage", "credit", "refund", "dispute").annotations({
    description:
      "usage: a call. credit: a payment, a credit of the operator, or what a failed refund or a dispute that was won gives back. refund, dispute: a payment that was returned."
  }),
  debit: Schema.String.annotations({
    description: "Debited account: `account:<id>` or `payments`."
  }),
  credit: Schema.String.annotations({
    description: "Credited account: `account:<id>`, `revenue` or `payments`."
  }),
  amount_microusd: Schema.Int.annotations({ description: "Amount in micro-USD, always positive." }),
  call_id: Schema.NullOr(RequestId).annotations({ description: "The call of a usage entry; otherwise null." }),
  source: Schema.NullOr(Schema.String).annotations({
    description: "Source of a credit, refund or dispute, such as `checkout:<session id>`; null for a usage entry."
  }),
  note: Schema.NullOr(Schema.String).annotations({ description: "The operator's note on a credit." }),
  at: timestamp("When the entry was written.")
}).annotations({ identifier: "LedgerEntryOut" })

export const LedgerPage = pageOf("LedgerPage", LedgerEntryOut)

export const InFlightOut = Schema.Struct({
  id: RequestId.annotations({ description: "Id of the call." }),
  key_id: KeyId.annotations({ description: "The project key that it was sent with." }),
  key_name: Schema.NullOr(Schema.String).annotations({
    description: "Name of this key; null for a key that is no longer stored."
  }),
  requested_model: Schema.String.annotations({ description: "`model` of the request." }),
  held_microusd: Schema.Int.annotations({ description: "Amount held for the call, in micro-USD." }),
  billing_mode: Schema.Literal("managed", "byok").annotations({
    description: "managed: also held from the balance. byok: held only from the limits of key and project."
  }),
  started_at: timestamp("When it was admitted.")
}).annotations({ identifier: "InFlightOut" })

export const InFlightPage = pageOf("InFlightPage", InFlightOut)

const maxCreditMicroUsd = 1_000_000_000_000

export const CreateCreditRequest = strict({
  amount_microusd: within({ type: "integer", minimum: 1, maximum: maxCreditMicroUsd }).annotations({
    description: `Credit in micro-USD, 1 to ${maxCreditMicroUsd}.`
  }),
  note: storedName(200, "Reason for the credit, 1 to 200 characters; recorded in the ledger.")
}).annotations({ identifier: "CreateCreditRequest" })
