import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { PaymentId } from "../../domain/Ids.ts"
import type { PaymentEvent, PaymentFact } from "./PaymentFact.ts"

const Amount = Schema.NonNegativeInt
const Text = Schema.NullOr(Schema.String)

const Session = Schema.Struct({
  id: Schema.String,
  client_reference_id: Text,
  amount_total: Schema.NullOr(Amount),
  currency: Text,
  payment_intent: Schema.optional(Schema.NullOr(Schema.Union(Schema.String, Schema.Struct({ id: Schema.String })))),
  payment_status: Schema.String,
  status: Text
})
type Session = typeof Session.Type

const Event = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  data: Schema.Struct({ object: Schema.Unknown })
})
const Charge = Schema.Struct({
  id: Schema.String,
  payment_intent: Text,
  amount_refunded: Amount,
  currency: Schema.String
})
const Dispute = Schema.Struct({
  id: Schema.String,
  payment_intent: Text,
  amount: Amount,
  currency: Schema.String,
  status: Schema.optional(Schema.String)
})

const decodeEvent = Schema.decodeUnknownOption(Event)
const decodeSession = Schema.decodeUnknownOption(Session)
const decodeCharge = Schema.decodeUnknownOption(Charge)
const decodeDispute = Schema.decodeUnknownOption(Dispute)
const isPaymentId = Schema.is(PaymentId)

/** The facts of this service's own payments; none for all other events of the Stripe account. */
export const eventOf = (json: unknown): Option.Option<PaymentEvent> =>
  Option.flatMap(decodeEvent(json), ({ data, id, type }) =>
    Option.map(factOf(type, data.object), (fact) => ({ id: `stripe:${id}`, fact }))
  )

const factOf = (type: string, object: unknown): Option.Option<PaymentFact> => {
  switch (type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
    case "checkout.session.expired":
      return Option.flatMap(decodeSession(object), (session) => sessionFact(session))
    case "checkout.session.async_payment_failed":
      return Option.flatMap(decodeSession(object), (session) => sessionFact(session, asyncFailed))
    case "charge.refunded":
      return Option.flatMap(decodeCharge(object), ({ amount_refunded, currency, id, payment_intent }) =>
        reversal(`refund:${id}`, "refund", payment_intent, amount_refunded, currency, false)
      )
    case "charge.dispute.created":
    case "charge.dispute.funds_withdrawn":
    case "charge.dispute.funds_reinstated":
    case "charge.dispute.closed":
      return Option.flatMap(decodeDispute(object), ({ amount, currency, id, payment_intent, status = "" }) =>
        // an inquiry of the buyer's bank, before a dispute: it takes no money
        status.startsWith("warning_") && type !== "charge.dispute.funds_withdrawn"
          ? Option.none()
          : reversal(
              `dispute:${id}`,
              "dispute",
              payment_intent,
              amount,
              currency,
              type === "charge.dispute.funds_reinstated" || status === "won"
            )
      )
    default:
      return Option.none()
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

/** A session as Stripe's API answers it. */
export const sessionOf = (json: unknown) =>
  Effect.orDie(Option.flatMap(decodeSession(json), (session) => sessionFact(session)))

const reversal = (
  id: string,
  kind: "refund" | "dispute",
  paymentIntent: string | null,
  amountCents: number,
  currency: string,
  isReinstated: boolean
): Option.Option<PaymentFact> =>
  paymentIntent === null || amountCents === 0 || currency !== "usd"
    ? Option.none()
    : Option.some({ _tag: "Reversal", id, kind, paymentIntent, amountCents, isReinstated })
