import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { requireOperator } from "../../../account/admin/Admin.ts"
import { AccountIdempotency } from "../../../account/idempotency/AccountIdempotency.ts"
import { type KeyPatch, Keys, type KeyWithSecret, type NewKey } from "../../../account/keys/Keys.ts"
import type { ProjectKey } from "../../../account/keys/ProjectKeyStore.ts"
import * as RateLimitRecords from "../../../account/limits/RateLimitRecords.ts"
import { NotFound } from "../../../domain/AccountError.ts"
import { CurrentUser } from "../../../domain/CurrentUser.ts"
import type { ProjectId } from "../../../domain/Ids.ts"
import { ProjectAccess } from "../../../identity/projects/ProjectAccess.ts"
import { UserStore } from "../../../identity/users/UserStore.ts"
import {
  type ApiKeyOut,
  CreateApiKeyResponse,
  type CreateMyApiKeyRequest,
  type KeysParameters,
  type UpdateApiKeyRequest
} from "../../../wire/account/Keys.ts"
import { AccountApi } from "../AccountApi.ts"
import { entityTag, requireMatch } from "../EntityTag.ts"
import { idempotent, withHeader } from "../Idempotent.ts"

type Parameters = typeof KeysParameters.Type

export const keysHandlers = HttpApiBuilder.group(AccountApi, "keys", (handlers) =>
  Effect.gen(function* () {
    const keys = yield* Keys
    const users = yield* UserStore
    const idempotency = yield* AccountIdempotency
    const access = yield* ProjectAccess

    const defaultProject = Effect.flatMap(CurrentUser, ({ userId }) =>
      Effect.map(users.find(userId), (user) => user?.defaultProjectId ?? undefined)
    )
    const list = (project: ProjectId, { limit, near_limit, page }: Parameters) =>
      Effect.map(keys.list(project, { skip: (page - 1) * limit, max: limit, isNearLimit: near_limit }), (found) => ({
        items: found.keys.map(keyOut),
        total: found.total,
        page,
        limit
      }))
    /** A response with a secret, also when it is asked for again. */
    const once = <E, R, E2, R2>(
      idempotencyKey: string | undefined,
      body: unknown,
      mayReplay: Effect.Effect<unknown, E2, R2>,
      run: Effect.Effect<KeyWithSecret, E, R>
    ) =>
      idempotent(
        idempotency,
        idempotencyKey,
        { body, schema: CreateApiKeyResponse, mayReplay },
        Effect.map(run, createdOut)
      )
    /** A single key is sent with its version. */
    const sent = (key: ProjectKey) => Effect.as(withHeader("etag", tagOf(key)), keyOut(key))

    return handlers
      .handle("listMyKeys", ({ urlParams }) =>
        Effect.flatMap(defaultProject, (project) =>
          project === undefined
            ? Effect.succeed({ items: [], total: 0, page: urlParams.page, limit: urlParams.limit })
            : Effect.catchTag(list(project, urlParams), "NotFound", () =>
                Effect.dieMessage("the default project is the user's own")
              )
        )
      )
      .handle("createMyKey", ({ headers, payload }) =>
        once(
          headers["idempotency-key"],
          payload,
          Effect.void,
          Effect.flatMap(defaultProject, (project) =>
            project === undefined
              ? new NotFound({ message: "You have no project; create one first." })
              : keys.create(project, newKey(payload))
          )
        )
      )
      .handle("listKeys", ({ path, urlParams }) => list(path.id, urlParams))
      .handle("createKey", ({ headers, path, payload }) =>
        once(
          headers["idempotency-key"],
          payload,
          access.require(path.id, "member"),
          keys.create(path.id, newKey(payload))
        )
      )
      .handle("createAnyKey", ({ headers, payload }) =>
        once(
          headers["idempotency-key"],
          payload,
          requireOperator,
          keys.createAnywhere(payload.project_id, newKey(payload))
        )
      )
      .handle("getKey", ({ path }) => Effect.flatMap(keys.read(path.id), sent))
      .handle("updateKey", ({ headers, path, payload }) =>
        Effect.flatMap(
          keys.update(path.id, patchOf(payload), (found) => requireMatch(headers["if-match"], tagOf(found))),
          sent
        )
      )
      .handle("deleteKey", ({ path }) => keys.remove(path.id))
      .handle("rotateKey", ({ headers, path, payload }) =>
        once(
          headers["idempotency-key"],
          payload,
          Effect.flatMap(keys.read(path.id), ({ projectId }) => access.require(projectId, "member")),
          keys.rotate(path.id, payload.grace_seconds)
        )
      )
      .handle("revokeKey", ({ path }) => Effect.flatMap(keys.revoke(path.id), sent))
  })
)

const newKey = ({ name, spend_limit_microusd }: typeof CreateMyApiKeyRequest.Type): NewKey => ({
  name,
  limitMicroUsd: spend_limit_microusd
})

export const createdOut = ({ id, name, prefix, secret }: KeyWithSecret): CreateApiKeyResponse => ({
  id,
  api_key: secret,
  key_prefix: prefix,
  name
})

const patchOf = (asked: UpdateApiKeyRequest): KeyPatch => ({
  ...(asked.name === undefined ? {} : { name: asked.name }),
  ...(asked.is_active === undefined ? {} : { isActive: asked.is_active }),
  ...(asked.spend_limit_microusd === undefined ? {} : { limitMicroUsd: asked.spend_limit_microusd }),
  ...(asked.limit_reset === undefined ? {} : { limitReset: asked.limit_reset }),
  ...(asked.expires_at === undefined ? {} : { expiresAt: asked.expires_at }),
  ...(asked.rate_limits === undefined ? {} : { rateLimits: RateLimitRecords.in(asked.rate_limits) })
})

const tagOf = (key: ProjectKey): string => {
  const { created_at, last_used_at, spent_microusd, total_spent_microusd, ...version } = keyOut(key)
  return entityTag([JSON.stringify(version)])
}

export const keyOut = (key: ProjectKey): ApiKeyOut => ({
  id: key.id,
  key_prefix: key.keyPrefix,
  name: key.name,
  project_id: key.projectId,
  kind: key.kind,
  is_active: key.isActive,
  spend_limit_microusd: key.limitMicroUsd,
  limit_reset: key.limitReset,
  spent_microusd: key.spentMicroUsd,
  total_spent_microusd: key.totalSpentMicroUsd,
  expires_at: key.expiresAt,
  rate_limits: RateLimitRecords.out(key.rateLimits),
  previous_secret_until: key.previousUntil,
  revoked_at: key.revokedAt,
  last_used_at: key.lastUsedAt,
  created_at: key.createdAt
})
