import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { PaymentId } from "../../domain/Ids.ts"
import { storedText } from "../../wire/validation/SchemaParts.ts"
import type { PaymentEvent, PaymentFact } from "./PaymentFact.ts"

/** What the database cannot keep is not decoded: delivered again, it could not be kept either. */
const Id = storedText(255)
const Amount = Schema.NonNegativeInt
const Text = Schema.NullOr(Schema.String)

const Session = Schema.Struct({
  id: Id,
  client_reference_id: Text,
  amount_total: Schema.NullOr(Amount),
  currency: Text,
  payment_intent: Schema.optional(Schema.NullOr(Schema.Union(Id, Schema.Struct({ id: Id })))),
  payment_status: Schema.String,
  status: Text
})
type Session = typeof Session.Type

const Event = Schema.Struct({
  id: Id,
  type: Schema.String,
  data: Schema.Struct({ object: Schema.Unknown })
})
const Charge = Schema.Struct({
  id: Id,
  payment_intent: Schema.NullOr(Id),
  amount_refunded: Amount,
  currency: Schema.String
})
const Refund = Schema.Struct({
  id: Id,
  charge: Schema.NullOr(Id),
  payment_intent: Schema.NullOr(Id),
  amount: Amount,
  currency: Schema.String,
  status: Schema.optional(Text)
})
const Dispute = Schema.Struct({
  id: Id,
  payment_intent: Schema.NullOr(Id),
  amount: Amount,
  currency: Schema.String,
  status: Schema.optional(Schema.String)
})

const decodeEvent = Schema.decodeUnknownEither(Event)
const decodeSession = Schema.decodeUnknownEither(Session)
const decodeCharge = Schema.decodeUnknownEither(Charge)
const decodeRefund = Schema.decodeUnknownEither(Refund)
const decodeDispute = Schema.decodeUnknownEither(Dispute)
const isPaymentId = Schema.is(PaymentId)

type Decoded<A> = Either.Either<Option.Option<A>, ParseResult.ParseError>

/** The facts of this service's own payments; none for all other events of the Stripe account. */
export const eventOf = (json: unknown): Decoded<PaymentEvent> =>
  Either.flatMap(decodeEvent(json), ({ data, id, type }) =>
    Either.map(
      factOf(type, data.object),
      Option.map((fact) => ({ id: `stripe:${id}`, fact }))
    )
  )

const factOf = (type: string, object: unknown): Decoded<PaymentFact> => {
  switch (type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
    case "checkout.session.expired":
      return Either.map(decodeSession(object), (session) => sessionFact(session))
    case "checkout.session.async_payment_failed":
      return Either.map(decodeSession(object), (session) => sessionFact(session, asyncFailed))
    case "charge.refunded":
      return Either.map(decodeCharge(object), ({ amount_refunded, currency, id, payment_intent }) =>
        reversal(refundsOf(id), "refund", payment_intent, amount_refunded, currency, false)
      )
    case "refund.created":
    case "refund.updated":
    case "refund.failed":
    case "charge.refund.updated":
      return Either.map(decodeRefund(object), (refund) => refundFact(refund))
    case "charge.dispute.created":
    case "charge.dispute.funds_withdrawn":
    case "charge.dispute.funds_reinstated":
    case "charge.dispute.closed":
      return Either.map(decodeDispute(object), ({ amount, currency, id, payment_intent, status = "" }) =>
        // an inquiry of the buyer's bank, before a dispute: it takes no money
        status.startsWith("warning_") && type !== "charge.dispute.funds_withdrawn"
          ? Option.none()
          : reversal(
              `dispute:${id}`,
              "dispute",
              payment_intent,
              amount,
              currency,
              // of one that is lost, Stripe reinstates what was refunded before
              status === "won" || (type === "charge.dispute.funds_reinstated" && status !== "lost")
            )
      )
    default:
      return Either.right(Option.none())
  }
}

const asyncFailed = { category: "payment_failed", message: "The payment was not completed by the bank." }

const sessionFact = (
  session: Session,
  failure: typeof asyncFailed | null = null
): Option.Option<Extract<PaymentFact, { readonly _tag: "Session" }>> => {
  const { amount_total, client_reference_id, currency, id, payment_intent } = session
  if (!isPaymentId(client_reference_id)) return Option.none()
  return Option.some({
    _tag: "Session",
    sessionId: id,
    paymentId: client_reference_id,
    amountCents: amount_total ?? 0,
    currency: currency ?? "",
    paymentIntent: typeof payment_intent === "string" ? payment_intent : (payment_intent?.id ?? null),
    state: failure === null ? stateOf(session) : "failed",
    failure
  })
}

const stateOf = ({ payment_status, status }: Session) =>
  payment_status === "paid" ? "paid" : status === "expired" ? "expired" : status === "complete" ? "processing" : "open"

/** A session as Stripe's API answers it; none for one of another payment. */
export const sessionOf = (json: unknown): Option.Option<PaymentFact> =>
  Option.flatMap(Either.getRight(decodeSession(json)), (session) => sessionFact(session))

/** The reversal of a charge. */
const refundsOf = (charge: string) => `refund:${charge}`

/** As much as the database keeps, and more than any payment. */
const maxPaidBackCents = 2 ** 31 - 1

/** No other currency is ever paid. */
const keptCents = (cents: number, currency: string) => (currency === "usd" ? Math.min(cents, maxPaidBackCents) : 0)

const reversal = (
  id: string,
  kind: "refund" | "dispute",
  paymentIntent: string | null,
  paidBackCents: number,
  currency: string,
  isReinstated: boolean
): Option.Option<PaymentFact> => {
  const amountCents = keptCents(paidBackCents, currency)
  if (paymentIntent === null || amountCents === 0) return Option.none()
  return Option.some({ _tag: "Reversal", id, kind, paymentIntent, amountCents, isReinstated })
}

const refundFact = (refund: typeof Refund.Type): Option.Option<PaymentFact> => {
  const { amount, charge, currency, id, payment_intent: paymentIntent, status } = refund
  const amountCents = keptCents(amount, currency)
  if (charge === null || paymentIntent === null || amountCents === 0) return Option.none()
  const isFailed = status === "failed" || status === "canceled"
  return Option.some({ _tag: "Refund", id, reversalId: refundsOf(charge), paymentIntent, amountCents, isFailed })
}
