import * as SqlSchema from "@effect/sql/SqlSchema"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { CallerShape } from "../../domain/Caller.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { AccountId, KeyId, ProjectId, UserId } from "../../domain/Ids.ts"
import { hashOf, prefixOf } from "../../identity/keys/ApiKey.ts"
import { RateLimitColumn } from "../../identity/keys/RateLimitColumn.ts"
import { AccountSql, AccountTransactions } from "../../sql/AccountDatabase.ts"
import { fromSql } from "../../sql/StoreErrors.ts"

export interface NewPersonKey {
  readonly id: KeyId
  readonly projectId: ProjectId
  readonly userId: UserId
  /** Of a secret that is given to nobody. */
  readonly secret: string
}

export interface PersonKeyStoreShape {
  /** The person's key in the project, as the caller of a call; `undefined` where there is none yet, or no project any more. */
  readonly find: (
    project: ProjectId,
    user: UserId
  ) => Effect.Effect<{ readonly caller: CallerShape; readonly isActive: boolean } | undefined, StoreUnavailable>
  /** Whether the person of this key is owner or member of its project, and the key is active. */
  readonly mayCall: (key: KeyId) => Effect.Effect<boolean, StoreUnavailable>
  /** Named after the person. */
  readonly create: (key: NewPersonKey) => Effect.Effect<void, StoreUnavailable>
}

export class PersonKeyStore extends Context.Tag("gateway/account/PersonKeyStore")<
  PersonKeyStore,
  PersonKeyStoreShape
>() {
  static readonly layer: Layer.Layer<PersonKeyStore, never, AccountSql | AccountTransactions> = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const PersonKey = Schema.Struct({
  keyId: KeyId,
  projectId: ProjectId,
  accountId: AccountId,
  billingMode: Schema.Literal("managed", "byok"),
  keyLimits: Schema.NullOr(RateLimitColumn),
  projectLimits: Schema.NullOr(RateLimitColumn),
  isActive: Schema.Boolean
})

const make = Effect.gen(function* () {
  const sql = yield* AccountSql
  const transactions = yield* AccountTransactions
  const find = SqlSchema.findOne({
    Request: Schema.Struct({ project: ProjectId, user: UserId }),
    Result: PersonKey,
    execute: ({ project, user }) => sql`
      select k.id as "keyId", k.project_id as "projectId", p.account_id as "accountId", p.billing_mode as "billingMode",
        k.rate_limits as "keyLimits", p.rate_limits as "projectLimits",
        k.is_active and (k.expires_at is null or k.expires_at > now()) as "isActive"
      from api_key k join project p on p.id = k.project_id
      where k.kind = 'dashboard' and k.project_id = ${project} and k.user_id = ${user} and k.deleted_at is null
        and p.deleted_at is null`
  })
  const mayCall = SqlSchema.findOne({
    Request: KeyId,
    Result: Schema.Struct({ id: KeyId }),
    execute: (key) => sql`
      select k.id from api_key k join project p on p.id = k.project_id join account a on a.id = p.account_id
      where k.id = ${key} and k.is_active and (k.expires_at is null or k.expires_at > now()) and p.deleted_at is null
        and (a.user_id = k.user_id or exists (select from project_member m
          where m.project_id = p.id and m.user_id = k.user_id and m.role <> 'viewer'))`
  })
  return PersonKeyStore.of({
    mayCall: (key) => fromSql(Effect.map(mayCall(key), Option.isSome)),
    find: (project, user) =>
      fromSql(Effect.map(find({ project, user }), (found) => Option.getOrUndefined(Option.map(found, callerOf)))),
    create: ({ id, projectId, secret, userId }) =>
      transactions.commit((announce) =>
        sql`
          insert into api_key (id, hash, key_prefix, name, project_id, kind, user_id)
          select ${id}, decode(${hashOf(secret)}, 'hex'), ${prefixOf(secret)}, left('Chat of ' || u.name, 200),
            ${projectId}, 'dashboard', u.id
          from app_user u where u.id = ${userId}`.pipe(Effect.zipRight(announce({ kind: "key", id })))
      )
  })
})

const callerOf = ({ isActive, keyLimits, projectLimits, ...caller }: typeof PersonKey.Type) => ({
  caller: {
    ...caller,
    ...(keyLimits === null && projectLimits === null ? {} : { rateLimits: { key: keyLimits, project: projectLimits } })
  },
  isActive
})
