import { SqlClient } from "@effect/sql/SqlClient"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { CallerShape } from "../../domain/Caller.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountId, KeyId, ProjectId } from "../../domain/Ids.ts"
import { ChangeNotifications } from "../../sql/ChangeNotifications.ts"
import { fromSql, type Translated } from "../../sql/StoreErrors.ts"
import { hashOf, prefixOf } from "./ApiKey.ts"
import { RateLimitColumn } from "./RateLimitColumn.ts"

/** A key that may be used now. */
export interface ActiveKey {
  readonly caller: CallerShape
  /** Until this secret of it ends, by the database's clock; infinite when it does not. */
  readonly validMillis: number
}

export interface NewApiKey {
  readonly id: KeyId
  readonly projectId: ProjectId
  readonly name: string
  readonly expiresAt: Date | null
}

export interface ApiKeyStoreShape {
  /**
   * By the SHA-256 of the complete key, in hex. Inactive and expired keys, and those of deleted projects, are not found; the secret
   * before a rotation is found until its grace ends.
   */
  readonly findActive: (hash: string) => Effect.Effect<ActiveKey | undefined, StoreUnavailable>
  /** The hashes of the active keys, in hex, oldest first; the `max` newest if there are more. */
  readonly activeHashes: (max: number) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
  /** The hashes of those keys that are active. */
  readonly activeHashesOf: (ids: ReadonlyArray<KeyId>) => Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
  /** Stores only the hash of `key`, and the prefix that may be shown. */
  readonly create: (key: string, details: NewApiKey) => Effect.Effect<void, StoreUnavailable>
}

export class ApiKeyStore extends Context.Tag("gateway/identity/ApiKeyStore")<ApiKeyStore, ApiKeyStoreShape>() {
  static readonly layer: Layer.Layer<ApiKeyStore, never, SqlClient | ChangeNotifications> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const Owner = Schema.Struct({
  key_id: KeyId,
  project_id: ProjectId,
  account_id: AccountId,
  billing_mode: Schema.Literal("managed", "byok"),
  key_limits: Schema.NullOr(RateLimitColumn),
  project_limits: Schema.NullOr(RateLimitColumn),
  valid_millis: Schema.NullOr(Schema.Number)
})

/** One row with one text: a row for each of 100,000 keys would take ten times as long to decode. */
const Hashes = Schema.Struct({ hashes: Schema.String })

const make = Effect.gen(function* () {
  const sql = yield* SqlClient
  const changes = yield* ChangeNotifications
  /** Of a key `k`: it may be used now. */
  const isActive = sql`k.is_active and (k.expires_at is null or k.expires_at > now())
    and exists (select from project p where p.id = k.project_id and p.deleted_at is null)`

  const findOwner = SqlSchema.findOne({
    Request: Schema.String,
    Result: Owner,
    execute: (hash) => sql`
      select k.id as key_id, k.project_id, p.account_id, p.billing_mode, k.rate_limits as key_limits,
        p.rate_limits as project_limits, (extract(epoch from least(k.expires_at, f.until) - now()) * 1000)::float8 as valid_millis
      from (
        select id, null::timestamptz as until from api_key where hash = decode(${hash}, 'hex')
        union all
        select id, previous_until from api_key where previous_hash = decode(${hash}, 'hex') and previous_until > now()
      ) f join api_key k on k.id = f.id join project p on p.id = k.project_id
      where ${isActive}`
  })
  const newestHashes = SqlSchema.single({
    Request: Schema.Number,
    Result: Hashes,
    execute: (max) => sql`
      select coalesce(string_agg(encode(hash, 'hex'), ' ' order by created_at), '') as hashes
      from (select k.hash, k.created_at from api_key k where ${isActive} order by k.created_at desc limit ${max}) newest`
  })
  const hashesOf = SqlSchema.single({
    Request: Schema.Array(KeyId),
    Result: Hashes,
    execute: (ids) => sql`
      select coalesce(string_agg(encode(h.hash, 'hex'), ' '), '') as hashes
      from api_key k cross join lateral (values (k.hash), (k.previous_hash)) h(hash)
      where k.id = any(${ids}::uuid[]) and ${isActive} and h.hash is not null`
  })

  return ApiKeyStore.of({
    findActive: (hash) =>
      fromSql(Effect.map(findOwner(hash), Option.match({ onNone: () => undefined, onSome: activeKey }))),
    activeHashes: flow(newestHashes, hashes),
    activeHashesOf: flow(hashesOf, hashes),
    create: (key, { expiresAt, id, name, projectId }) =>
      changes.commit((announce) =>
        sql`
          insert into api_key (id, hash, key_prefix, name, project_id, expires_at)
          values (${id}, decode(${hashOf(key)}, 'hex'), ${prefixOf(key)}, ${name}, ${projectId}, ${expiresAt})`.pipe(
          Effect.zipRight(announce({ kind: "key", id }))
        )
      )
  })
})

const hashes = <E>(
  found: Effect.Effect<typeof Hashes.Type, E | Cause.NoSuchElementException>
): Effect.Effect<ReadonlyArray<string>, Translated<E>> =>
  found.pipe(
    Effect.catchIf(Cause.isNoSuchElementException, () => Effect.dieMessage("an aggregate has one row")),
    Effect.map(({ hashes }) => (hashes === "" ? [] : hashes.split(" "))),
    fromSql
  )

const activeKey = (row: typeof Owner.Type): ActiveKey => ({
  caller: {
    keyId: row.key_id,
    projectId: row.project_id,
    accountId: row.account_id,
    billingMode: row.billing_mode,
    ...(row.key_limits === null && row.project_limits === null
      ? {}
      : { rateLimits: { key: row.key_limits, project: row.project_limits } })
  },
  validMillis: row.valid_millis ?? Number.POSITIVE_INFINITY
})
