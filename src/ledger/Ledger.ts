import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { InsufficientFunds, ServiceRefused, StoreUnavailable } from "../domain/GatewayError.ts"
import type { AccountId } from "../domain/Ids.ts"
import type { ConfigIssue, InvalidConfiguration } from "../domain/InvalidConfiguration.ts"
import { isMicroUsd } from "../domain/Money.ts"
import { layerIfValid, requireValid } from "../domain/OptionIssues.ts"
import { Timers } from "../domain/Timers.ts"
import { collecting } from "../observe/Collection.ts"
import * as LedgerMetrics from "../observe/LedgerMetrics.ts"
import * as AccountLanes from "./batcher/AccountLanes.ts"
import type { Balance, Hold, HoldOption, Reservation, Settlement } from "./Hold.ts"
import { LedgerNode } from "./LedgerNodeStore.ts"
import { LedgerStore } from "./LedgerStore.ts"
import { ledgerOf, scopesOf } from "./memory/MemoryServices.ts"
import { MemoryState } from "./memory/MemoryState.ts"
import * as Recovery from "./Recovery.ts"
import { RecoveryStore } from "./RecoveryStore.ts"
import { Scopes } from "./Scopes.ts"
import * as ScopesStore from "./ScopesStore.ts"
import { StoreHealth } from "./StoreHealth.ts"

export type { Balance, Hold, HoldOption, Reservation, SealedAnswer, Settlement } from "./Hold.ts"

/** Why a hold is not extended. */
export type ExtendError = InsufficientFunds | ServiceRefused | StoreUnavailable

/** Holds money before calls and settles them after. */
export interface LedgerShape {
  /**
   * Sets money aside before a call, in every scope at once: the account's balance (not for byok), the project's limit,
   * the key's limit. Decided in arrival order, each on its own. Where running calls hold the money it waits, for at most
   * 2,000 ms and `maxWaitMillis`; later ones of the same scope wait behind it. `overloaded` where something else has the
   * account's rows locked. An account, project or key that `Scopes.open` has not made is a defect.
   */
  readonly reserve: (
    reservation: Reservation
  ) => Effect.Effect<Hold, InsufficientFunds | ServiceRefused | StoreUnavailable>
  /**
   * Raises the hold for a more expensive candidate before it is called. When that fails the hold is unchanged, except that after
   * `StoreUnavailable` it may have been raised.
   */
  readonly extend: (hold: Hold, option: HoldOption) => Effect.Effect<Hold, ExtendError>
  /** Queued, written with the next batch together with the call's log rows, retried until written; the first of a call counts. */
  readonly settle: (hold: Hold, settlement: Settlement) => Effect.Effect<void>
  /** Succeeds once every settlement queued before it has been written. */
  readonly flushed: Effect.Effect<void>
  /** The same for those of one account, which do not wait for the locked rows of another. */
  readonly flushedOf: (account: AccountId) => Effect.Effect<void>
  /** Of an account, without settlements that still wait: see `flushed`. */
  readonly balance: (account: AccountId) => Effect.Effect<Balance, StoreUnavailable>
  /** Names the invariants of the ledger that do not hold, each with rows that break it. */
  readonly checkInvariants: Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
}

/** Money: holds before calls, settlements after them, exact to the micro-USD. */
export class Ledger extends Context.Tag("gateway/ledger/Ledger")<Ledger, LedgerShape>() {
  /** @internal */
  static readonly layer: Layer.Layer<Ledger, never, LedgerStore | StoreHealth | Timers> = Layer.scoped(
    this,
    Effect.gen(function* () {
      const store = yield* LedgerStore
      const lanes = yield* AccountLanes.make(store, yield* Timers, yield* StoreHealth)
      yield* collecting(() => {
        const { reservations, settlements } = lanes.waiting
        LedgerMetrics.waiting(reservations, settlements)
      })
      return {
        reserve: (reservation) =>
          Effect.map(
            lanes.reserve(reservation),
            (granted): Hold => ({
              callId: reservation.callId,
              caller: reservation.caller,
              option: granted.option,
              amount: granted.amount,
              room: granted.room
            })
          ),
        extend: (hold, option) =>
          Effect.map(
            lanes.reserve({
              callId: hold.callId,
              extends: true,
              caller: hold.caller,
              requestedModel: "",
              options: [option],
              maxWaitMillis: 0
            }),
            ({ amount, room }): Hold => ({ ...hold, amount, room })
          ),
        settle: ({ callId, caller }, { state, actual, record, kept }) =>
          Effect.sync(() => lanes.settle({ callId, caller, state, actual, record, kept })),
        flushed: lanes.flushed,
        flushedOf: lanes.flushedOf,
        balance: store.balance,
        checkInvariants: store.checkInvariants
      }
    })
  )

  /**
   * The same decisions in memory, for programs without a stored ledger: scopes are opened on first use, each account with this
   * credit, and a call is forgotten once it has ended. Fails where the credit is no amount of money.
   */
  static readonly layerMemory = (
    options: MemoryLedgerOptions
  ): Layer.Layer<Ledger | Scopes, InvalidConfiguration, Timers> =>
    Layer.effectContext(
      Effect.zipWith(
        requireValid(() => issuesOfMemoryLedgerOptions(options)),
        Timers,
        (_, timers) => {
          const state = new MemoryState({ timers, openOnUse: options, keepsCalls: false })
          return Context.make(this, ledgerOf(state)).pipe(Context.add(Scopes, scopesOf(state)))
        }
      )
    )
}

/** How much money there is in memory. */
export interface MemoryLedgerOptions {
  /** What each account may spend, in whole micro-USD. */
  readonly creditMicroUsd: number
}

/** What is wrong with the options. */
export const issuesOfMemoryLedgerOptions = ({ creditMicroUsd }: MemoryLedgerOptions): ReadonlyArray<ConfigIssue> =>
  isMicroUsd(creditMicroUsd)
    ? []
    : [{ path: "creditMicroUsd", message: "must be a whole number of micro-USD, at least 0" }]

/**
 * Everything about money, on the database: the ledger, the scopes whose limits it enforces, and the recovery from crashes.
 * Without options for calls of at most half an hour. A program with accounts, projects and keys of its own opens their scopes with
 * `Scopes.open` before the first call, and gives the account its credit with `Scopes.credit`. Fails with `InvalidConfiguration` where a
 * duration is not finite or zero, or a process that is alive would count as dead.
 */
export const LedgerLayer = (options: Recovery.RecoveryOptions = {}) =>
  layerIfValid(
    () => Recovery.issuesOfRecoveryOptions(options),
    () =>
      Layer.mergeAll(
        Ledger.layer.pipe(Layer.provide(LedgerStore.layer)),
        ScopesStore.layer,
        Recovery.layer(options)
      ).pipe(Layer.provideMerge(StoreHealth.layer), Layer.provide(RecoveryStore.layer), Layer.provide(LedgerNode.layer))
  )
