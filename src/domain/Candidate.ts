import type { Effort } from "./Chat.ts"
import type { Model } from "./Model.ts"
import type { MicroUsd } from "./Money.ts"

/** A route that may take this call, as the router has ranked it. */
export interface Candidate {
  readonly model: Model
  /** Expected quality of the answer after the odds of failure, 0 to 1. */
  readonly quality: number
  readonly expectedCost: MicroUsd
  readonly score: number
  /** The effort or depth to send; `undefined` sends none. */
  readonly effort: Effort | number | undefined
  /** Request parameters that this route leaves out, by their wire names. */
  readonly dropped: ReadonlyArray<string>
}
