import * as Arr from "effect/Array"
import type { CallRecord } from "../domain/Call.ts"
import type { CallerShape } from "../domain/Caller.ts"
import type { KeyId, RequestId } from "../domain/Ids.ts"
import { type MicroUsd, microUsd } from "../domain/Money.ts"

/**
 * What one candidate needs: `max` for its full output cap, `min` for the smallest cap worth a call. For an extension they are
 * amounts of the whole hold.
 */
export interface HoldOption {
  /** For the full output cap. */
  readonly max: MicroUsd
  /** For the smallest cap that is worth a call. */
  readonly min: MicroUsd
  /**
   * What most calls need, where the client set no output cap: such a hold takes a share of the room, see `grantedAmount`.
   * With `null` it takes as much of `max` as there is room for.
   */
  readonly typical: MicroUsd | null
}

/** A hold without a client's cap takes at least this part of the room where it could use it. */
export const minShareDivisor = 16
/** Up to `typical`, it leaves as much to others as it takes. */
const typicalShareDivisor = 2

/**
 * The amount of a hold once the option is granted, in a room that its `min` fits; the function `ledger_apply` decides the
 * same. `base` is what the call holds already, `room` what every scope of it has left beside that.
 */
export const grantedAmount = ({ max, min, typical }: HoldOption, room: number, base: number): MicroUsd => {
  const share =
    typical === null
      ? room
      : Math.max(
          min - base,
          Math.floor(room / minShareDivisor),
          Math.min(typical - base, Math.floor(room / typicalShareDivisor))
        )
  return microUsd(base + Math.max(0, Math.min(max - base, room, share)))
}

/** A request for a hold. */
export interface Reservation {
  /** One hold per call. */
  readonly callId: RequestId
  /** Whose money it is. */
  readonly caller: CallerShape
  /** For the record of a call that is lost. */
  readonly requestedModel: string
  /** In rank order; the first whose `min` fits the room is granted, with the amount of `grantedAmount`. */
  readonly options: Arr.NonEmptyReadonlyArray<HoldOption>
  /** More of them, after those: asked for where none of those fits, which is seldom. */
  readonly otherOptions?: (() => ReadonlyArray<HoldOption>) | undefined
  /** How long it may wait for money that running calls hold, in arrival order; the ledger has a lower bound of its own. */
  readonly maxWaitMillis: number
  /** Called when it begins to wait for held money. */
  readonly onWaiting?: (() => void) | undefined
}

/** In rank order, with those that are only asked for where the first do not fit. */
export const allOptions = ({
  options,
  otherOptions
}: Pick<Reservation, "options" | "otherOptions">): Reservation["options"] =>
  otherOptions === undefined ? options : Arr.appendAll(options, otherOptions())

/** No reservation waits longer for held money. */
export const maxHeldWaitMillis = 2_000

/** Money set aside for a call. */
export interface Hold {
  /** One hold per call. */
  readonly callId: RequestId
  /** Whose money it is. */
  readonly caller: CallerShape
  /** Index of the option that was granted. */
  readonly option: number
  /** What is held. */
  readonly amount: MicroUsd
  /** What every scope had left beside it when it was granted or extended. */
  readonly room: MicroUsd
}

/** The scopes that a hold of this caller counts against. */
export const scopeIdsOf = ({ accountId, billingMode, keyId, projectId }: CallerShape): ReadonlyArray<string> =>
  billingMode === "managed" ? [accountId, projectId, keyId] : [projectId, keyId]

/** The response that is replayed when the same request is sent again under its Idempotency-Key. */
export interface SealedAnswer {
  /** Whose repetition gets it. */
  readonly keyId: KeyId
  /** As it was sent. */
  readonly idempotencyKey: string
  /** Of the response. */
  readonly status: number
  /** Of the response. */
  readonly contentType: string
  /** Besides the content type. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, encrypted. */
  readonly sealed: Uint8Array
  /** How long it is kept. */
  readonly keptMillis: number
}

/** How a hold is closed. */
export interface Settlement {
  /**
   * settled: the call is charged. cancelled: no more than `actual` is charged, because the client left, or was told of no more.
   * void: nothing is charged.
   */
  readonly state: "settled" | "cancelled" | "void"
  /** Cost of the call. The customer pays at most the hold; what exceeds it is written off. */
  readonly actual: MicroUsd
  /** What is logged of the call. */
  readonly record: CallRecord
  /** Written in the same statement: it is never replayed without its charge, nor charged again. */
  readonly kept?: SealedAnswer | undefined
}

/** The money of an account. */
export interface Balance {
  /** The sum of its credits. */
  readonly creditMicroUsd: number
  /** What ended calls have cost. */
  readonly spentMicroUsd: number
  /** What running calls hold. */
  readonly heldMicroUsd: number
}
