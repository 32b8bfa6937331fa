import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { CallerShape } from "../domain/Caller.ts"
import { InsufficientFunds, StoreUnavailable } from "../domain/GatewayError.ts"
import type { RequestId } from "../domain/Ids.ts"
import { type MicroUsd, microUsd, zero } from "../domain/Money.ts"
import type { Hold, HoldOption, Settlement } from "../ledger/Hold.ts"
import { Ledger, type LedgerShape } from "../ledger/Ledger.ts"
import { type ScopeState, Scopes, type ScopesShape } from "../ledger/Scopes.ts"

/** A call as the books know it, in the order of admission. */
export interface BookedCall {
  readonly callId: RequestId
  readonly caller: CallerShape
  readonly amount: MicroUsd
  readonly state: Settlement["state"] | "held" | "expired"
  /** What the customer pays. */
  readonly charged: MicroUsd
  /** What the house pays: the part above the hold, or all of a call that ended after its hold had expired. */
  readonly house: MicroUsd
  readonly settlement: Settlement | null
}

export interface MemoryLedgerShape {
  readonly calls: () => ReadonlyArray<BookedCall>
  /** Ends every open hold as a crash would have: nothing is charged. */
  readonly expireAll: () => void
}

export interface MemoryLedgerOptions {
  /** Scopes that were never opened: accounts then start with this credit, projects and keys without a limit. */
  readonly openOnUse?: { readonly creditMicroUsd: number }
}

/**
 * The ledger in memory, with the same decisions as the one in the database, at once and without a thread or a timer: for
 * tests, simulations and programs that keep no books. `calls` shows what was booked.
 */
export class MemoryLedger extends Context.Tag("gateway/testing/MemoryLedger")<MemoryLedger, MemoryLedgerShape>() {
  static readonly layer: Layer.Layer<Ledger | Scopes | MemoryLedger> = Layer.suspend(() => layerOf({}))

  /** Every account has this much, and nothing needs to be opened. */
  static readonly layerFunded = (creditMicroUsd: number): Layer.Layer<Ledger | Scopes | MemoryLedger> =>
    layerOf({ openOnUse: { creditMicroUsd } })
}

const layerOf = (options: MemoryLedgerOptions): Layer.Layer<Ledger | Scopes | MemoryLedger> =>
  Layer.effectContext(
    Effect.sync(() => {
      const books = new Books(options)
      return Context.make(Ledger, ledgerOf(books)).pipe(
        Context.add(Scopes, scopesOf(books)),
        Context.add(MemoryLedger, { calls: () => books.calls(), expireAll: () => books.expireAll() })
      )
    })
  )

const ledgerOf = (books: Books): LedgerShape => ({
  reserve: ({ callId, caller, options }) => Effect.suspend(() => books.reserve(callId, caller, options)),
  extend: (hold, option) => Effect.suspend(() => books.extend(hold, option)),
  settle: (hold, settlement) => Effect.sync(() => books.settle(hold, settlement)),
  flushed: Effect.void,
  balance: (account) =>
    Effect.sync(() => {
      const scope = books.scope(account, "account")
      return {
        creditMicroUsd: scope.limitMicroUsd ?? 0,
        spentMicroUsd: scope.spentMicroUsd,
        heldMicroUsd: scope.heldMicroUsd
      }
    }),
  audit: Effect.sync(() => books.audit())
})

const scopesOf = (books: Books): ScopesShape => ({
  open: (kind: ScopeState["kind"], id: string, limitMicroUsd: number | null) =>
    Effect.sync(() => books.open(kind, id, limitMicroUsd)),
  setLimit: (id, limitMicroUsd) => Effect.sync(() => books.setLimit(id, limitMicroUsd)),
  credit: (account, amountMicroUsd, source) => Effect.sync(() => books.credit(account, amountMicroUsd, source)),
  read: (id) => Effect.sync(() => books.read(id))
})

type Mutable<A> = { -readonly [K in keyof A]: A[K] }
type Granted = Effect.Effect<Hold, InsufficientFunds | StoreUnavailable>

class Books {
  private readonly options: MemoryLedgerOptions
  private readonly scopes = new Map<string, Mutable<ScopeState>>()
  private readonly holds = new Map<string, Mutable<BookedCall>>()
  private readonly credits = new Set<string>()

  constructor(options: MemoryLedgerOptions) {
    this.options = options
  }

  calls(): ReadonlyArray<BookedCall> {
    return [...this.holds.values()].map((call) => ({ ...call }))
  }

