import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { CallRecord } from "../../domain/Call.ts"
import type { CallerShape } from "../../domain/Caller.ts"
import { InsufficientFunds, StoreUnavailable } from "../../domain/GatewayError.ts"
import type { RequestId } from "../../domain/Ids.ts"
import { type MicroUsd, microUsd, zero } from "../../domain/Money.ts"
import type { Cancel, TimersShape } from "../../domain/Timers.ts"
import { HeldQueue, scopeIdOf } from "../batcher/HeldQueue.ts"
import {
  allOptions,
  grantedAmount,
  type Hold,
  type HoldOption,
  maxHeldWaitMillis,
  type Reservation,
  type Settlement,
  scopeIdsOf
} from "../Hold.ts"
import { limitOf, type ScopeState } from "../Scopes.ts"

/** A call as the ledger records it, in the order of admission. */
export interface LedgerCall {
  /** One hold per call. */
  readonly callId: RequestId
  /** Whose money it is. */
  readonly caller: CallerShape
  /** What is, or was, held. */
  readonly amount: MicroUsd
  /** `held` while it runs. */
  readonly state: Settlement["state"] | "held" | "expired"
  /** The amount charged to the customer. */
  readonly charged: MicroUsd
  /**
   * The amount written off: the part above the hold, or all of a call that ended after its hold had expired, and what failed
   * attempts cost at their providers.
   */
  readonly absorbed: MicroUsd
  /** How it ended; `null` while it runs. */
  readonly settlement: Settlement | null
}

export interface MemoryOptions {
  /** For waits for held money. */
  readonly timers: TimersShape
  /** Scopes are opened on first use: accounts start with this credit, projects and keys without a limit. */
  readonly openOnUse?: { readonly creditMicroUsd: number }
  /** False: a call is forgotten once it has ended, so that memory does not grow with the number of calls. */
  readonly keepsCalls?: boolean
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }
type Granted = Effect.Effect<Hold, InsufficientFunds | StoreUnavailable>

/** A reservation that waits for held money. */
interface Waiting {
  readonly reservation: Reservation
  readonly resume: (granted: Granted) => void
  readonly cancel: Cancel
}

/** The ledger's rows and decisions, without the waiting for held money in `decide`. */
export class MemoryState {
  private readonly options: MemoryOptions
  private readonly scopes = new Map<string, Mutable<ScopeState>>()
  private readonly holds = new Map<string, Mutable<LedgerCall>>()
  private readonly credits = new Set<string>()
  private readonly held = new HeldQueue<Waiting>()
  /** What calls that are forgotten have spent, by scope. */
  private readonly forgotten = new Map<ScopeState, number>()
  private isRetrying = false

  constructor(options: MemoryOptions) {
    // what is no whole amount is refused here, and not by each call
    if (options.openOnUse !== undefined) microUsd(options.openOnUse.creditMicroUsd)
    this.options = options
  }

  calls(): ReadonlyArray<LedgerCall> {
    return [...this.holds.values()].map((call) => ({ ...call }))
  }

  call(callId: string): LedgerCall | undefined {
    return this.holds.get(callId)
  }

  expire(callId: string): void {
    const call = this.holds.get(callId)
    if (call?.state === "held") this.close(call, "expired")
  }

  open(kind: ScopeState["kind"], id: string, limitMicroUsd: number | null): void {
    if (this.scopes.has(id)) return
    this.scopes.set(id, {
      kind,
      limitMicroUsd: kind === "account" ? 0 : limitOf(limitMicroUsd),
      spentMicroUsd: 0,
      heldMicroUsd: 0
    })
  }

  read(id: string): Option.Option<ScopeState> {
    const scope = this.scopes.get(id)
    return scope === undefined ? Option.none() : Option.some({ ...scope })
  }

  scope(id: string, kind: ScopeState["kind"]): Mutable<ScopeState> {
    if (!this.scopes.has(id) && this.options.openOnUse !== undefined) {
      this.open(kind, id, null)
      if (kind === "account") this.credit(id, this.options.openOnUse.creditMicroUsd, "opened on use")
    }
    const scope = this.scopes.get(id)
    if (scope === undefined || scope.kind !== kind) throw new Error(`the ${kind} ${id} has no scope`)
    return scope
  }

  setLimit(id: string, limitMicroUsd: number | null): void {
    const scope = this.scopes.get(id)
    if (scope === undefined || scope.kind === "account") throw new Error(`no project or key has the scope ${id}`)
    scope.limitMicroUsd = limitOf(limitMicroUsd)
    this.retryHeld()
  }

