import type { NonEmptyReadonlyArray } from "effect/Array"
import type { CallRecord } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { RequestId } from "../domain/Ids.ts"
import type { MicroUsd } from "../domain/Money.ts"

/** What one candidate needs: `max` for its full output cap, `min` for the smallest cap worth a call. */
export interface HoldOption {
  readonly max: MicroUsd
  readonly min: MicroUsd
}

/** A request for a hold. */
export interface Reservation {
  readonly callId: RequestId
  readonly caller: CallerShape
  readonly requestedModel: string
  /** In rank order; the first whose `min` fits the balance is granted, with as much of its `max` as fits. */
  readonly options: NonEmptyReadonlyArray<HoldOption>
}

/** Money set aside for a call. */
export interface Hold {
  readonly callId: RequestId
  readonly caller: CallerShape
  /** Index of the option that was granted. */
  readonly option: number
  readonly amount: MicroUsd
}

/** How a hold is closed. */
export interface Settlement {
  /** settled: the call is charged. cancelled: the client left, what was used is charged. void: nothing is charged. */
  readonly state: "settled" | "cancelled" | "void"
  /** Cost of the call. The customer pays at most the hold; what exceeds it is written off. */
  readonly actual: MicroUsd
  readonly record: CallRecord
}

export interface Balance {
  readonly creditMicroUsd: number
  readonly spentMicroUsd: number
  readonly heldMicroUsd: number
}
