import type { AuditShape } from "../../audit/Audit.ts"
import type { AccountId, KeyId } from "../../domain/Ids.ts"
import type { ProjectKey } from "./ProjectKeyStore.ts"

/** A change of a key in the log of its account; `null`: it was not there before, or is not after. */
export const recordKeyWith =
  (audit: Pick<AuditShape, "record">) =>
  (action: string, accountId: AccountId, id: KeyId, before: ProjectKey | null, after: ProjectKey | null) =>
    audit.record({
      accountId,
      action,
      target: { kind: "key", id },
      before: before === null ? null : audited(before),
      after: after === null ? null : audited(after)
    })

const audited = (key: ProjectKey) => ({
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
