import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import type { CallerShape } from "../domain/Caller.ts"
import { RateLimited, type ServiceRefused, type StoreUnavailable, Unauthenticated } from "../domain/GatewayError.ts"
import { KeyId } from "../domain/Ids.ts"
import { Timers } from "../domain/Timers.ts"
import { type Change, Changes } from "../sql/Changes.ts"
import * as RowCache from "../sql/RowCache.ts"
import { hashOf, wellFormed } from "./ApiKey.ts"
import { type ActiveKey, ApiKeyStore } from "./ApiKeyStore.ts"
import { Failures } from "./Failures.ts"
import { KnownKeys, maxKnownKeys } from "./KnownKeys.ts"
import * as LookupBudget from "./LookupBudget.ts"

export type AuthenticationFailure = Unauthenticated | RateLimited | ServiceRefused | StoreUnavailable

export interface ApiKeysShape {
  /**
   * `authorization` is the header as it came; only `Bearer <key>` counts. Failures are counted by `address`: one that has
   * made too many is limited, except for keys that were valid before.
   */
  readonly authenticate: (
    authorization: string | undefined,
    address: string
  ) => Effect.Effect<CallerShape, AuthenticationFailure>
  /** The caller, if that can be told from memory alone. */
  readonly remembered: (authorization: string | undefined) => CallerShape | undefined
}

/** Project API keys: who is calling. */
export class ApiKeys extends Context.Tag("gateway/identity/ApiKeys")<ApiKeys, ApiKeysShape>() {
  static readonly layer: Layer.Layer<ApiKeys, never, ApiKeyStore | Changes | Timers> = Layer.scoped(
    this,
    Effect.suspend(() => make)
  )
}

/** Lookups of keys that are not known: few beside the connections and lookups that known keys have. */
const maxUnknownLookups = 16
const maxUnknownWaiting = 256
const maxUnknownWaitMillis = 1_000
/** Announced keys that wait to be read, and how many one statement reads. */
const maxAnnounced = 10_000
const maxAnnouncedRead = 1_000

const make = Effect.gen(function* () {
  const store = yield* ApiKeyStore
  const changes = yield* Changes
  const timers = yield* Timers
  // By the hash of the whole key: neither a part of a key nor a key in memory will do.
  const cache = yield* RowCache.make<ActiveKey, null>({
    timers,
    changes,
    load: store.findActive,
    absent: null,
    kinds: ["key", "project"],
    concerns: ({ id, kind }, { caller }) => id === (kind === "key" ? caller.keyId : caller.projectId),
    validMillis: (key) => key.validMillis
  })
  const known = yield* knownKeys(store, changes)
  const failures = new Failures(timers)
  const unknownLookups = yield* LookupBudget.make({
    timers,
    maxRunning: maxUnknownLookups,
    maxWaiting: maxUnknownWaiting,
    maxWaitMillis: maxUnknownWaitMillis
  })

  const failed = (address: string): Effect.Effect<never, Unauthenticated | RateLimited> => {
    const blockedMillis = failures.count(address)
    return blockedMillis > 0 ? Effect.fail(tooMany(blockedMillis)) : refused
  }

  const lookUpKnown = (hash: string, address: string) =>
    Effect.flatMap(cache.get(hash), (found) => {
      if (found !== null) return Effect.succeed(found.caller)
      known.delete(hash)
      return failed(address)
    })

  const lookUpUnknown = (hash: string, address: string): Effect.Effect<CallerShape, AuthenticationFailure> => {
    // Counted before the database is asked, so that one address cannot ask it more often by asking at once.
    const blockedMillis = failures.count(address)
    if (blockedMillis > 0) return Effect.fail(tooMany(blockedMillis))
    return Effect.matchEffect(unknownLookups.run(cache.get(hash)), {
      onFailure: (error) => {
        failures.takeBack(address)
        return Effect.fail(error)
      },
      onSuccess: (found) => {
        if (found === null) return refused
        failures.takeBack(address)
        known.add(hash)
        return Effect.succeed(found.caller)
      }
    })
  }

  const refused = Effect.fail(new Unauthenticated())

  return ApiKeys.of({
    authenticate: (authorization, address) =>
      Effect.suspend(() => {
        const key = bearerOf(authorization)
        if (key === undefined || !wellFormed(key)) return failed(address)
        const hash = hashOf(key)
        const remembered = cache.peek(hash)
        if (remembered !== undefined) return remembered === null ? failed(address) : Effect.succeed(remembered.caller)
        return known.has(hash) ? lookUpKnown(hash, address) : lookUpUnknown(hash, address)
      }),
    remembered: (authorization) => {
      const key = bearerOf(authorization)
      return key !== undefined && wellFormed(key) ? cache.peek(hashOf(key))?.caller : undefined
    }
  })
})

/** The active keys as they were at start, and those that are announced from then on. */
const knownKeys = Effect.fnUntraced(function* (
  store: Context.Tag.Service<ApiKeyStore>,
  changes: Context.Tag.Service<Changes>
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
    Effect.catchAll(
      Effect.map(read, (hashes) => {
        for (const hash of hashes) known.add(hash)
      }),
      () => Effect.logWarning("the hashes of API keys could not be read: keys are known to this node from their use on")
    )
  const readAll = add(store.activeHashes(maxKnownKeys))
  const readAnnounced = Effect.flatMap(Queue.takeBetween(announced, 1, maxAnnouncedRead), (found) => {
    const all = Chunk.toReadonlyArray(found)
    if (all.includes(undefined)) return readAll
    return add(store.activeHashesOf(all.map((change) => change?.id).filter(Schema.is(KeyId))))
  })
  yield* readAll
  yield* Effect.forkScoped(Effect.forever(readAnnounced))
  return known
})

const tooMany = (retryAfterMillis: number): RateLimited =>
  new RateLimited({
    code: "rate_limit_exceeded",
    message: "Too many requests without a valid API key came from this address.",
    retryAfterMillis
  })

const bearer = /^bearer ([^ ]+)$/i

const bearerOf = (authorization: string | undefined): string | undefined =>
  authorization === undefined ? undefined : bearer.exec(authorization)?.[1]
