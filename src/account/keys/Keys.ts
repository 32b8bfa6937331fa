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
import { ProjectAccess, type ProjectAccessShape } from "../../identity/projects/ProjectAccess.ts"
import type { AccessibleProject } from "../../identity/projects/ProjectAccessStore.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { Scopes } from "../../ledger/Scopes.ts"
import { type SpendLimit, SpendLimitStore } from "../../ledger/SpendLimitStore.ts"
import type { RateLimit } from "../../policy/RateLimits.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import { CreateMyApiKeyRequest, RotateApiKeyRequest, UpdateApiKeyRequest } from "../../wire/account/Keys.ts"
import { checkedInput, inputOf } from "../input/CheckedInput.ts"
import { requireWithin } from "../limits/ConfiguredLimits.ts"
import { recordKeyWith } from "./KeyAudit.ts"
import {
  type KeyRange,
  type KeySettings,
  type ProjectKey,
  ProjectKeyStore,
  type ProjectKeyStoreShape
} from "./ProjectKeyStore.ts"

/** A key to be created. */
export interface NewKey {
  /** For people, 1 to 200 characters; need not be unique. */
  readonly name: string
  /** What its calls may cost together, in whole micro-USD; `null` is no limit. */
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
  ) => Effect.Effect<KeyWithSecret, InvalidRequest | NotFound | OperatorRequired | StoreUnavailable, CurrentUser>
  /** Newest first, with the number of all. */
  readonly list: (
    project: ProjectId,
    range: KeyRange
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
  /** The same key with a new secret; the one before works for the grace of up to 30 days, an older one ends. */
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

const checkNew = checkedInput(CreateMyApiKeyRequest)
const checkPatch = checkedInput(UpdateApiKeyRequest)
const checkRotation = checkedInput(RotateApiKeyRequest)

/** Without revoked ones; an operator may create more. */
const maxKeys = 1_000

const make = (configured: RateLimit) =>
  Effect.gen(function* () {
    const access = yield* ProjectAccess
    const store = yield* ProjectKeyStore
    return Keys.of({
      ...(yield* creation),
      ...(yield* changes(configured)),
      list: (projectId, range) => Effect.zipRight(access.find(projectId), store.list(projectId, range)),
      read: (id) => Effect.map(find(access, store, id), ({ key }) => key),
      caller: (id) => Effect.flatMap(find(access, store, id), callerOf)
    })
  })

interface KeyInProject {
  readonly key: ProjectKey
  readonly project: AccessibleProject
}

/** The same error for every key that the current user may not see, and for none. */
const find = (access: ProjectAccessShape, store: ProjectKeyStoreShape, id: KeyId) =>
  Effect.gen(function* () {
    const key = yield* store.find(id)
    if (key === undefined) return yield* noKey
    const project = yield* Effect.catchTag(access.find(key.projectId), "NotFound", () => noKey)
    return { key, project } satisfies KeyInProject
  })

const callerOf = ({ key, project }: KeyInProject): Effect.Effect<CallerShape, NotFound> => {
  if (!key.isActive || key.revokedAt !== null || key.isExpired) return noKey
  return Effect.succeed({
    keyId: key.id,
    projectId: project.id,
    accountId: project.accountId,
    billingMode: project.billingMode,
    ...(key.rateLimits === null && project.rateLimits === null
      ? {}
      : { rateLimits: { key: key.rateLimits, project: project.rateLimits } })
  })
}

/** How keys come to be, each with a secret and a scope for its limit. */
const creation = Effect.gen(function* () {
  const access = yield* ProjectAccess
  const store = yield* ProjectKeyStore
  const secrets = yield* ApiKeyStore
  const projects = yield* ProjectStore
  const scopes = yield* Scopes
  const transactions = yield* AccountTransactions
  const record = recordKeyWith(yield* Audit)
  const ids = yield* IdGenerator

  const createIn = (projectId: ProjectId, accountId: AccountId, { limitMicroUsd, name }: NewKey) =>
    Effect.gen(function* () {
      yield* checkNew({ name, spend_limit_microusd: limitMicroUsd })
      const id = KeyId.make(ids.uuid())
      const secret = mint(randomFillSync)
      yield* secrets.create(secret, { id, projectId, name, expiresAt: null })
      yield* scopes.open("key", id, limitMicroUsd)
      yield* record("key.create", accountId, id, null, (yield* store.find(id)) ?? (yield* notWritten))
      return { id, secret, name, prefix: prefixOf(secret) }
    })

  return {
    create: (projectId, key) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          // so that the project is not deleted meanwhile
          yield* projects.lock(projectId)
          const project = yield* access.require(projectId, "member")
          if ((yield* store.countUnrevoked(projectId)) >= maxKeys) return yield* tooMany
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
      )
  } satisfies Partial<KeysShape>
})

