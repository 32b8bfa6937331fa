import { TransactionConnection } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { BoundedMap } from "../domain/BoundedMap.ts"
import { StoreUnavailable } from "../domain/GatewayError.ts"
import { Timers } from "../domain/Timers.ts"
import { type Change, type ChangeKind, ChangeNotifications } from "./ChangeNotifications.ts"

export interface RowCacheOptions<A, Absent> {
  /** `undefined`: there is no such row. */
  readonly load: (key: string) => Effect.Effect<A | undefined, StoreUnavailable>
  /** The value for a missing row. */
  readonly absent: Absent
  /** Kinds of change that may invalidate entries. */
  readonly kinds: ReadonlyArray<ChangeKind>
  /** Whether a change of one of these kinds invalidates this entry. If not set, the change of the row whose id is the key. */
  readonly concerns?: (change: Change, value: A, key: string) => boolean
  /** Shortens an entry's time to live, counted from its lookup. */
  readonly validMillis?: (value: A) => number
}

export interface RowCache<A, Absent> {
  readonly get: (key: string) => Effect.Effect<A | Absent, StoreUnavailable>
  /** The cached value; `undefined` when there is none. */
  readonly peek: (key: string) => A | Absent | undefined
}

/** How long an old row may be used by a node that does not hear of changes, counted from the lookup or from when it last heard. */
const presentMillis = 5_000
/** How long a row is used by a node that hears of changes; every statement that changes one announces it (migration 0047). */
const heardMillis = 60_000
/** Short: only limits the lookups of a client that repeats an unknown key. */
const absentMillis = 1_000
const keptPresent = 10_000
const keptAbsent = 5_000
/** Concurrent lookups of different rows; more fail at once. */
const maxLookups = 1_000
const lookupMillis = 5_000

/**
 * Caches rows that every request needs: for a minute while the node hears of changes, else for seconds. Concurrent lookups of one
 * row share one query, which continues when the caller that started it is interrupted. The result of a query that was running
 * during a change goes to the callers from before the change; it is neither cached nor shared with later callers.
 *
 * Inside a transaction the row is read as the transaction sees it, and the cache is left alone: a shared query may need the only
 * connection, which the transaction has, and nobody else may see what it has not committed.
 *
 * Not `effect/Cache`, which has no `peek` without an effect and cannot drop a lookup that is still running.
 */
export const make = <A, Absent>(
  options: RowCacheOptions<A, Absent>
): Effect.Effect<RowCache<A, Absent>, never, ChangeNotifications | Scope.Scope | Timers> =>
  Effect.gen(function* () {
    const { concerns = hasKeyAsId, kinds, load, validMillis = always } = options
    const changes = yield* ChangeNotifications
    const timers = yield* Timers
    const scope = yield* Effect.scope
    const present = new BoundedMap<string, Entry<A>>(keptPresent)
    const absent = new BoundedMap<string, number>(keptAbsent)
    const shared = new Map<string, Lookup<A | Absent>>()
    const nothing = Effect.succeed(options.absent)
    let lookups = 0

    const cancel = changes.onChange((change) => {
      if (change === undefined) {
        present.clear()
      } else if (kinds.includes(change.kind)) {
        present.forEach((entry, key) => {
          if (concerns(change, entry.value, key)) present.delete(key)
        })
      } else return
      absent.clear()
      shared.clear()
    })
    yield* Effect.addFinalizer(() => Effect.sync(cancel))

    const store = (key: string, lookedUpAt: number, value: A | undefined) => {
      if (value === undefined) return absent.set(key, lookedUpAt + absentMillis)
      const valid = validMillis(value)
      present.set(key, {
        value,
        untilMillis: lookedUpAt + Math.min(presentMillis, valid),
        heardUntilMillis: lookedUpAt + Math.min(heardMillis, valid),
        answer: Effect.succeed(value)
      })
    }

    const isFresh = ({ heardUntilMillis, untilMillis }: Entry<A>, now: number): boolean =>
      now < untilMillis || (now < heardUntilMillis && now < changes.heardAtMillis() + presentMillis)

    const lookUp = (key: string, lookedUpAt: number) => {
      if (lookups >= maxLookups) return Effect.fail(new StoreUnavailable({ cause: "too many lookups at once" }))
      const lookup: Lookup<A | Absent> = Deferred.unsafeMake(FiberId.none)
      lookups++
      shared.set(key, lookup)
      return load(key).pipe(
        Effect.timeoutFail({
          duration: lookupMillis,
          onTimeout: () => new StoreUnavailable({ cause: "the lookup took too long" })
        }),
        Effect.interruptible,
        Effect.onExit((exit) =>
          Effect.sync(() => {
            lookups--
            if (shared.get(key) === lookup) {
              shared.delete(key)
              if (Exit.isSuccess(exit)) store(key, lookedUpAt, exit.value)
            }
            // only the end of the scope interrupts a lookup, and nobody who waits for it: to them it has failed
            Deferred.unsafeDone(
              lookup,
              Exit.isInterrupted(exit)
                ? Exit.fail(new StoreUnavailable({ cause: "the cache is closed" }))
                : Exit.map(exit, (value) => value ?? options.absent)
            )
          })
        ),
        Effect.forkIn(scope),
        // Started uninterruptible, so that every waiting caller gets a result.
        Effect.uninterruptible,
        Effect.zipRight(Deferred.await(lookup))
      )
    }

    return {
      peek: (key) => {
        const now = timers.now()
        const entry = present.get(key)
        if (entry !== undefined && isFresh(entry, now)) return entry.value
        return now < (absent.get(key) ?? 0) ? options.absent : undefined
      },
      get: (key) =>
        Effect.contextWithEffect((context: Context.Context<never>) => {
          if (isInTransaction(context)) return Effect.map(load(key), (value) => value ?? options.absent)
          const now = timers.now()
          const entry = present.get(key)
          if (entry !== undefined && isFresh(entry, now)) return entry.answer
          if (now < (absent.get(key) ?? 0)) return nothing
          const lookup = shared.get(key)
          return lookup === undefined ? lookUp(key, now) : Deferred.await(lookup)
        })
    }
  })

const hasKeyAsId = ({ id }: Change, _: unknown, key: string): boolean => id === key

const always = (): number => Number.POSITIVE_INFINITY

const isInTransaction = (context: Context.Context<never>): boolean =>
  Option.isSome(Context.getOption(context, TransactionConnection))

interface Entry<A> {
  readonly value: A
  readonly untilMillis: number
  readonly heardUntilMillis: number
  readonly answer: Effect.Effect<A>
}

type Lookup<A> = Deferred.Deferred<A, StoreUnavailable>
