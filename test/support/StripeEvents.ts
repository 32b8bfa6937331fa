import { Stripe } from "stripe"
import type { CreateCheckoutResponse } from "../../src/wire/account/Payments.ts"
import { type AccountNode, sendTo } from "./AccountService.ts"
import type { StripeApi, StripeSession } from "./StripeApi.ts"

export const webhookSecret = "whsec_of_this_test_only"
export const stripeKey = "sk_test_of_this_test_only"
const stripe = new Stripe(stripeKey)

type Created = typeof CreateCheckoutResponse.Encoded

export const nowSeconds = () => Math.floor(Date.now() / 1_000)

export const sign = (payload: string, secret = webhookSecret, timestamp = nowSeconds()) =>
  stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })

/** Send to the webhook of one of the nodes. */
export const webhookOf = (nodes: () => ReadonlyArray<AccountNode>) => {
  const post = (payload: string, signature: string, at = 0) =>
    sendTo(nodes()[at % nodes().length]?.url ?? "", {})("POST", "/webhooks/stripe", payload, {
      "content-type": "application/json; charset=utf-8",
      "stripe-signature": signature
    })
  const deliver = (event: object, at = 0) => {
    const payload = JSON.stringify(event)
    return post(payload, sign(payload), at)
  }
  return { deliver, post }
}

/** Stripe's events about the sessions that its stand-in has. */
export const eventsOf = (api: () => StripeApi) => {
  let events = 0
  const eventOf = (type: string, object: object) => ({ id: `evt_${++events}`, object: "event", type, data: { object } })
  const sessionOf = ({ session_id }: Created): StripeSession => {
    const session = api().sessions.get(session_id)
    if (session === undefined) throw new Error("the stand-in has no such session")
    return session
  }
  const paid = (created: Created, more: object = {}) => ({
    ...sessionOf(created),
    payment_intent: `pi_${created.session_id}`,
    payment_status: "paid",
    status: "complete",
    ...more
  })
  return {
    eventOf,
    sessionOf,
    paid,
    refunded: ({ session_id }: Created, cents: number) =>
      eventOf("charge.refunded", {
        id: `ch_${session_id}`,
        payment_intent: `pi_${session_id}`,
        amount_refunded: cents,
        currency: "usd"
      }),
    refund: (type: string, { session_id }: Created, name: string, cents: number, status: string) =>
      eventOf(type, {
        id: `re_${session_id}_${name}`,
        object: "refund",
        amount: cents,
        charge: `ch_${session_id}`,
        payment_intent: `pi_${session_id}`,
        currency: "usd",
        status
      }),
    disputed: ({ session_id }: Created, what: string, cents: number, status = "needs_response") =>
      eventOf(`charge.dispute.${what}`, {
        id: `dp_${session_id}`,
        payment_intent: `pi_${session_id}`,
        amount: cents,
        currency: "usd",
        status
      })
  }
}