/** How keys change and end, each change recorded in the log of their account. */
const changes = (configured: RateLimit) =>
  Effect.gen(function* () {
    const access = yield* ProjectAccess
    const store = yield* ProjectKeyStore
    const projects = yield* ProjectStore
    const limits = yield* SpendLimitStore
    const transactions = yield* AccountTransactions
    const record = recordKeyWith(yield* Audit)

    /** A key that nobody else changes until the end of the transaction, in a project that is not deleted until then. */
    const lock = (id: KeyId) =>
      Effect.gen(function* () {
        // a key stays in its project
        const { project: owner } = yield* find(access, store, id)
        yield* projects.lock(owner.id)
        yield* store.lock(id)
        const { key, project } = yield* find(access, store, id)
        yield* access.require(project.id, "member")
        return { key, project }
      })

    const change = <A, E>(id: KeyId, action: string, run: (key: ProjectKey) => Effect.Effect<A, E, CurrentUser>) =>
      transactions.commit(() =>
        Effect.gen(function* () {
          const { key: before, project } = yield* lock(id)
          const result = yield* run(before)
          // a deleted key is found no more
          const after = (yield* store.find(id)) ?? null
          yield* record(action, project.accountId, id, before, after)
          return { result, after }
        })
      )

    return {
      update: (id, patch, check) =>
        transactions.commit(() =>
          Effect.gen(function* () {
            yield* checkPatch(inputOf(patch))
            const { key: before, project } = yield* lock(id)
            yield* check(before)
            if (patch.isActive === true && before.revokedAt !== null) return yield* revoked("is_active")
            if (patch.rateLimits !== undefined) yield* requireWithin(configured, patch.rateLimits)
            if (isUnchanged(before, patch)) return before
            const { expiresAt, isActive, limitMicroUsd, limitReset, name, rateLimits } = { ...before, ...patch }
            yield* store.update(id, { name, isActive, expiresAt, rateLimits })
            if (limitMicroUsd !== before.limitMicroUsd || limitReset !== before.limitReset) {
              yield* limits.set(id, { limitMicroUsd, limitReset })
            }
            const after = (yield* store.find(id)) ?? (yield* notWritten)
            yield* record("key.update", project.accountId, id, before, after)
            return after
          })
        ),
      rotate: (id, graceSeconds) =>
        Effect.map(
          change(id, "key.rotate", (before) => replaceSecret(store, before, graceSeconds)),
          ({ result }) => result
        ),
      revoke: (id) =>
        Effect.flatMap(
          change(id, "key.revoke", () => store.end(id, "revoked")),
          ({ after }) => (after === null ? notWritten : Effect.succeed(after))
        ),
      remove: (id) => Effect.asVoid(change(id, "key.delete", () => store.end(id, "deleted")))
    } satisfies Partial<KeysShape>
  })

const replaceSecret = (store: ProjectKeyStoreShape, { id, kind, name, revokedAt }: ProjectKey, graceSeconds: number) =>
  Effect.gen(function* () {
    yield* checkRotation({ grace_seconds: graceSeconds })
    if (revokedAt !== null) return yield* revoked("id")
    if (kind === "dashboard") return yield* withoutSecret
    const secret = mint(randomFillSync)
    yield* store.replaceSecret(id, secret, graceSeconds)
    return { id, secret, name, prefix: prefixOf(secret) }
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
