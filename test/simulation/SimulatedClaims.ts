import type { Claim, Found, IdempotentRun } from "../../src/calls/IdempotencyStore.ts"
import type { SealedAnswer } from "../../src/ledger/Hold.ts"
import type { LedgerCall } from "../../src/testing/doubles/MemoryLedger.ts"

interface ClaimRow {
  readonly claim: Claim
  readonly nodeId: string
  readonly claimedAtMillis: number
  /** Of the finished run. */
  readonly kept: SealedAnswer | undefined
}

/** What claims are decided by. */
export interface ClaimsContext {
  readonly nowMillis: () => number
  readonly call: (callId: string) => LedgerCall | undefined
  /** Its node was not heard for so long that it counts as dead. */
  readonly isDead: (nodeId: string) => boolean
  /** No hold of this call can be made any more. */
  readonly bury: (callId: string) => void
}

/** A claim may be on its way to the database for so long. */
const settleMillis = 30_000

/** The rows of idempotent requests, with the decisions of `idempotency_claim` and `idempotency_keep`. */
export class SimulatedClaims {
  private readonly rows = new Map<string, ClaimRow>()
  private readonly context: ClaimsContext

  constructor(context: ClaimsContext) {
    this.context = context
  }

  claim(nodeId: string, claim: Claim): Found | undefined {
    const found = this.rows.get(nameOf(claim))
    if (found !== undefined && !this.isFree(found)) {
      const { requestHash } = found.claim
      return found.kept === undefined
        ? { state: "running", requestHash }
        : { state: "finished", requestHash, ...found.kept }
    }
    this.rows.set(nameOf(claim), {
      claim,
      nodeId,
      claimedAtMillis: this.context.nowMillis(),
      kept: undefined
    })
    return undefined
  }

  /** With the settlement of its call, once that is applied. */
  keep(callId: string, kept: SealedAnswer): void {
    const row = this.rows.get(nameOf(kept))
    const state = this.context.call(callId)?.state
    if (row?.claim.runId !== callId || row.kept !== undefined || state === undefined) return
    if (state !== "held" && state !== "expired") this.rows.set(nameOf(kept), { ...row, kept })
  }

  release(run: IdempotentRun): void {
    const row = this.rows.get(nameOf(run))
    if (row?.claim.runId === run.runId && row.kept === undefined) this.rows.delete(nameOf(run))
  }

  releaseLost(nodeId: string, running: ReadonlyArray<string>): void {
    const before = this.context.nowMillis() - settleMillis
    for (const [name, row] of this.rows) {
      const { runId } = row.claim
      const isOwn = row.nodeId === nodeId && row.kept === undefined && row.claimedAtMillis < before
      if (isOwn && !running.includes(runId) && this.context.call(runId)?.state !== "held") this.rows.delete(name)
    }
  }

  private isFree({ claim, kept, nodeId }: ClaimRow): boolean {
    if (kept !== undefined) return false
    const state = this.context.call(claim.runId)?.state
    if (state === "expired") return true
    if (!this.context.isDead(nodeId)) return false
    if (state === undefined) this.context.bury(claim.runId)
    return state !== "held"
  }
}

const nameOf = ({ idempotencyKey, keyId }: Pick<IdempotentRun, "idempotencyKey" | "keyId">): string =>
  `${keyId} ${idempotencyKey}`
