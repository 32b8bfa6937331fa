import type { CallerShape } from "../../domain/Caller.ts"
import type { AccountId, KeyId } from "../../domain/Ids.ts"
import { minShareDivisor } from "../Hold.ts"
import type { BatchReservation, Granted } from "../LedgerStore.ts"

interface Known {
  readonly room: number
  /** What the account had been granted in all by then. */
  readonly grantedMicroUsd: number
}

/**
 * What the scopes of callers have left at the least, until the next settlements are written: as much as the last grant told, less all
 * that their accounts were granted since.
 */
export class KnownRooms {
  private readonly rooms = new Map<KeyId, Known>()
  private readonly granted = new Map<AccountId, number>()

  grant({ accountId, keyId }: CallerShape, { amount, room }: Granted): void {
    const grantedMicroUsd = this.grantedTo(accountId) + amount
    this.granted.set(accountId, grantedMicroUsd)
    this.rooms.set(keyId, { room, grantedMicroUsd })
  }

  /** What is known is of the time before. */
  forget(): void {
    this.rooms.clear()
    this.granted.clear()
  }

  /** Each of these gets its first option in full, in this order, whatever is settled before. An extension may be of a call that is. */
  suffice(reservations: ReadonlyArray<BatchReservation>): boolean {
    const taken = new Map<AccountId, number>()
    return reservations.every(({ caller: { accountId, keyId }, extends: isExtension, options: [{ max }] }) => {
      const known = this.rooms.get(keyId)
      if (isExtension || known === undefined) return false
      const before = taken.get(accountId) ?? 0
      taken.set(accountId, before + max)
      const room = known.room - (this.grantedTo(accountId) - known.grantedMicroUsd) - before
      return max <= room / minShareDivisor
    })
  }

  private grantedTo(account: AccountId): number {
    return this.granted.get(account) ?? 0
  }
}
