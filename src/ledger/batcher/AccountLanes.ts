import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { AccountId } from "../../domain/Ids.ts"
import type { TimersShape } from "../../domain/Timers.ts"
import {
  BatchFailed,
  type BatchReservation,
  type BatchSettlement,
  type Granted,
  type LedgerStoreShape
} from "../LedgerStore.ts"
import type { WriteReports } from "../StoreHealth.ts"
import { type BatcherDeps, LedgerBatcher, maxLockMillis } from "./LedgerBatcher.ts"
import { maxLockedMillis } from "./LedgerQueues.ts"
import type { QueuedReservation, ReserveError } from "./QueuedReservation.ts"

/** Connections that batches apart use: a lock occupies one for as long as it is waited for. */
const maxApart = 2
/** How long an account stays apart after the last batch that failed because of its lock. */
const apartMillis = 5_000
/** How long a batch of all accounts waits for a lock before it is asked whose it is: everybody waits for the batch. */
const sharedLockMillis = 20
/** With more locked accounts it is the batch of another node that has them, and is done soon. */
const maxLockedAccounts = 8

/** An account whose batches are written apart. */
interface Lane {
  readonly batcher: LedgerBatcher
  /** Known to be locked until then. */
  lockedUntilMillis: number
  /** The first of the batches in a row that have failed because of its lock. */
  lockedSinceMillis: number | undefined
}

interface LanesDeps extends BatcherDeps {
  readonly store: Pick<LedgerStoreShape, "apply" | "lockedAccounts">
}

/** Lanes that write their queues before their scope closes. */
export const make = (
  store: LedgerStoreShape,
  timers: TimersShape,
  reports: Pick<WriteReports, "delayed" | "failed" | "written">
): Effect.Effect<AccountLanes, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(
      Effect.zip(Effect.runtime<never>(), Effect.makeSemaphore(maxApart)),
      ([runtime, apart]) => new AccountLanes({ store, timers, reports, fork: Runtime.runFork(runtime) }, apart)
    ),
    (lanes) => lanes.close
  )

/**
 * One batcher for all accounts, and one for each account that a row lock of another transaction may delay. When a batch fails
 * because of a lock, the database is asked whose it is. A locked account is written apart, and returns to the others with its
 * first batch that is written, or a while after its last lock; the others are written again at once.
 */
export class AccountLanes {
  private readonly deps: LanesDeps
  private readonly permits: Effect.Semaphore
  private readonly shared: LedgerBatcher
  private readonly apart = new Map<AccountId, Lane>()

  constructor(deps: LanesDeps, permits: Effect.Semaphore) {
    this.deps = deps
    this.permits = permits
    this.shared = new LedgerBatcher(
      { ...deps, store: { apply: applyShared(deps.store) } },
      (reservations, settlements) => this.isolate(reservations, settlements)
    )
  }

  readonly reserve = (reservation: BatchReservation): Effect.Effect<Granted, ReserveError> =>
    Effect.suspend(() => this.batcherOf(reservation.caller.accountId).reserve(reservation))

  readonly settle = (settlement: BatchSettlement): void =>
    this.batcherOf(settlement.caller.accountId).settle(settlement)

  /** Succeeds once every settlement queued before it has been written. What leaves the shared batcher meanwhile is apart then. */
  readonly flushed: Effect.Effect<void> = Effect.suspend(() =>
    Effect.zipRight(
      this.shared.flushed,
      this.eachApart((batcher) => batcher.flushed)
    )
  )

  /** The same for those of one account: a lock of another one's rows delays it for no longer than a batch. */
  readonly flushedOf = (account: AccountId): Effect.Effect<void> =>
    Effect.zipRight(
      Effect.suspend(() => this.shared.flushed),
      Effect.suspend(() => this.apart.get(account)?.batcher.flushed ?? Effect.void)
    )

  /** What waits to be written or for money. */
  get waiting(): LedgerBatcher["waiting"] {
    const all = [this.shared, ...[...this.apart.values()].map(({ batcher }) => batcher)].map(({ waiting }) => waiting)
    return {
      reservations: all.reduce((sum, { reservations }) => sum + reservations, 0),
      settlements: all.reduce((sum, { settlements }) => sum + settlements, 0)
    }
  }

  /** Rejects new reservations and waits until the queues are written, for a bounded time. */
  readonly close: Effect.Effect<void> = Effect.suspend(() =>
    Effect.zipRight(
      this.shared.close,
      this.eachApart((batcher) => batcher.close)
    )
  )

  private eachApart(effect: (batcher: LedgerBatcher) => Effect.Effect<void>): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.forEach([...this.apart.values()], ({ batcher }) => effect(batcher), {
        concurrency: "unbounded",
        discard: true
      })
    )
  }

  private batcherOf(account: AccountId): LedgerBatcher {
    if (this.apart.size === 0) return this.shared
    this.returnIfDone(account)
    return this.apart.get(account)?.batcher ?? this.shared
  }

  private returnIfDone(account: AccountId): void {
    const lane = this.apart.get(account)
    if (lane?.batcher.isEmpty && lane.lockedUntilMillis <= this.deps.timers.now()) this.apart.delete(account)
  }

  private isolate(reservations: ReadonlyArray<QueuedReservation>, settlements: ReadonlyArray<BatchSettlement>): void {
    for (const account of this.apart.keys()) this.returnIfDone(account)
    const accounts = new Set<AccountId>()
    for (const { reservation } of reservations) accounts.add(reservation.caller.accountId)
    for (const { caller } of settlements) accounts.add(caller.accountId)
    for (const account of accounts) {
      const lane = this.apart.get(account) ?? this.newLane(account)
      this.apart.set(account, lane)
      lane.batcher.adopt(
        reservations.filter(({ reservation }) => reservation.caller.accountId === account),
        settlements.filter(({ caller }) => caller.accountId === account)
      )
    }
  }

  private newLane(account: AccountId): Lane {
    const { reports, store, timers } = this.deps
    const failed = ({ cause, locked }: BatchFailed) =>
      Effect.sync(() => {
        if (!locked) return
        const now = timers.now()
        lane.lockedUntilMillis = now + apartMillis
        lane.lockedSinceMillis ??= now
        if (now - lane.lockedSinceMillis >= maxLockedMillis) reports.delayed(cause, account)
      })
    const written = Effect.sync(() => {
      lane.lockedSinceMillis = undefined
    })
    const apply: LedgerStoreShape["apply"] = (reservations, settlements, lockMillis) =>
      store
        .apply(reservations, settlements, lockMillis)
        .pipe(Effect.zipLeft(written), Effect.tapError(failed), this.permits.withPermits(1))
    const lane: Lane = {
      batcher: new LedgerBatcher({ ...this.deps, store: { apply } }),
      lockedUntilMillis: 0,
      lockedSinceMillis: undefined
    }
    return lane
  }
}

/** A batch of all accounts: where a few of them are locked it fails soon, and says which. */
const applyShared =
  ({ apply, lockedAccounts }: LanesDeps["store"]): LedgerStoreShape["apply"] =>
  (reservations, settlements) =>
    Effect.catchAll(apply(reservations, settlements, sharedLockMillis), (failure) => {
      if (!failure.locked) return Effect.fail(failure)
      const callers = [...reservations, ...settlements].map(({ caller }) => caller)
      return Effect.flatMap(lockedAccounts(callers), (accounts) =>
        accounts.size > 0 && accounts.size <= maxLockedAccounts
          ? Effect.fail(new BatchFailed({ ...failure, lockedAccounts: accounts }))
          : apply(reservations, settlements, maxLockMillis)
      )
    })
