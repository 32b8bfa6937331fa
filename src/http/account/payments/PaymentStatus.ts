import type { Payment } from "../../../account/payments/PaymentStore.ts"

/** Of a payment that is paid, the last thing that has happened to its money counts. */
export const statusOf = ({ disputedMicroUsd, isPaid, refundedMicroUsd, state }: Payment): string => {
  if (!isPaid) return state
  return disputedMicroUsd > 0 ? "disputed" : refundedMicroUsd > 0 ? "refunded" : "credited"
}
