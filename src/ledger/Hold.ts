import type { NonEmptyReadonlyArray } from "effect/Array"
import type { CallRecord } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { RequestId } from "../domain/Ids.ts"
import type { MicroUsd } from "../domain/Money.ts"

/** What one candidate needs: `full` for its whole output cap, `least` for the smallest cap worth a call. */
export interface HoldOption {
  readonly full: MicroUsd
  readonly least: MicroUsd
}

export interface HoldRequest {
  readonly callId: RequestId
  readonly caller: CallerShape
  readonly requestedModel: string
  /** In rank order; the first that fits at least its `least` is granted, with as much of its `full` as there is room for. */
  readonly options: NonEmptyReadonlyArray<HoldOption>
}

export interface Hold {
  readonly callId: RequestId
  readonly caller: CallerShape
  /** Index of the option that was granted. */
  readonly option: number
  readonly amount: MicroUsd
}

export interface Settlement {
  /** settled: the answer is charged. cancelled: the client left. void: nothing was used. */
  readonly state: "settled" | "cancelled" | "void"
  /** What the call really cost; above the hold the customer pays the hold and the house the rest. */
  readonly actual: MicroUsd
  readonly record: CallRecord
}

export interface Balance {
  readonly creditMicroUsd: number
  readonly spentMicroUsd: number
  readonly heldMicroUsd: number
}
