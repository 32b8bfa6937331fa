import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type { CallerShape } from "../../domain/Caller.ts"
import {
  type RateLimited,
  type ServiceRefused,
  type StoreUnavailable,
  Unauthenticated
} from "../../domain/GatewayError.ts"
import { KeyId } from "../../domain/Ids.ts"
import { Timers } from "../../domain/Timers.ts"
import { type Change, ChangeNotifications } from "../../sql/ChangeNotifications.ts"
import * as RowCache from "../../sql/RowCache.ts"
import { hashOf, wellFormed } from "./ApiKey.ts"
import { type ActiveKey, ApiKeyStore } from "./ApiKeyStore.ts"
import { loggedLimits } from "./FailureLimits.ts"
import { KnownKeys, keptKnownKeys } from "./KnownKeys.ts"
import * as LookupBudget from "./LookupBudget.ts"

/** Why a key was not accepted, or could not be looked up. */
export type AuthenticationFailure = Unauthenticated | RateLimited | ServiceRefused | StoreUnavailable

/** Finds the caller of an API key. */
export interface ApiKeysShape {
  /**
   * `authorization` is the unparsed header; only `Bearer <key>` is accepted. Failures are counted by `address`: an address
   * with too many is rate limited, except for keys that were valid before.
   */
  readonly authenticate: (
    authorization: string | undefined,
    address: string
  ) => Effect.Effect<CallerShape, AuthenticationFailure>
  /** The caller, if the key is cached. */
  readonly cached: (authorization: string | undefined) => CallerShape | undefined
  /** Why `authenticate` would fail without a look at the database: too many failures of the address, and no key that was valid before. */
  readonly blocked: (authorization: string | undefined, address: string) => RateLimited | undefined
}

/** Authentication by project API keys. */
export class ApiKeys extends Context.Tag("gateway/identity/ApiKeys")<ApiKeys, ApiKeysShape>() {
  /** @internal */
  static readonly layer: Layer.Layer<ApiKeys, never, ApiKeyStore | ChangeNotifications | Timers> = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )
}

/** Lookups of unknown keys: few, so that known keys keep most connections. */
const maxUnknownLookups = 16
const maxUnknownWaiting = 256
const maxUnknownWaitMillis = 1_000
/** Announced keys in the queue, and how many one statement reads. */
const maxAnnounced = 10_000
const maxAnnouncedRead = 1_000

const make = Effect.gen(function* () {
  const store = yield* ApiKeyStore
  const changes = yield* ChangeNotifications
  const timers = yield* Timers
  // By the hash of the complete key, so that no key is kept in memory.
  const cache = yield* RowCache.make<ActiveKey, null>({
    load: store.findActive,
    absent: null,
    kinds: ["key", "project"],
    concerns: ({ id, kind }, { caller }) => id === (kind === "key" ? caller.keyId : caller.projectId),
    validMillis: (key) => key.validMillis
  })
  const known = yield* knownKeys(store, changes)
  const failures = yield* loggedLimits(timers, "API key")
  const unknownLookups = yield* LookupBudget.make({
    timers,
    maxRunning: maxUnknownLookups,
    maxWaiting: maxUnknownWaiting,
    maxWaitMillis: maxUnknownWaitMillis
  })

  const failed = (address: string): Effect.Effect<never, Unauthenticated | RateLimited> => {
    const error = failures.fail(address)
    return error === undefined ? rejected : Effect.fail(error)
  }

  const lookUpKnown = (hash: string, address: string) =>
    Effect.flatMap(cache.get(hash), (found) => {
      if (found !== null) return Effect.succeed(found.caller)
      known.delete(hash)
      return failed(address)
    })

  const lookUpUnknown = (hash: string, address: string): Effect.Effect<CallerShape, AuthenticationFailure> =>
    failures.guard(
      address,
      Effect.flatMap(unknownLookups.run(cache.get(hash)), (found) => {
        if (found === null) return rejected
        known.add(hash)
        return Effect.succeed(found.caller)
      })
    )

  const rejected = Effect.fail(new Unauthenticated())

  return ApiKeys.of({
    authenticate: (authorization, address) =>
      Effect.suspend(() => {
        const key = bearerOf(authorization)
        if (key === undefined) return failed(address)
        const hash = hashOf(key)
        const cached = cache.peek(hash)
        if (cached !== undefined) return cached === null ? failed(address) : Effect.succeed(cached.caller)
        if (!wellFormed(key)) return failed(address)
        return known.has(hash) ? lookUpKnown(hash, address) : lookUpUnknown(hash, address)
      }),
    cached: (authorization) => {
      const key = bearerOf(authorization)
      return key === undefined ? undefined : cache.peek(hashOf(key))?.caller
    },
    blocked: (authorization, address) => {
      if (failures.blockedMillis(address) === 0) return undefined
      const key = bearerOf(authorization)
      if (key !== undefined) {
        const hash = hashOf(key)
        // one that was valid and is not any more is known until it is looked up
        if (known.has(hash) || cache.peek(hash)?.caller !== undefined) return undefined
      }
      return failures.blocked(address)
    }
  })
})

/** The active keys at the start, and those announced later. */
const knownKeys = Effect.fnUntraced(function* (
  store: Context.Tag.Service<ApiKeyStore>,
  changes: Context.Tag.Service<ChangeNotifications>
) {
  const known = new KnownKeys()
  const announced = yield* Queue.sliding<Change | undefined>(maxAnnounced)
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      changes.onChange((change) => {
        if (change === undefined || change.kind === "key") announced.unsafeOffer(change)
      })
    ),
    (cancel) => Effect.sync(cancel)
  )
  const add = (read: Effect.Effect<ReadonlyArray<string>, StoreUnavailable>) =>
    Effect.catchAllCause(
      Effect.map(read, (hashes) => {
        for (const hash of hashes) known.add(hash)
      }),
      (cause) =>
        Effect.logWarning(
          "the hashes of API keys could not be read; keys become known to this node when they are used",
          cause
        )
    )
  const readAll = add(store.activeHashes(keptKnownKeys))
  const readAnnounced = Effect.flatMap(Queue.takeBetween(announced, 1, maxAnnouncedRead), (found) => {
    const all = Chunk.toReadonlyArray(found)
    if (all.includes(undefined)) return readAll
    return add(store.activeHashesOf(all.map((change) => change?.id).filter(Schema.is(KeyId))))
  })
  yield* readAll
  yield* Effect.forkScoped(Effect.interruptible(Effect.forever(readAnnounced)))
  return known
})

const bearer = /^bearer ([^ ]+)$/i

const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
