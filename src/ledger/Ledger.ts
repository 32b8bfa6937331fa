import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { CallRecord } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { InsufficientFunds, StoreUnavailable } from "../domain/GatewayError.ts"
import type { AccountId, RequestId } from "../domain/Ids.ts"
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

export interface LedgerShape {
  /**
   * Takes money aside before a call, in every scope at once: the account's balance (not for byok), the project's limit,
   * the key's limit. Decided in arrival order, each on its own.
   */
  readonly reserve: (request: HoldRequest) => Effect.Effect<Hold, InsufficientFunds | StoreUnavailable>
  /** Raises the hold for a dearer candidate before it is called; the hold is unchanged when that fails. */
  readonly extend: (hold: Hold, option: HoldOption) => Effect.Effect<Hold, InsufficientFunds | StoreUnavailable>
  /** Queued, written with the next batch together with the call's log rows, retried until written; a second one is ignored. */
  readonly settle: (hold: Hold, settlement: Settlement) => Effect.Effect<void>
  /** Succeeds once every settlement queued before it has been written. */
  readonly flushed: Effect.Effect<void>
  readonly balance: (account: AccountId) => Effect.Effect<Balance, StoreUnavailable>
  /** Checks every invariant of the books and names those that do not hold; empty is good. */
  readonly audit: Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
}

/** Money: holds before calls, settlements after them, exact to the micro-USD. */
export class Ledger extends Context.Tag("gateway/ledger/Ledger")<Ledger, LedgerShape>() {}