  credit(account: string, amountMicroUsd: number, source: string): boolean {
    const scope = this.scope(account, "account")
    const credit = `${account} ${source}`
    const amount = microUsd(amountMicroUsd)
    if (this.credits.has(credit)) return false
    this.credits.add(credit)
    scope.limitMicroUsd = (scope.limitMicroUsd ?? 0) + amount
    this.retryHeld()
    return true
  }

  reserve(reservation: Reservation): Granted {
    const { caller, maxWaitMillis } = reservation
    if (maxWaitMillis <= 0) return fromDecision(this.decide(reservation))
    const blockedAt = this.held.blockedAt(caller)
    if (blockedAt !== undefined) return this.wait(reservation, blockedAt)
    const decision = this.decide(reservation)
    return isHeld(decision) ? this.wait(reservation, scopeIdOf(caller, decision)) : fromDecision(decision)
  }

  private wait(reservation: Reservation, scope: string): Granted {
    return Effect.async((resume) => {
      const waiting: Waiting = {
        reservation,
        resume,
        cancel: this.options.timers.after(Math.min(reservation.maxWaitMillis, maxHeldWaitMillis), () =>
          this.endWait(waiting, fromDecision(this.decide(reservation)))
        )
      }
      this.held.wait(waiting, reservation.caller, scope)
      reservation.onWaiting?.()
      this.retryHeld()
      return Effect.sync(() => this.endWait(waiting, Effect.interrupt))
    })
  }

  private endWait(waiting: Waiting, granted: Granted): void {
    waiting.cancel()
    this.held.remove(waiting)
    waiting.resume(granted)
    this.retryHeld()
  }

  /** Decides those that wait again, in their order at each scope. */
  private retryHeld(): void {
    if (this.isRetrying || this.held.size === 0) return
    this.isRetrying = true
    const refusing = new Set<string>()
    for (const waiting of this.held.all()) {
      const { caller } = waiting.reservation
      if (scopeIdsOf(caller).some((scope) => refusing.has(scope))) continue
      const decision = this.decide(waiting.reservation)
      if (isHeld(decision)) {
        const scope = scopeIdOf(caller, decision)
        refusing.add(scope)
        this.held.wait(waiting, caller, scope)
      } else this.endWait(waiting, fromDecision(decision))
    }
    this.isRetrying = false
  }

  decide(reservation: Omit<Reservation, "maxWaitMillis">): Hold | InsufficientFunds {
    const { callId, caller } = reservation
    if (this.holds.has(callId)) throw new Error(`a hold for ${callId} exists`)
    const scopes = this.scopesOf(caller)
    const room = roomIn(scopes)
    const fits = ({ min }: HoldOption): boolean => min <= room
    const options = reservation.options.some(fits) ? reservation.options : allOptions(reservation)
    const option = options.findIndex(fits)
    const granted = options[option]
    if (granted === undefined) return refusal(scopes, 0, options)
    const amount = grantedAmount(granted, room, 0)
    for (const scope of scopes) scope.heldMicroUsd += amount
    this.holds.set(callId, { callId, caller, amount, state: "held", charged: zero, absorbed: zero, settlement: null })
    return { callId, caller, option, amount, room: safeRoom(scopes) }
  }

  extend(hold: Hold, option: HoldOption): Granted {
    const call = this.holds.get(hold.callId)
    if (call?.state !== "held") {
      return Effect.fail(new StoreUnavailable({ cause: `the hold of ${hold.callId} is no longer open` }))
    }
    const scopes = this.scopesOf(hold.caller)
    const room = roomIn(scopes)
    if (option.min > call.amount && option.min - call.amount > room) {
      return Effect.fail(refusal(scopes, call.amount, [option]))
    }
    const amount = grantedAmount(option, room, call.amount)
    for (const scope of scopes) scope.heldMicroUsd += amount - call.amount
    call.amount = amount
    return Effect.succeed({ ...hold, amount, room: safeRoom(scopes) })
  }

  /** Without a record where the call was never told of its hold. */
  settle(callId: string, ended: Omit<Settlement, "record"> & { readonly record: CallRecord | null }): void {
    const { record, state } = ended
    const call = this.holds.get(callId)
    if (call === undefined) return
    const actual = state === "void" ? zero : ended.actual
    const settlement = record === null ? null : { ...ended, record }
    if (call.state === "expired" && call.settlement === null) {
      call.settlement = settlement
      if (call.caller.billingMode === "managed") call.absorbed = actual
    }
    if (call.state !== "held") return
    call.charged = microUsd(Math.min(actual, call.amount))
    if (call.caller.billingMode === "managed") {
      const failed = record?.failedUsage.reduce((sum, attempt) => sum + (attempt?.cost ?? 0), 0) ?? 0
      call.absorbed = microUsd(actual - call.charged + failed)
    }
    this.close(call, state)
    call.settlement = settlement
    this.retryHeld()
  }

