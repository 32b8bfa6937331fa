import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { CallerShape } from "../../src/domain/Caller.ts"
import { InsufficientFunds, type StoreUnavailable } from "../../src/domain/GatewayError.ts"
import type { AccountId } from "../../src/domain/Ids.ts"
import { microUsd, zero } from "../../src/domain/Money.ts"
import type { TimersShape } from "../../src/domain/Timers.ts"
import { type Hold, scopeIdsOf } from "../../src/ledger/Hold.ts"
import type { BatchReservation, BatchSettlement, ReservationResult } from "../../src/ledger/LedgerStore.ts"
import { type LedgerCall, MemoryState } from "../../src/ledger/memory/MemoryState.ts"
import { SimulatedClaims } from "./SimulatedClaims.ts"

interface HoldRow {
  readonly hold: Hold
  readonly nodeId: string
  readonly createdAtMillis: number
}

interface NodeRow {
  seenAtMillis: number
  /** Since when it has been heard without a gap as long as the silence that counts as death. */
  heardSinceMillis: number
}

export interface Expiry {
  readonly callId: string
  readonly nodeId: string
  readonly atMillis: number
}

/** A process without a sign of life for so long counts as dead. */
export const silenceMillis = 60_000
/** A process that was not heard for so long may have missed what others did, and judges nobody for a while. */
const gapMillis = 15_000

/**
 * The database that all simulated nodes share: the decisions of the ledger in memory, and what only the stored ledger has, the
 * nodes with their signs of life and the holds that fall with them. Every method is one transaction.
 */
export class SimulatedDatabase {
  isUp = true
  /** Notified of each call that is finally refused, before anything else happens. */
  onRefusal: (callId: string) => void = () => {}
  readonly claims = new SimulatedClaims({
    nowMillis: () => this.nowMillis(),
    call: (callId) => this.call(callId),
    isDead: (nodeId) => this.isSilent(nodeId),
    bury: (callId) => void this.buried.add(callId)
  })
  readonly expired: Array<Expiry> = []
  /** Violated invariants, each with its time. */
  readonly violations: Array<string> = []
  private readonly nowMillis: () => number
  /** Calls whose hold can never be made any more. */
  private readonly buried = new Set<string>()
  private readonly state: MemoryState
  private readonly holds = new Map<string, HoldRow>()
  private readonly nodes = new Map<string, NodeRow>()

  constructor(timers: TimersShape) {
    this.nowMillis = timers.now
    this.state = new MemoryState({ timers })
  }

  open(
    caller: CallerShape,
    limits: { readonly credit: number; readonly project: number | null; readonly key: number | null }
  ): void {
    this.state.open("account", caller.accountId, null)
    this.state.open("project", caller.projectId, limits.project)
    this.state.open("key", caller.keyId, limits.key)
    this.state.credit(caller.accountId, limits.credit, "opening balance")
  }

  /** Puts money into an account, as a customer does whose balance goes down. */
  credit(accountId: AccountId, amountMicroUsd: number, source: string): void {
    this.state.credit(accountId, amountMicroUsd, source)
  }

  apply(
    nodeId: string,
    reservations: ReadonlyArray<BatchReservation>,
    settlements: ReadonlyArray<BatchSettlement>
  ): ReadonlyArray<ReservationResult> {
    this.beat(nodeId)
    for (const settlement of settlements) this.settle(settlement)
    const refusing = new Set<string>()
    const results = reservations.map((reservation) => this.reserve(nodeId, reservation, refusing))
    for (const { caller } of [...reservations, ...settlements]) this.checkScopes(caller)
    return results
  }

  beat(nodeId: string): void {
    const now = this.nowMillis()
    const node = this.nodes.get(nodeId)
    if (node === undefined) {
      this.nodes.set(nodeId, { seenAtMillis: now, heardSinceMillis: now })
      return
    }
    if (now - node.seenAtMillis >= gapMillis) node.heardSinceMillis = now
    node.seenAtMillis = now
  }

  /** Expires the holds of silent nodes, as far as the asking node can tell silence from its own absence. */
  sweep(askedBy: string, maxCallMillis: number): number {
    const now = this.nowMillis()
    const asking = this.nodes.get(askedBy)
    const canJudge = asking !== undefined && now - asking.heardSinceMillis >= silenceMillis
    let count = 0
    for (const [callId, row] of this.holds) {
      const isSilent = canJudge && this.isSilent(row.nodeId)
      if (!isSilent && now - row.createdAtMillis < maxCallMillis) continue
      this.state.expire(row.hold.callId)
      this.holds.delete(callId)
      this.expired.push({ callId, nodeId: row.nodeId, atMillis: now })
      count++
    }
    return count
  }

