import type { SessionId } from "../../domain/Ids.ts"

/** How exactly the last use of a session is known: a write for each request would be too many. */
const writeEveryMillis = 60_000

/**
 * When this process last wrote the use of a session. A session that is cached keeps the time of its lookup: by that alone, each of its
 * requests within the cache's time would write.
 */
export class RecentUses {
  /** Oldest first. */
  private readonly writtenAt = new Map<SessionId, number>()

  /** Whether the use at `nowMillis` is to be written; the same use is not due again, even when its write fails. */
  isDue({ id, seenAt }: { readonly id: SessionId; readonly seenAt: Date }, nowMillis: number): boolean {
    this.forget(nowMillis - writeEveryMillis)
    if (this.writtenAt.has(id) || nowMillis - seenAt.getTime() < writeEveryMillis) return false
    this.writtenAt.set(id, nowMillis)
    return true
  }

  private forget(untilMillis: number): void {
    for (const [id, at] of this.writtenAt) {
      if (at > untilMillis) return
      this.writtenAt.delete(id)
    }
  }
}
