import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RequestId } from "../../domain/Ids.ts"
import { Timers } from "../../domain/Timers.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import { ledgerOf, scopesOf } from "../../ledger/memory/MemoryServices.ts"
import { type LedgerCall, type MemoryOptions, MemoryState } from "../../ledger/memory/MemoryState.ts"
import { Scopes } from "../../ledger/Scopes.ts"

export type { LedgerCall } from "../../ledger/memory/MemoryState.ts"

/** What the ledger in memory shows to a test. */
export interface MemoryLedgerShape {
  /** All calls, in the order of their holds. */
  readonly calls: () => ReadonlyArray<LedgerCall>
  /** One of them; `undefined` where there is none of this id. */
  readonly call: (callId: RequestId) => LedgerCall | undefined
  /** Ends every open hold as a crash would have: nothing is charged. */
  readonly expireAll: () => void
}

/**
 * The ledger in memory, with the same decisions as the ledger in the database, synchronous and without threads; only a wait
 * for held money has a timer, of the current Clock. For tests, simulations and programs without a stored ledger. `calls`
 * lists the recorded calls.
 */
export class MemoryLedger extends Context.Tag("gateway/testing/MemoryLedger")<MemoryLedger, MemoryLedgerShape>() {
  /** Nothing is opened on use: accounts, projects and keys are opened by `Scopes`. */
  static readonly layer: Layer.Layer<Ledger | Scopes | MemoryLedger> = Layer.suspend(() => layerOf({}))

  /** Every account has this credit, and scopes are opened on first use. */
  static readonly layerFunded = (creditMicroUsd: number): Layer.Layer<Ledger | Scopes | MemoryLedger> =>
    layerOf({ openOnUse: { creditMicroUsd } })
}

const layerOf = (options: Omit<MemoryOptions, "timers">): Layer.Layer<Ledger | Scopes | MemoryLedger> =>
  Layer.effectContext(
    Effect.map(Timers.ofClock, (timers) => {
      const state = new MemoryState({ ...options, timers })
      return Context.make(Ledger, ledgerOf(state)).pipe(
        Context.add(Scopes, scopesOf(state)),
        Context.add(MemoryLedger, {
          calls: () => state.calls(),
          call: (callId) => state.call(callId),
          expireAll: () => state.expireAll()
        })
      )
    })
  )
