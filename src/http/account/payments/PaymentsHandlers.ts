import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import type { Payment } from "../../../account/payments/PaymentStore.ts"
import { Payments } from "../../../account/payments/Payments.ts"
import { PaymentId } from "../../../domain/Ids.ts"
import { PublicUrl } from "../../../identity/sessions/PublicUrl.ts"
import type { PaymentOut } from "../../../wire/account/Payments.ts"
import { AccountApi } from "../AccountApi.ts"
import { idempotent } from "../Idempotent.ts"
import * as Incoming from "../Incoming.ts"
import { page } from "../Paging.ts"
import { statusOf } from "./PaymentStatus.ts"

/** What is replayed for an Idempotency-Key: the payment, whose page is opened outside of the transaction. */
const Begun = Schema.Struct({ id: PaymentId })

export const paymentsHandlers = HttpApiBuilder.group(AccountApi, "payments", (handlers) =>
  Effect.gen(function* () {
    const payments = yield* Payments
    const idempotency = yield* AccountIdempotency
    const publicUrl = yield* PublicUrl
    return handlers
      .handle("createCheckout", ({ headers, payload, request }) =>
        Effect.gen(function* () {
          const { id } = yield* idempotent(
            idempotency,
            headers["idempotency-key"],
            { body: payload, schema: Begun, mayReplay: Effect.void },
            Effect.map(payments.create(payload.credit_amount_cents), (created) => ({ id: created }))
          )
          const { sessionId, url } = yield* payments.open(id, publicUrl.at(Incoming.portOf(request)))
          return { checkout_url: url, session_id: sessionId, payment_id: id }
        })
      )
      .handle("getCheckout", ({ path }) =>
        Effect.map(payments.read(path.session_id), (payment) => ({
          ...stateOf(payment),
          session_id: path.session_id
        }))
      )
      .handle("listPayments", ({ urlParams }) =>
        page("payments", urlParams, (id) => PaymentId.make(id), payments.list, outOf)
      )
  })
)

const stateOf = (payment: Payment) => ({
  status: statusOf(payment),
  checkout_amount_cents: payment.amountCents,
  credited_amount_microusd: payment.creditedMicroUsd - payment.refundedMicroUsd - payment.disputedMicroUsd,
  failure_category: payment.isPaid ? null : payment.failureCategory,
  failure_message: payment.isPaid ? null : payment.failureMessage
})

const outOf = (payment: Payment): typeof PaymentOut.Type => ({
  id: payment.id,
  provider: payment.provider,
  session_id: payment.sessionId,
  ...stateOf(payment),
  created_at: payment.createdAt,
  updated_at: payment.updatedAt
})
