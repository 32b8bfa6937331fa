import { randomFillSync } from "node:crypto"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Audit } from "../../audit/Audit.ts"
import { NotFound, OperatorRequired, type RoleRequired, type VersionMismatch } from "../../domain/AccountError.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import { CurrentUser } from "../../domain/CurrentUser.ts"
import { InvalidRequest, type StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { type AccountId, KeyId, type ProjectId } from "../../domain/Ids.ts"
import { isUnchanged } from "../../domain/Patch.ts"
import { mint, prefixOf } from "../../identity/keys/ApiKey.ts"
import { ApiKeyStore } from "../../identity/keys/ApiKeyStore.ts"
import { ProjectAccess } from "../../identity/projects/ProjectAccess.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { type SpendLimit, SpendLimitStore } from "../../ledger/SpendLimitStore.ts"
import type { RateLimit } from "../../policy/RateLimits.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { requireWithin } from "../limits/ConfiguredLimits.ts"
import { type KeySettings, type ProjectKey, ProjectKeyStore } from "./ProjectKeyStore.ts"

/** A key to be created. */
export interface NewKey {
  /** For people; need not be unique. */
  readonly name: string
  /** What its calls may cost together; `null` is no limit. */
  readonly limitMicroUsd: number | null
}

/** What is left out stays as it is. */
export type KeyPatch = Partial<KeySettings & Pick<SpendLimit, "limitMicroUsd" | "limitReset">>

/** A key with its secret, which is shown once. */
export interface KeyWithSecret {
  /** Of the key, in every other program. */
  readonly id: KeyId
  /** What clients send as bearer; only its hash is kept. */
  readonly secret: string
  /** The first 12 characters of the secret, which may be shown. */
  readonly prefix: string
  /** As it was given. */
  readonly name: string
}

type Refused = NotFound | RoleRequired | StoreUnavailable

/** Creates, reads and ends the keys of projects, each time as `CurrentUser`. */
export interface KeysShape {
  /** In a project in which the current user is at least a member, and that has fewer than 1,000; the secret is shown this once. */
  readonly create: (
    project: ProjectId,
    key: NewKey
  ) => Effect.Effect<KeyWithSecret, Refused | InvalidRequest, CurrentUser>
  /** In a project of anybody; for operators. */
  readonly createAnywhere: (
    project: ProjectId,
    key: NewKey
  ) => Effect.Effect<KeyWithSecret, NotFound | OperatorRequired | StoreUnavailable, CurrentUser>
  /** Newest first, with the number of all. */
  readonly list: (
    project: ProjectId,
    range: { readonly skip: number; readonly max: number }
  ) => Effect.Effect<
    { readonly keys: ReadonlyArray<ProjectKey>; readonly total: number },
    NotFound | StoreUnavailable,
    CurrentUser
  >
  /** A key of a project that the current user may see. */
  readonly read: (key: KeyId) => Effect.Effect<ProjectKey, NotFound | StoreUnavailable, CurrentUser>
  /**
   * Who a call of this key runs for, without its secret: for programs that authenticate by themselves. Not found also where the
   * key is inactive, revoked or expired. Reads the database each time.
   */
  readonly caller: (key: KeyId) => Effect.Effect<CallerShape, NotFound | StoreUnavailable, CurrentUser>
  /** `check` sees the key as it is before the change and can refuse it. */
  readonly update: (
    key: KeyId,
    patch: KeyPatch,
    check: (key: ProjectKey) => Effect.Effect<void, VersionMismatch>
  ) => Effect.Effect<ProjectKey, Refused | InvalidRequest | VersionMismatch, CurrentUser>
  /** The same key with a new secret; the one before works for the grace, an older one ends. */
  readonly rotate: (
    key: KeyId,
    graceSeconds: number
  ) => Effect.Effect<KeyWithSecret, Refused | InvalidRequest, CurrentUser>
  /** Permanently, and immediately. */
  readonly revoke: (key: KeyId) => Effect.Effect<ProjectKey, Refused, CurrentUser>
  /** Revokes the key and hides it; its calls stay. */
  readonly remove: (key: KeyId) => Effect.Effect<void, Refused, CurrentUser>
}

/** The keys of projects. */
export class Keys extends Context.Tag("gateway/account/Keys")<Keys, KeysShape>() {
  /** @internal With the rate limits that are configured for all keys. */
  static readonly layer = (configured: RateLimit) => Layer.effect(this, make(configured))
}

/** Without revoked ones; an operator may create more. */
const maxKeys = 1_000

const make = (configured: RateLimit) =>
  Effect.gen(function* () {
    const access = yield* ProjectAccess
    const keys = yield* ProjectKeyStore
    const secrets = yield* ApiKeyStore
    const projects = yield* ProjectStore
    const scopes = yield* Scopes
    const limits = yield* SpendLimitStore
    const transactions = yield* AccountTransactions
    const audit = yield* Audit
    const ids = yield* IdGenerator

    /** The same error for every key that the current user may not see, and for none. */
    const found = (id: KeyId) =>
      Effect.gen(function* () {
        const key = yield* keys.find(id)
        if (key === undefined) return yield* noKey
        const project = yield* Effect.catchTag(access.find(key.projectId), "NotFound", () => noKey)
        return { key, project }
      })

    const record = (
      action: string,
      accountId: AccountId,
      id: KeyId,
      before: ProjectKey | null,
      after: ProjectKey | null
    ) =>
      audit.record({
        accountId,
        action,
        target: { kind: "key", id },
        before: before === null ? null : audited(before),
        after: after === null ? null : audited(after)
      })

    const createIn = (projectId: ProjectId, accountId: AccountId, { limitMicroUsd, name }: NewKey) =>
      Effect.gen(function* () {
        const id = KeyId.make(ids.uuid())
        const secret = mint(randomFillSync)
        yield* secrets.create(secret, { id, projectId, name, expiresAt: null })
        yield* scopes.open("key", id, limitMicroUsd)
        yield* record("key.create", accountId, id, null, (yield* keys.find(id)) ?? (yield* notWritten))
        return { id, secret, name, prefix: prefixOf(secret) }
      })

    /** A key that nobody else changes until the end of the transaction, in a project that is not deleted until then. */
    const locked = (id: KeyId) =>
      Effect.gen(function* () {
        // a key stays in its project
        const { project: owner } = yield* found(id)
        yield* projects.lock(owner.id)
        yield* keys.lock(id)
        const { key, project } = yield* found(id)
        yield* access.require(project.id, "member")
        return { key, project }
      })
    const change = <A, E>(id: KeyId, action: string, run: (key: ProjectKey) => Effect.Effect<A, E, CurrentUser>) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const { key: before, project } = yield* locked(id)
          const result = yield* run(before)
          // a deleted key is found no more
          const after = (yield* keys.find(id)) ?? null
          yield* record(action, project.accountId, id, before, after)
          return { result, after }
        })
      )

    return Keys.of({
      create: (projectId, key) =>
        transactions.commit(() =>
          Effect.gen(function* () {
            // so that the project is not deleted meanwhile
            yield* projects.lock(projectId)
            const project = yield* access.require(projectId, "member")
            if ((yield* keys.countUnrevoked(projectId)) >= maxKeys) return yield* tooMany
            return yield* createIn(projectId, project.accountId, key)
          })
        ),
      createAnywhere: (projectId, key) =>
        transactions.commit(() =>
          Effect.gen(function* () {
            if (!(yield* CurrentUser).isOperator) return yield* operatorRequired
            yield* projects.lock(projectId)
            const accountId = yield* projects.findAccount(projectId)
            if (accountId === undefined) return yield* noProject
            return yield* createIn(projectId, accountId, key)
          })
        ),
      list: (projectId, range) => Effect.zipRight(access.find(projectId), keys.list(projectId, range)),
      read: (id) => Effect.map(found(id), ({ key }) => key),
      caller: (id) =>
        Effect.gen(function* () {
          const { key, project } = yield* found(id)
          if (!key.isActive || key.revokedAt !== null || key.isExpired) return yield* noKey
          return {
            keyId: key.id,
            projectId: project.id,
            accountId: project.accountId,
            billingMode: project.billingMode,
            ...(key.rateLimits === null && project.rateLimits === null
              ? {}
              : { rateLimits: { key: key.rateLimits, project: project.rateLimits } })
          }
        }),
      update: (id, patch, check) =>
        transactions.commit(() =>
          Effect.gen(function* () {
            const { key: before, project } = yield* locked(id)
            yield* check(before)
            if (patch.isActive === true && before.revokedAt !== null) return yield* revoked("is_active")
            if (patch.rateLimits !== undefined) yield* requireWithin(configured, patch.rateLimits)
            if (isUnchanged(before, patch)) return before
            const { expiresAt, isActive, limitMicroUsd, limitReset, name, rateLimits } = { ...before, ...patch }
            yield* keys.update(id, { name, isActive, expiresAt, rateLimits })
            if (limitMicroUsd !== before.limitMicroUsd || limitReset !== before.limitReset) {
              yield* limits.set(id, { limitMicroUsd, limitReset })
            }
            const after = (yield* keys.find(id)) ?? (yield* notWritten)
            yield* record("key.update", project.accountId, id, before, after)
            return after
          })
        ),
      rotate: (id, graceSeconds) =>
        Effect.map(
          change(id, "key.rotate", (before) =>
            Effect.gen(function* () {
              if (before.revokedAt !== null) return yield* revoked("id")
              if (before.kind === "dashboard") return yield* withoutSecret
              const secret = mint(randomFillSync)
              yield* keys.replaceSecret(id, secret, graceSeconds)
              return { id, secret, name: before.name, prefix: prefixOf(secret) }
            })
          ),
          ({ result }) => result
        ),
      revoke: (id) =>
        Effect.flatMap(
          change(id, "key.revoke", () => keys.end(id, "revoked")),
          ({ after }) => (after === null ? notWritten : Effect.succeed(after))
        ),
      remove: (id) => Effect.asVoid(change(id, "key.delete", () => keys.end(id, "deleted")))
    })
  })

const notWritten = Effect.dieMessage("a key that was written just now is found")
const noKey = new NotFound({ message: "Key not found." })
const noProject = new NotFound({ message: "Project not found." })
const operatorRequired = new OperatorRequired({ message: "Only an operator may do this." })

const tooMany = new InvalidRequest({
  code: "invalid_value",
  message: `A project has at most ${maxKeys} keys that are not revoked.`,
  param: null
})

const withoutSecret = new InvalidRequest({
  code: "invalid_value",
  message: "This key is for a user's calls from the dashboard: it has no secret.",
  param: "id"
})

const revoked = (param: string): InvalidRequest =>
  new InvalidRequest({
    code: "invalid_value",
    message: "The key was permanently revoked; create another one.",
    param
  })

export const audited = (key: ProjectKey) => ({
  name: key.name,
  project_id: key.projectId,
  key_prefix: key.keyPrefix,
  is_active: key.isActive,
  spend_limit_microusd: key.limitMicroUsd,
  limit_reset: key.limitReset,
  expires_at: key.expiresAt,
  rate_limits: key.rateLimits,
  previous_secret_until: key.previousUntil,
  revoked_at: key.revokedAt
})