  open(kind: ScopeState["kind"], id: string, limitMicroUsd: number | null): void {
    if (this.scopes.has(id)) return
    this.scopes.set(id, {
      kind,
      limitMicroUsd: kind === "account" ? 0 : limitMicroUsd,
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
    scope.limitMicroUsd = limitMicroUsd
  }

  credit(account: string, amountMicroUsd: number, source: string): boolean {
    const scope = this.scope(account, "account")
    const credit = `${account} ${source}`
    if (this.credits.has(credit)) return false
    this.credits.add(credit)
    scope.limitMicroUsd = (scope.limitMicroUsd ?? 0) + microUsd(amountMicroUsd)
    return true
  }

  reserve(callId: RequestId, caller: CallerShape, options: ReadonlyArray<HoldOption>): Granted {
    if (this.holds.has(callId)) throw new Error(`a hold for ${callId} exists`)
    const scopes = this.scopesOf(caller)
    const room = roomIn(scopes, 0)
    const option = options.findIndex(({ least }) => least <= room)
    const granted = options[option]
    if (granted === undefined) return refusal(scopes, 0, options)
    const amount = microUsd(Math.min(granted.full, room))
    for (const scope of scopes) scope.heldMicroUsd += amount
    this.holds.set(callId, { callId, caller, amount, state: "held", charged: zero, house: zero, settlement: null })
    return Effect.succeed({ callId, caller, option, amount })
  }

  extend(hold: Hold, option: HoldOption): Granted {
    const booked = this.holds.get(hold.callId)
    if (booked?.state !== "held") {
      return Effect.fail(new StoreUnavailable({ cause: `the hold of ${hold.callId} is no longer open` }))
    }
    const scopes = this.scopesOf(hold.caller)
    const room = roomIn(scopes, booked.amount)
    if (option.least > room && option.full > booked.amount) return refusal(scopes, booked.amount, [option])
    const amount = microUsd(Math.max(booked.amount, Math.min(option.full, room)))
    for (const scope of scopes) scope.heldMicroUsd += amount - booked.amount
    booked.amount = amount
    return Effect.succeed({ ...hold, amount })
  }

  settle(hold: Hold, settlement: Settlement): void {
    const booked = this.holds.get(hold.callId)
    if (booked === undefined) return
    const actual = settlement.state === "void" ? zero : settlement.actual
    if (booked.state === "expired" && booked.settlement === null) {
      booked.settlement = settlement
      if (hold.caller.billingMode === "managed") booked.house = actual
    }
    if (booked.state !== "held") return
    booked.charged = microUsd(Math.min(actual, booked.amount))
    if (hold.caller.billingMode === "managed") booked.house = microUsd(actual - booked.charged)
    this.close(booked, settlement.state)
    booked.settlement = settlement
  }

  expireAll(): void {
    for (const booked of this.holds.values()) if (booked.state === "held") this.close(booked, "expired")
  }

  audit(): ReadonlyArray<string> {
    const sums = new Map<ScopeState, { held: number; spent: number }>()
    for (const booked of this.holds.values()) {
      for (const scope of this.scopesOf(booked.caller)) {
        const sum = sums.get(scope) ?? { held: 0, spent: 0 }
        if (booked.state === "held") sum.held += booked.amount
        sum.spent += booked.charged
        sums.set(scope, sum)
      }
    }
    const wrong: Array<string> = []
    for (const [id, scope] of this.scopes) {
      const { held, spent } = sums.get(scope) ?? { held: 0, spent: 0 }
      if (held !== scope.heldMicroUsd || spent !== scope.spentMicroUsd) wrong.push(`the sums of scope ${id} are wrong`)
      if (scope.kind === "account" && held + spent > (scope.limitMicroUsd ?? 0)) wrong.push(`${id} is overdrawn`)
    }
    return wrong
  }

  private close(booked: Mutable<BookedCall>, state: BookedCall["state"]): void {
    for (const scope of this.scopesOf(booked.caller)) {
      scope.heldMicroUsd -= booked.amount
      scope.spentMicroUsd += booked.charged
    }
    booked.state = state
  }

  private scopesOf(caller: CallerShape): ReadonlyArray<Mutable<ScopeState>> {
    const own = [this.scope(caller.projectId, "project"), this.scope(caller.keyId, "key")]
    return caller.billingMode === "managed" ? [this.scope(caller.accountId, "account"), ...own] : own
  }
}

/** What every scope has left, when `released` is given back first. */
const roomIn = (scopes: ReadonlyArray<ScopeState>, released: number): number =>
  Math.min(...scopes.map((scope) => unspent(scope) - scope.heldMicroUsd + released))

const unspent = (scope: ScopeState): number => (scope.limitMicroUsd ?? Number.POSITIVE_INFINITY) - scope.spentMicroUsd

const severity = ["exhausted", "too_large", "held"] as const

/** Names the scope that is furthest from granting even the smallest option. */
const refusal = (scopes: ReadonlyArray<ScopeState>, released: number, options: ReadonlyArray<HoldOption>): Granted => {
  const lowest = Math.min(...options.map((option) => option.least))
  const short = scopes
    .filter((scope) => unspent(scope) - scope.heldMicroUsd + released < lowest)
    .map((scope) => ({ scope: scope.kind, reason: reasonOf(scope, lowest) }))
  for (const reason of severity) {
    const found = short.find((other) => other.reason === reason)
    if (found !== undefined) return Effect.fail(new InsufficientFunds(found))
  }
  throw new Error("a refusal without a scope that refuses")
}

const reasonOf = (scope: ScopeState, lowest: number): InsufficientFunds["reason"] =>
  unspent(scope) <= 0 ? "exhausted" : unspent(scope) < lowest ? "too_large" : "held"
