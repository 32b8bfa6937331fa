import * as Effect from "effect/Effect"
import type { AccountId } from "../../domain/Ids.ts"
import type { Hold, HoldOption, Reservation, Settlement } from "../Hold.ts"
import { creditOf, type ScopeState, type ScopesShape } from "../Scopes.ts"
import type { MemoryState } from "./MemoryState.ts"

/** The ledger on this state; `LedgerShape` is what `Ledger` makes of it. */
export const ledgerOf = (state: MemoryState) => ({
  reserve: (reservation: Reservation) => Effect.suspend(() => state.reserve(reservation)),
  extend: (hold: Hold, option: HoldOption) => Effect.suspend(() => state.extend(hold, option)),
  settle: (hold: Hold, settlement: Settlement) => Effect.sync(() => state.settle(hold.callId, settlement)),
  flushed: Effect.void,
  flushedOf: () => Effect.void,
  balance: (account: AccountId) =>
    Effect.sync(() => {
      const scope = state.scope(account, "account")
      return {
        creditMicroUsd: scope.limitMicroUsd ?? 0,
        spentMicroUsd: scope.spentMicroUsd,
        heldMicroUsd: scope.heldMicroUsd
      }
    }),
  checkInvariants: Effect.sync(() => state.violations())
})

/** Balances and limits on this state. */
export const scopesOf = (state: MemoryState): ScopesShape => ({
  open: (kind: ScopeState["kind"], id: string, limitMicroUsd: number | null) =>
    Effect.sync(() => state.open(kind, id, limitMicroUsd)),
  setLimit: (id, limitMicroUsd) => Effect.sync(() => state.setLimit(id, limitMicroUsd)),
  credit: (account, amountMicroUsd, source) =>
    Effect.sync(() => state.credit(account, creditOf(amountMicroUsd), source)),
  read: (id) => Effect.sync(() => state.read(id))
})
