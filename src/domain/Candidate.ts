import type { Effort } from "./Chat.ts"
import type { Model } from "./Model.ts"
import type { MicroUsd } from "./Money.ts"
import type { PriceTerms } from "./Prices.ts"

/** An eligible route of a call, as ranked by the router. */
export interface Candidate {
  readonly model: Model
  /** Expected quality, reduced by the probability of failure, 0 to 1. */
  readonly quality: number
  readonly expectedCost: MicroUsd
  readonly score: number
  /** The effort or depth to send; `undefined` sends none. */
  readonly effort: Effort | number | undefined
  /** Wire names of the request parameters that this route ignores. */
  readonly dropped: ReadonlyArray<string>
  /** Of what is sent, without what is dropped. */
  readonly terms: PriceTerms
}
