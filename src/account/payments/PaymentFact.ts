import type { PaymentId } from "../../domain/Ids.ts"

/** What a payment provider says. Facts may come in any order, and again. */
export type PaymentFact =
  | {
      readonly _tag: "Session"
      readonly sessionId: string
      readonly paymentId: PaymentId
      readonly amountCents: number
      readonly currency: string
      /** By which refunds and disputes name the payment; `null` before there is one. */
      readonly paymentIntent: string | null
      readonly state: "open" | "processing" | "expired" | "failed" | "paid"
      readonly failure: { readonly category: string; readonly message: string | null } | null
    }
  | {
      readonly _tag: "Reversal"
      readonly id: string
      readonly kind: "refund" | "dispute"
      readonly paymentIntent: string
      /** Of all refunds of the charge together, or of the dispute. */
      readonly amountCents: number
      /** The dispute was won. */
      readonly isReinstated: boolean
    }
  | {
      /** One refund of a charge, which the total of its charge may not have yet. */
      readonly _tag: "Refund"
      readonly id: string
      /** Of its charge. */
      readonly reversalId: string
      readonly paymentIntent: string
      readonly amountCents: number
      /** Or canceled: the buyer did not get the money. */
      readonly isFailed: boolean
    }

export type FactOf<Tag extends PaymentFact["_tag"]> = Extract<PaymentFact, { readonly _tag: Tag }>

/** A fact as an event tells it; the same event counts once. */
export interface PaymentEvent {
  readonly id: string
  readonly fact: PaymentFact
}
