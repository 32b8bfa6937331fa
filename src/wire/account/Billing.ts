import * as Schema from "effect/Schema"
import { KeyId, RequestId } from "../../domain/Ids.ts"
import { storedText } from "../validation/SchemaParts.ts"
import { pageOf } from "./Page.ts"
import { strict } from "./Strict.ts"
import { timestamp } from "./Times.ts"

export const BalanceOut = Schema.Struct({
  credited_microusd: Schema.Int.annotations({
    description: "All credits, less what was refunded or disputed, in micro-USD; spent + held + available."
  }),
  spent_microusd: Schema.Int.annotations({ description: "What calls have cost, in micro-USD." }),
  held_microusd: Schema.Int.annotations({ description: "What running calls hold, in micro-USD." }),
  available_microusd: Schema.Int.annotations({
    description: "What new calls can use, in micro-USD; negative after a refund of money that was spent."
  })
}).annotations({ identifier: "BalanceOut" })

export const LedgerEntryOut = Schema.Struct({
  id: Schema.UUID.annotations({ description: "Id of the entry; ids rise in the order of writing." }),
  kind: Schema.Literal("usage", "credit", "refund", "dispute").annotations({
    description: "usage: a call. credit: a payment or a gift. refund, dispute: a payment that was paid back."
  }),
  debit: Schema.String.annotations({
    description: "Where the money comes from: `account:<id>` or `payments`."
  }),
  credit: Schema.String.annotations({
    description: "Where it goes to: `account:<id>`, `revenue` or `payments`."
  }),
  amount_microusd: Schema.Int.annotations({ description: "Amount in micro-USD, always positive." }),
  call_id: Schema.NullOr(RequestId).annotations({ description: "The call of a usage; else null." }),
  source: Schema.NullOr(Schema.String).annotations({
    description: "What was paid or paid back, such as `checkout:<session id>`; null for a usage."
  }),
  note: Schema.NullOr(Schema.String).annotations({ description: "What the operator wrote to a credit." }),
  at: timestamp("When it was written.")
}).annotations({ identifier: "LedgerEntryOut" })

export const LedgerPage = pageOf("LedgerPage", LedgerEntryOut)

export const InFlightOut = Schema.Struct({
  id: RequestId.annotations({ description: "Id of the call." }),
  key_id: KeyId.annotations({ description: "The key that sent it." }),
  requested_model: Schema.String.annotations({ description: "The model that the request names." }),
  held_microusd: Schema.Int.annotations({ description: "What the call holds, in micro-USD." }),
  billing_mode: Schema.Literal("managed", "byok").annotations({
    description: "managed: held of the balance too. byok: of the limits of key and project only."
  }),
  started_at: timestamp("When it was admitted.")
}).annotations({ identifier: "InFlightOut" })

export const InFlightPage = pageOf("InFlightPage", InFlightOut)

const maxCreditMicroUsd = 1_000_000_000_000

export const CreateCreditRequest = strict({
  amount_microusd: Schema.Number.pipe(Schema.int(), Schema.between(1, maxCreditMicroUsd)).annotations({
    description: `Credit in micro-USD, 1 to ${maxCreditMicroUsd}.`
  }),
  note: storedText(200).annotations({ description: "What it is for, 1 to 200 characters; stands in the ledger." })
}).annotations({ identifier: "CreateCreditRequest" })
