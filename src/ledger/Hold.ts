import type { NonEmptyReadonlyArray } from "effect/Array"
import type { CallRecord } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { KeyId, RequestId } from "../domain/Ids.ts"
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

/** The response that is replayed when the same request is sent again under its Idempotency-Key. */
export interface SealedAnswer {
  readonly keyId: KeyId
  readonly idempotencyKey: string
  readonly status: number
  readonly contentType: string
  /** Besides the content type. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, encrypted. */
  readonly sealed: Uint8Array
  readonly keptMillis: number
}

/** How a hold is closed. */
export interface Settlement {
  /** settled: the call is charged. cancelled: the client left, what was used is charged. void: nothing is charged. */
  readonly state: "settled" | "cancelled" | "void"
  /** Cost of the call. The customer pays at most the hold; what exceeds it is written off. */
  readonly actual: MicroUsd
  readonly record: CallRecord
  /** Written in the same statement: it is never replayed without its charge, nor charged again. */
  readonly kept?: SealedAnswer | undefined
}

export interface Balance {
  readonly creditMicroUsd: number
  readonly spentMicroUsd: number
  readonly heldMicroUsd: number
}
