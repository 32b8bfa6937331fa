import type { SqlError } from "@effect/sql/SqlError"
import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { KeyId, ProjectId } from "../../domain/Ids.ts"
import { hashOf, prefixOf } from "../../identity/keys/ApiKey.ts"
import { RateLimitColumn } from "../../identity/keys/RateLimitColumn.ts"
import { LimitReset } from "../../ledger/SpendLimitStore.ts"
import { AccountSql, AccountTransactions } from "../../sql/AccountDatabase.ts"
import { Int8 } from "../../sql/Rows.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

const ProjectKey = Schema.Struct({
  id: KeyId,
  keyPrefix: Schema.String,
  name: Schema.String,
  projectId: ProjectId,
  /** dashboard: of a person's own calls; nobody has its secret. */
  kind: Schema.Literal("secret", "dashboard"),
  isActive: Schema.Boolean,
  expiresAt: Schema.NullOr(Schema.DateFromSelf),
  /** By the database's clock, as where the key is authenticated. */
  isExpired: Schema.Boolean,
  /** `null` where the grace of the secret before has ended. */
  previousUntil: Schema.NullOr(Schema.DateFromSelf),
  revokedAt: Schema.NullOr(Schema.DateFromSelf),
  /** `null`: as configured for all keys. */
  rateLimits: Schema.NullOr(RateLimitColumn),
  limitMicroUsd: Schema.NullOr(Int8),
  limitReset: Schema.NullOr(LimitReset),
  spentMicroUsd: Int8,
  totalSpentMicroUsd: Int8,
  /** When its last call ended that the log still has. */
  lastUsedAt: Schema.NullOr(Schema.DateFromSelf),
  createdAt: Schema.DateFromSelf
})
/** A key with the money of its scope. */
export type ProjectKey = typeof ProjectKey.Type

/** What can be changed of a key. */
export type KeySettings = Pick<ProjectKey, "name" | "isActive" | "expiresAt" | "rateLimits">

/** Which keys of a list, newest first. */
export interface KeyRange {
  /** How many are left out before the first. */
  readonly skip: number
  /** How many there are at most. */
  readonly max: number
  /** Only active keys that have spent `nearLimitPercent` of their limit, or only the others. */
  readonly isNearLimit?: boolean | undefined
}

/** What the dashboard points out; it calls a project's own limit near by the same share. */
const nearLimitPercent = 80

export interface ProjectKeyStoreShape {
  /** `undefined` also for a deleted key. */
  readonly find: (key: KeyId) => Effect.Effect<ProjectKey | undefined, StoreUnavailable>
  /** Until the end of the transaction nobody else changes the key; rows that refer to it can be written. */
  readonly lock: (key: KeyId) => Effect.Effect<void, StoreUnavailable>
  /** Newest first, with the number of all that the range selects. */
  readonly list: (
    project: ProjectId,
    range: KeyRange
  ) => Effect.Effect<{ readonly keys: ReadonlyArray<ProjectKey>; readonly total: number }, StoreUnavailable>
  /** Those with a secret that are not revoked. */
  readonly countUnrevoked: (project: ProjectId) => Effect.Effect<number, StoreUnavailable>
  readonly update: (key: KeyId, settings: KeySettings) => Effect.Effect<void, StoreUnavailable>
  /** The previous secret works for this many seconds more, by the database's clock; the one before that is revoked now. */
  readonly replaceSecret: (key: KeyId, secret: string, graceSeconds: number) => Effect.Effect<void, StoreUnavailable>
  /** Permanently revokes every secret of the key; a deleted key is found no more. */
  readonly end: (key: KeyId, how: "revoked" | "deleted") => Effect.Effect<void, StoreUnavailable>
}

/** Keys as the people of a project see them; `ApiKeyStore` authenticates by them. */
export class ProjectKeyStore extends Context.Tag("gateway/account/ProjectKeyStore")<
  ProjectKeyStore,
  ProjectKeyStoreShape
