import * as Effect from "effect/Effect"
import { InsufficientFunds, type ServiceRefused, StoreUnavailable } from "../../domain/GatewayError.ts"
import { zero } from "../../domain/Money.ts"
import type { Cancel } from "../../domain/Timers.ts"
import type { BatchReservation, BatchSettlement, Granted, InvariantBroken, ReservationResult } from "../LedgerStore.ts"

export type ReserveError = InsufficientFunds | ServiceRefused | StoreUnavailable

/** A reservation or extension whose caller waits for the result. */
export interface QueuedReservation {
  /** With all of its options once the first of them have been refused. */
  reservation: BatchReservation
  readonly resume: (result: Effect.Effect<Granted, ReserveError>) => void
  /** The batcher that it is queued in. */
  owner: { readonly cancel: (queued: QueuedReservation) => void }
  state: "queued" | "sent" | "waiting" | "granted" | "done"
  interrupted: boolean
  /** Sent for the last time: its wait for held money is over. */
  isFinal: boolean
  expiry: Cancel | undefined
  expiresAtMillis: number | undefined
  readonly queuedAtMillis: number
  lockedSinceMillis: number | undefined
}

export const queuedReservation = (
  reservation: BatchReservation,
  owner: QueuedReservation["owner"],
  queuedAtMillis: number,
  resume: QueuedReservation["resume"]
): QueuedReservation => ({
  reservation,
  resume,
  owner,
  state: "queued",
  interrupted: false,
  isFinal: false,
  expiry: undefined,
  expiresAtMillis: undefined,
  queuedAtMillis,
  lockedSinceMillis: undefined
})

/** What ends a hold that its caller does not take. */
export const voidOf = ({ callId, caller }: BatchReservation): BatchSettlement => ({
  callId,
  caller,
  state: "void",
  actual: zero,
  record: null
})

/** Nothing has been written, or that is uncertain. */
export const unavailable = (cause: unknown, isUncertain = false): Effect.Effect<never, StoreUnavailable> =>
  Effect.fail(new StoreUnavailable({ cause, isUnwritten: isUncertain ? undefined : true }))

export const responseTo = (
  reservation: BatchReservation,
  result: ReservationResult | undefined
): Effect.Effect<Granted, ReserveError> => {
  switch (result?._tag) {
    case "Granted":
      return Effect.succeed(result)
    case "Insufficient":
      return Effect.fail(
        new InsufficientFunds({
          scope: result.scope,
          reason: result.reason,
          neededMicroUsd: result.needed,
          availableMicroUsd: result.available,
          heldMicroUsd: result.held
        })
      )
    case "InvariantBroken":
      return broken(reservation, result.invariant)
    case undefined:
      return Effect.dieMessage(`the database decided nothing on the reservation of ${reservation.callId}`)
  }
}

const broken = (
  { callId, caller }: BatchReservation,
  invariant: InvariantBroken["invariant"]
): Effect.Effect<never, StoreUnavailable> => {
  switch (invariant) {
    case "closed":
      // a hold is closed without its call only while this process was taken for dead
      return unavailable(`the hold of ${callId} is no longer open`)
    case "duplicate":
      return Effect.dieMessage(`a hold for ${callId} exists`)
    case "missing": {
      const { accountId, keyId, projectId } = caller
      return Effect.dieMessage(
        `the account ${accountId}, the project ${projectId} or the key ${keyId} has no scope: Scopes.open makes one`
      )
    }
  }
}
