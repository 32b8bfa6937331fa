import type * as Arr from "effect/Array"
import type { ChatRequest, Effort } from "./Chat.ts"
import type { Model } from "./Model.ts"
import type { MicroUsd } from "./Money.ts"
import type { PriceTerms } from "./Prices.ts"
import type { ProviderCredential } from "./ProviderCredential.ts"

/** user_turn_added: the provider accepts no conversation that ends with the assistant, so a turn of the user follows it. */
export type CandidateNote = "user_turn_added"

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
  /** Wire names of what this route gets in part, or with another value. */
  readonly altered: ReadonlyArray<string>
  /** What else the response is explained by. */
  readonly notes: ReadonlyArray<CandidateNote>
  /** Of what is sent, without what is dropped. */
  readonly terms: PriceTerms
  /** The project's own, which pays for the attempt; `undefined`: the one that the provider was made with. */
  readonly credential?: ProviderCredential | undefined
}

/** Wire names of what a request sets without the effect that it asks for at this route: fields that no route has an effect for last. */
export const withoutEffect = (
  { altered, dropped }: Pick<Candidate, "altered" | "dropped">,
  { ignored = [] }: Pick<ChatRequest, "ignored">
): ReadonlyArray<string> => (altered.length + ignored.length === 0 ? dropped : [...dropped, ...altered, ...ignored])

/** The candidates of a call as ranked, at least one. */
export interface Candidates {
  readonly first: Candidate
  readonly size: number
  /** By rank from 0, the same object each time. Made when it is asked for: nearly every call needs the first alone. */
  readonly at: (rank: number) => Candidate | undefined
  /** Best first. */
  readonly all: () => Arr.NonEmptyReadonlyArray<Candidate>
}

export const candidatesFrom = (all: Arr.NonEmptyReadonlyArray<Candidate>): Candidates => ({
  first: all[0],
  size: all.length,
  at: (rank) => all[rank],
  all: () => all
})