>() {
  static readonly layer: Layer.Layer<ProjectKeyStore, never, AccountSql | AccountTransactions> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const transactions = yield* AccountTransactions
  const columns = sql.literal(`k.id, k.key_prefix as "keyPrefix", k.name, k.project_id as "projectId",
    k.kind, k.is_active as "isActive", k.expires_at as "expiresAt", coalesce(k.expires_at <= now(), false) as "isExpired",
    case when k.previous_until > now() then k.previous_until end as "previousUntil", k.revoked_at as "revokedAt",
    k.rate_limits as "rateLimits", s.limit_micro_usd as "limitMicroUsd", s.limit_reset as "limitReset",
    s.spent_micro_usd - scope_base(s) as "spentMicroUsd", s.spent_micro_usd as "totalSpentMicroUsd",
    (select c.written_at from call c where c.key_id = k.id order by c.written_at desc limit 1) as "lastUsedAt",
    k.created_at as "createdAt"`)

  const find = SqlSchema.findOne({
    Request: KeyId,
    Result: ProjectKey,
    execute: (id) => sql`
      select ${columns} from api_key k join scope s on s.id = k.id where k.id = ${id} and k.deleted_at is null`
  })
  /** A key that may spend nothing is not pointed out. */
  const isNearLimit = sql.literal(`k.is_active and s.limit_micro_usd is not null
    and (s.spent_micro_usd - scope_base(s)) * 100 >= greatest(s.limit_micro_usd, 1) * ${nearLimitPercent}`)
  const listed = (project: string, selected: boolean | undefined) => sql`
    from api_key k join scope s on s.id = k.id where k.project_id = ${project} and k.deleted_at is null
      and ${selected === undefined ? sql`true` : sql`(${isNearLimit}) = ${selected}`}`
  const page = SqlSchema.findAll({
    Request: Schema.Struct({
      project: ProjectId,
      skip: Schema.Number,
      max: Schema.Number,
      isNearLimit: Schema.UndefinedOr(Schema.Boolean)
    }),
    Result: ProjectKey,
    execute: ({ isNearLimit, max, project, skip }) => sql`
      select ${columns} ${listed(project, isNearLimit)} order by k.created_at desc, k.id desc
      limit ${max} offset ${skip}`
  })
  const count = SqlSchema.single({
    Request: Schema.Struct({ project: ProjectId, isNearLimit: Schema.UndefinedOr(Schema.Boolean) }),
    Result: Schema.Struct({ total: Schema.Int }),
    execute: ({ isNearLimit, project }) => sql`select count(*)::int as total ${listed(project, isNearLimit)}`
  })
  const countUnrevoked = SqlSchema.single({
    Request: ProjectId,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (project) => sql`
      select count(*)::int as total from api_key
      where project_id = ${project} and deleted_at is null and revoked_at is null and kind = 'secret'`
  })
  const announced = (key: KeyId, statement: Effect.Effect<unknown, SqlError>) =>
    transactions.commit((announce) => Effect.zipRight(statement, announce({ kind: "key", id: key })))

  return ProjectKeyStore.of({
    find: (key) => fromSql(Effect.map(find(key), Option.getOrUndefined)),
    lock: (key) => fromSql(Effect.asVoid(sql`select from api_key where id = ${key} for no key update`)),
    list: (project, { isNearLimit, max, skip }) =>
      fromSql(
        Effect.all({
          keys: page({ project, max, skip, isNearLimit }),
          total: totalOf(count({ project, isNearLimit }))
        })
      ),
    countUnrevoked: (project) => fromSql(totalOf(countUnrevoked(project))),
    update: (key, { expiresAt, isActive, name, rateLimits }) =>
      announced(
        key,
        sql`update api_key set name = ${name}, is_active = ${isActive}, expires_at = ${expiresAt},
          rate_limits = ${rateLimits === null ? null : JSON.stringify(rateLimits)}::jsonb where id = ${key}`
      ),
    replaceSecret: (key, secret, graceSeconds) =>
      announced(
        key,
        sql`update api_key set hash = decode(${hashOf(secret)}, 'hex'), key_prefix = ${prefixOf(secret)},
          previous_hash = case when ${graceSeconds}::int > 0 then hash end,
          previous_until = case when ${graceSeconds}::int > 0 then now() + make_interval(secs => ${graceSeconds}::int) end
          where id = ${key}`
      ),
    end: (key, how) =>
      announced(
        key,
        sql`update api_key set is_active = false, previous_hash = null, previous_until = null,
          revoked_at = coalesce(revoked_at, now()), deleted_at = case when ${how === "deleted"}::boolean then now() end
          where id = ${key}`
      )
  })
})

const totalOf = <E, R>(count: Effect.Effect<{ readonly total: number }, E | Cause.NoSuchElementException, R>) =>
  count.pipe(
    Effect.catchIf(Cause.isNoSuchElementException, () => Effect.dieMessage("a count has one row")),
    Effect.map(({ total }) => total)
  )
