import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import type { KeyId } from "../../domain/Ids.ts"
import type { RateLimit } from "../../policy/RateLimits.ts"
import type { KeyStatusOut } from "../../wire/account/KeyStatus.ts"
import { type KeyStatusRow, KeyStatusStore } from "./KeyStatusStore.ts"

export interface KeyStatusShape {
  readonly of: (key: KeyId) => Effect.Effect<Option.Option<KeyStatusOut>, StoreUnavailable>
}

/** What a key may still do, for its own holder. */
export class KeyStatus extends Context.Tag("gateway/account/KeyStatus")<KeyStatus, KeyStatusShape>() {
  /** With the rate limit of every key. */
  static readonly layer = (rateLimit: RateLimit): Layer.Layer<KeyStatus, never, KeyStatusStore> =>
    Layer.effect(
      this,
      Effect.map(KeyStatusStore, (store) => ({
        of: (key) => Effect.map(store.find(key), Option.map(statusOf(rateLimit)))
      }))
    )
}

const statusOf =
  ({ concurrentRequests, requestsPerMinute, tokensPerMinute }: RateLimit) =>
  (row: KeyStatusRow): KeyStatusOut => ({
    id: row.id,
    name: row.name,
    key_prefix: row.keyPrefix,
    project_id: row.projectId,
    expires_at: row.expiresAt,
    spend_limit_microusd: row.limitMicroUsd,
    spent_microusd: row.spentMicroUsd,
    held_microusd: row.heldMicroUsd,
    remaining_microusd:
      row.limitMicroUsd === null ? null : Math.max(0, row.limitMicroUsd - row.spentMicroUsd - row.heldMicroUsd),
    balance_state: balanceState(row),
    rate_limits: {
      requests_per_minute: requestsPerMinute,
      tokens_per_minute: tokensPerMinute,
      concurrent_requests: concurrentRequests
    }
  })

const balanceState = ({ availableMicroUsd, isManaged }: KeyStatusRow): KeyStatusOut["balance_state"] => {
  if (!isManaged) return "not_used"
  return availableMicroUsd > 0 ? "available" : "exhausted"
}
