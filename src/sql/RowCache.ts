import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"
import { StoreUnavailable } from "../domain/GatewayError.ts"
import type { TimersShape } from "../domain/Timers.ts"
import type { Change, ChangeKind, ChangesShape } from "./Changes.ts"

export interface RowCacheOptions<A, Absent> {
  readonly timers: TimersShape
  readonly changes: ChangesShape
  /** `undefined`: there is no such row. */
  readonly load: (key: string) => Effect.Effect<A | undefined, StoreUnavailable>
  /** The answer where there is no such row. */
  readonly absent: Absent
  /** Kinds of change that this cache depends on. */
  readonly kinds: ReadonlyArray<ChangeKind>
  /** Whether a change of one of these kinds concerns this entry. */
  readonly concerns: (change: Change, value: A, key: string) => boolean
  /** An end to an entry's life before its time to live, from when it was asked for. */
  readonly validMillis: (value: A) => number
}

export interface RowCache<A, Absent> {
  readonly get: (key: string) => Effect.Effect<A | Absent, StoreUnavailable>
  /** What is remembered; `undefined` when the database would have to be asked. */
  readonly peek: (key: string) => A | Absent | undefined
}

/** What a node that hears of no change may still believe: the promise is 5 s, counted from the question to the database. */
const presentMillis = 5_000
/** Short: it only takes the edge off a client that keeps asking with something unknown. */
const absentMillis = 1_000
const mostPresent = 10_000
const mostAbsent = 10_000
/** Different rows asked for at once; more wait for nothing and are told to come again. */
const mostLookups = 1_000
const lookupMillis = 5_000

/**
 * Rows that decide about every request, remembered for seconds. Concurrent questions for one row share one query, which
 * outlives whoever asked first. A query that was under way during a change is answered to those who asked before it, and
 * neither remembered nor shared with those who ask after it.
 */
export const make = <A, Absent>(
  options: RowCacheOptions<A, Absent>
): Effect.Effect<RowCache<A, Absent>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { changes, concerns, kinds, load, timers, validMillis } = options
    const scope = yield* Effect.scope
    const present = new Map<string, Entry<A>>()
    const absent = new Map<string, number>()
    const shared = new Map<string, Lookup<A | Absent>>()
    const nothing = Effect.succeed(options.absent)
    let lookups = 0

    const cancel = changes.onChange((change) => {
      if (change === undefined) {
        present.clear()
      } else if (kinds.includes(change.kind)) {
        for (const [key, entry] of present) if (concerns(change, entry.value, key)) present.delete(key)
      } else return
      absent.clear()
      shared.clear()
    })
    yield* Effect.addFinalizer(() => Effect.sync(cancel))

    const remember = (key: string, askedAt: number, value: A | undefined) => {
      if (value === undefined) return put(absent, mostAbsent, key, askedAt + absentMillis)
      const untilMillis = askedAt + Math.min(presentMillis, validMillis(value))
      put(present, mostPresent, key, { value, untilMillis, answer: Effect.succeed(value) })
    }

    const ask = (key: string, askedAt: number) => {
      if (lookups >= mostLookups) return Effect.fail(new StoreUnavailable({ cause: "too many lookups at once" }))
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
              if (Exit.isSuccess(exit)) remember(key, askedAt, exit.value)
            }
            Deferred.unsafeDone(
              lookup,
              Exit.map(exit, (value) => value ?? options.absent)
            )
          })
        ),
        Effect.forkIn(scope),
        // Started uninterruptible, so that whoever waits is answered in any case.
        Effect.uninterruptible,
        Effect.zipRight(Deferred.await(lookup))
      )
    }

    return {
      peek: (key) => {
        const now = timers.now()
        const entry = present.get(key)
        if (entry !== undefined && now < entry.untilMillis) return entry.value
        return now < (absent.get(key) ?? 0) ? options.absent : undefined
      },
      get: (key) =>
        Effect.suspend(() => {
          const now = timers.now()
          const entry = present.get(key)
          if (entry !== undefined && now < entry.untilMillis) return entry.answer
          if (now < (absent.get(key) ?? 0)) return nothing
          const lookup = shared.get(key)
          return lookup === undefined ? ask(key, now) : Deferred.await(lookup)
        })
    }
  })

interface Entry<A> {
  readonly value: A
  readonly untilMillis: number
  readonly answer: Effect.Effect<A>
}

type Lookup<A> = Deferred.Deferred<A, StoreUnavailable>

/** The oldest makes room: all entries live about equally long, so it is the next to go anyway. */
const put = <V>(map: Map<string, V>, most: number, key: string, value: V): void => {
  map.delete(key)
  if (map.size >= most) {
    for (const oldest of map.keys()) {
      map.delete(oldest)
      break
    }
  }
  map.set(key, value)
}
