import { createHash } from "node:crypto"
import type { AccountId, RequestId, UserId } from "../domain/Ids.ts"

/** A row of the audit log, without the hashes. */
export interface AuditEntry {
  readonly id: string
  readonly accountId: AccountId
  /** From 1, without gaps, in each account. */
  readonly position: number
  readonly atMillis: number
  /** `null` for what the gateway does by itself, as for the next two. */
  readonly actorUserId: UserId | null
  readonly address: string | null
  readonly requestId: RequestId | null
  /** Such as `project.create`. */
  readonly action: string
  readonly targetKind: string
  readonly targetId: string
  /** JSON as it is stored; `null` where there was, or is, nothing. */
  readonly before: string | null
  readonly after: string | null
}

/** What the first row of each account follows. */
export const chainStart: Uint8Array = new Uint8Array(32)

/** The hash of a row covers all of its fields and the row before it, so that no row can be changed, removed or added later. */
export const hashOf = (entry: AuditEntry, previous: Uint8Array): Buffer =>
  createHash("sha256")
    .update(previous)
    .update(
      JSON.stringify([
        entry.id,
        entry.accountId,
        entry.position,
        entry.atMillis,
        entry.actorUserId,
        entry.address,
        entry.requestId,
        entry.action,
        entry.targetKind,
        entry.targetId,
        entry.before,
        entry.after
      ])
    )
    .digest()