  expireAll(): void {
    for (const call of this.holds.values()) if (call.state === "held") this.close(call, "expired")
    this.retryHeld()
  }

  violations(): ReadonlyArray<string> {
    const sums = new Map<ScopeState, { held: number; spent: number }>()
    for (const call of this.holds.values()) {
      for (const scope of this.scopesOf(call.caller)) {
        const sum = sums.get(scope) ?? { held: 0, spent: 0 }
        if (call.state === "held") sum.held += call.amount
        sum.spent += call.charged
        sums.set(scope, sum)
      }
    }
    const wrong: Array<string> = []
    for (const [id, scope] of this.scopes) {
      const { held, spent: remembered } = sums.get(scope) ?? { held: 0, spent: 0 }
      const spent = remembered + (this.forgotten.get(scope) ?? 0)
      if (held !== scope.heldMicroUsd || spent !== scope.spentMicroUsd) wrong.push(`the sums of scope ${id} are wrong`)
      if (scope.kind === "account" && held + spent > (scope.limitMicroUsd ?? 0)) wrong.push(`${id} is overdrawn`)
    }
    return wrong
  }

  private close(call: Mutable<LedgerCall>, state: LedgerCall["state"]): void {
    for (const scope of this.scopesOf(call.caller)) {
      scope.heldMicroUsd -= call.amount
      scope.spentMicroUsd += call.charged
    }
    call.state = state
    if (this.options.keepsCalls === false) this.forget(call)
  }

  private forget(call: LedgerCall): void {
    this.holds.delete(call.callId)
    for (const scope of this.scopesOf(call.caller)) {
      this.forgotten.set(scope, (this.forgotten.get(scope) ?? 0) + call.charged)
    }
  }

  private scopesOf(caller: CallerShape): ReadonlyArray<Mutable<ScopeState>> {
    const own = [this.scope(caller.projectId, "project"), this.scope(caller.keyId, "key")]
    return caller.billingMode === "managed" ? [this.scope(caller.accountId, "account"), ...own] : own
  }
}

/** What every scope has left. */
const roomIn = (scopes: ReadonlyArray<ScopeState>): number => Math.min(...scopes.map(roomOf))

const safeRoom = (scopes: ReadonlyArray<ScopeState>): MicroUsd =>
  microUsd(Math.max(0, Math.min(roomIn(scopes), Number.MAX_SAFE_INTEGER)))

const roomOf = (scope: ScopeState): number => unspent(scope) - scope.heldMicroUsd

const unspent = (scope: ScopeState): number => (scope.limitMicroUsd ?? Number.POSITIVE_INFINITY) - scope.spentMicroUsd

const severity = ["exhausted", "too_large", "held"] as const

const fromDecision = (decision: Hold | InsufficientFunds): Granted =>
  isRefusal(decision) ? Effect.fail(decision) : Effect.succeed(decision)

const isRefusal = (decision: Hold | InsufficientFunds): decision is InsufficientFunds => "reason" in decision

const isHeld = (decision: Hold | InsufficientFunds): decision is InsufficientFunds =>
  isRefusal(decision) && decision.reason === "held"

/** Names the scope that is furthest from granting even the smallest option, to a call that holds `base` already. */
const refusal = (
  scopes: ReadonlyArray<ScopeState>,
  base: number,
  options: ReadonlyArray<HoldOption>
): InsufficientFunds => {
  const lowest = Math.min(...options.map((option) => option.min))
  const short = scopes.filter((scope) => roomOf(scope) + base < lowest)
  for (const reason of severity) {
    const scope = short.find((other) => reasonOf(other, lowest) === reason)
    if (scope === undefined) continue
    return new InsufficientFunds({
      scope: scope.kind,
      reason,
      neededMicroUsd: lowest - base,
      availableMicroUsd: Math.max(0, roomOf(scope)),
      heldMicroUsd: scope.heldMicroUsd
    })
  }
  throw new Error("a refusal without a scope that refuses")
}

const reasonOf = (scope: ScopeState, lowest: number): InsufficientFunds["reason"] =>
  unspent(scope) <= 0 ? "exhausted" : unspent(scope) < lowest ? "too_large" : "held"