  private isSilent(nodeId: string): boolean {
    const node = this.nodes.get(nodeId)
    return node === undefined || this.nowMillis() - node.seenAtMillis >= silenceMillis
  }

  /** The limits of a caller's scopes, and what is spent of them. */
  scopes(caller: CallerShape): ReadonlyArray<{ readonly id: string; readonly limit: number; readonly spent: number }> {
    return scopeIdsOf(caller).map((id) => {
      const { limitMicroUsd, spentMicroUsd } = Option.getOrThrow(this.state.read(id))
      return { id, limit: limitMicroUsd ?? Number.POSITIVE_INFINITY, spent: spentMicroUsd }
    })
  }

  openHolds(): ReadonlyArray<LedgerCall> {
    return [...this.holds.keys()].flatMap((callId) => this.call(callId) ?? [])
  }

  call(callId: string): LedgerCall | undefined {
    return this.state.call(callId)
  }

  calls(): ReadonlyArray<LedgerCall> {
    return this.state.calls()
  }

  /** Every invariant over all rows. */
  check(): void {
    for (const violation of this.state.violations()) this.violated(violation)
  }

  private settle({ actual, callId, kept, record, state }: BatchSettlement): void {
    const row = this.holds.get(callId)
    if (row === undefined && this.state.call(callId) === undefined) {
      // a hold that is committed after this was given up for lost
      if (state === "void") this.buried.add(callId)
      return
    }
    this.state.settle(callId, { state, actual, record })
    this.holds.delete(callId)
    if (kept !== undefined) this.claims.keep(callId, kept)
  }

  /** `refusing`: the scopes that have refused an earlier one of the batch that waits for held money. */
  private reserve(nodeId: string, reservation: BatchReservation, refusing: Set<string>): ReservationResult {
    const { callId, caller, maxWaitMillis, options } = reservation
    const row = this.holds.get(callId)
    if (reservation.extends) {
      if (row === undefined) return { _tag: "InvariantBroken", invariant: "closed" }
      return extended(this.state.extend(row.hold, options[0]))
    }
    if (this.state.call(callId) !== undefined || this.buried.has(callId)) {
      return { _tag: "InvariantBroken", invariant: "duplicate" }
    }
    const scopes = [caller.accountId, caller.projectId, caller.keyId]
    if (maxWaitMillis > 0 && scopes.some((scope) => refusing.has(scope))) return behindOthers
    const decision = this.state.decide(reservation)
    if (decision instanceof InsufficientFunds) {
      if (maxWaitMillis > 0 && decision.reason === "held") {
        refusing.add({ account: caller.accountId, project: caller.projectId, key: caller.keyId }[decision.scope])
      }
      if (maxWaitMillis === 0) this.onRefusal(callId)
      return refused(decision)
    }
    this.holds.set(callId, { hold: decision, nodeId, createdAtMillis: this.nowMillis() })
    return granted(decision)
  }

  private checkScopes(caller: CallerShape): void {
    for (const id of [caller.accountId, caller.projectId, caller.keyId]) {
      if (id === caller.accountId && caller.billingMode === "byok") continue
      const { heldMicroUsd, limitMicroUsd, spentMicroUsd } = Option.getOrThrow(this.state.read(id))
      if (heldMicroUsd < 0) this.violated(`the scope ${id} holds ${heldMicroUsd}`)
      if (limitMicroUsd !== null && heldMicroUsd + spentMicroUsd > limitMicroUsd) {
        this.violated(`the scope ${id} holds ${heldMicroUsd} and has spent ${spentMicroUsd} of ${limitMicroUsd}`)
      }
    }
  }

  private violated(what: string): void {
    this.violations.push(`${what} (at ${this.nowMillis()})`)
  }
}

const granted = ({ amount, option, room }: Hold): ReservationResult => ({ _tag: "Granted", amount, option, room })

const refused = (error: InsufficientFunds): ReservationResult => ({
  _tag: "Insufficient",
  scope: error.scope,
  reason: error.reason,
  needed: microUsd(error.neededMicroUsd),
  available: microUsd(error.availableMicroUsd),
  held: microUsd(error.heldMicroUsd)
})

const behindOthers: ReservationResult = {
  _tag: "Insufficient",
  scope: "account",
  reason: "held",
  needed: zero,
  available: zero,
  held: zero
}

const extended = (hold: Effect.Effect<Hold, InsufficientFunds | StoreUnavailable>): ReservationResult =>
  Effect.runSync(
    Effect.match(hold, {
      onSuccess: granted,
      onFailure: (error) =>
        error._tag === "InsufficientFunds" ? refused(error) : { _tag: "InvariantBroken", invariant: "closed" }
    })
  )
