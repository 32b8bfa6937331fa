import { counter } from "./Family.ts"

/** Why a call that its client opted in, and that the collection would have taken, is not in it. */
const dropReasons = [
  "store_false",
  "queue_full",
  "window_closed",
  "erased",
  "not_among_kept",
  "conversation_full",
  "sealing_unavailable",
  "sealing_failed",
  "store_unavailable"
] as const
export type DropReason = (typeof dropReasons)[number]

const samplesCounted = counter("gateway_capture_samples_total", "Calls that the collection of a project has kept.", [])
const dropsCounted = counter(
  "gateway_capture_dropped_total",
  "Calls that opted into data collection in an open window and were not kept, by reason: store_false, queue_full, window_closed, erased, not_among_kept, conversation_full, sealing_unavailable, sealing_failed or store_unavailable.",
  ["reason"]
)

export const captured = (amount: number): void => {
  if (amount > 0) samplesCounted([], amount)
}
export const dropped = (reason: DropReason, amount: number): void => dropsCounted([reason], amount)
