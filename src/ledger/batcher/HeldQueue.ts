import type { CallerShape } from "../../domain/Caller.ts"
import { scopeIdsOf } from "../Hold.ts"
import type { Insufficient } from "../LedgerStore.ts"

/** What one statement decides again of those that wait at one scope; more only follow when all of these were granted. */
const maxPerScope = 16

interface Entry<A> {
  readonly waiting: A
  readonly caller: CallerShape
  /** The scope that has refused it, or at which an earlier one waits. */
  scope: string
  /** Its time is up: it is decided again, whether it is its turn or not. */
  isFinal: boolean
  /** Only some of its options have been refused: it is decided next, whether it is its turn or not. */
  isUndecided: boolean
}

/** The id of the caller's scope of this kind. */
export const scopeIdOf = (
  { accountId, keyId, projectId }: CallerShape,
  { scope }: Pick<Insufficient, "scope">
): string => (scope === "account" ? accountId : scope === "project" ? projectId : keyId)

/**
 * Reservations that wait for money which running calls hold, in arrival order. Where one waits at a scope, later ones of that
 * scope wait behind it: each of their holds would keep it waiting.
 */
export class HeldQueue<A extends object> {
  /** In arrival order. */
  private readonly entries = new Map<A, Entry<A>>()
  /** How many wait at each scope. */
  private readonly waitingAt = new Map<string, number>()
  /** Scopes where money may have returned. */
  private readonly dueScopes = new Set<string>()
  private finals = 0
  private undecided = 0

  get size(): number {
    return this.entries.size
  }

  /** Some are to be decided again. */
  get isDue(): boolean {
    return this.finals > 0 || this.undecided > 0 || this.dueScopes.size > 0
  }

  has(waiting: A): boolean {
    return this.entries.has(waiting)
  }

  /** The scope of this caller at which an earlier reservation waits. */
  blockedAt(caller: CallerShape): string | undefined {
    if (this.entries.size === 0) return undefined
    return scopeIdsOf(caller).find((scope) => this.waitingAt.has(scope))
  }

  /** Waits at this scope from now on, behind all that wait; one that waits already keeps its place. */
  wait(waiting: A, caller: CallerShape, scope: string): void {
    this.stay(waiting, caller, scope, false)
  }

  /** Keeps its place at this scope while it is decided next. */
  decideNext(waiting: A, caller: CallerShape, scope: string): void {
    this.stay(waiting, caller, scope, true)
    // earlier ones of the scope are decided before it
    this.released(caller)
  }

  /** Granted, finally refused, or given up. Those behind it are due. */
  remove(waiting: A): void {
    const entry = this.entries.get(waiting)
    if (entry === undefined) return
    this.entries.delete(waiting)
    if (entry.isFinal) this.finals -= 1
    if (entry.isUndecided) this.undecided -= 1
    this.leaveScope(entry.scope)
    if (this.waitingAt.has(entry.scope)) this.dueScopes.add(entry.scope)
  }

  /** A hold of this caller ends. */
  released(caller: CallerShape): void {
    if (this.entries.size === 0) return
    for (const scope of scopeIdsOf(caller)) if (this.waitingAt.has(scope)) this.dueScopes.add(scope)
  }

  /** Money may have returned anywhere. */
  allReleased(): void {
    for (const scope of this.waitingAt.keys()) this.dueScopes.add(scope)
  }

  expired(waiting: A): void {
    const entry = this.entries.get(waiting)
    if (entry === undefined || entry.isFinal) return
    entry.isFinal = true
    this.finals += 1
  }

  isFinal(waiting: A): boolean {
    return this.entries.get(waiting)?.isFinal === true
  }

  /** The next to be decided, in arrival order; they keep their places until they are removed. */
  take(max: number): ReadonlyArray<A> {
    if (!this.isDue) return []
    const taken: Array<A> = []
    const counts = new Map<string, number>()
    for (const { isFinal, isUndecided, scope, waiting } of this.entries.values()) {
      if (taken.length >= max) return taken
      const count = counts.get(scope) ?? 0
      if (!isFinal && !isUndecided && (count >= maxPerScope || !this.dueScopes.has(scope))) continue
      counts.set(scope, count + 1)
      taken.push(waiting)
    }
    this.dueScopes.clear()
    return taken
  }

  /** In arrival order. */
  all(): ReadonlyArray<A> {
    return [...this.entries.keys()]
  }

  /** Everything that waits leaves. */
  removeAll(): ReadonlyArray<A> {
    const all = this.all()
    this.entries.clear()
    this.waitingAt.clear()
    this.dueScopes.clear()
    this.finals = 0
    this.undecided = 0
    return all
  }

  private stay(waiting: A, caller: CallerShape, scope: string, isUndecided: boolean): void {
    const known = this.entries.get(waiting)
    if (known === undefined) this.entries.set(waiting, { waiting, caller, scope, isFinal: false, isUndecided })
    else {
      this.leaveScope(known.scope)
      if (known.isUndecided) this.undecided -= 1
      known.scope = scope
      known.isUndecided = isUndecided
    }
    if (isUndecided) this.undecided += 1
    this.waitingAt.set(scope, (this.waitingAt.get(scope) ?? 0) + 1)
  }

  private leaveScope(scope: string): void {
    const left = (this.waitingAt.get(scope) ?? 0) - 1
    if (left > 0) this.waitingAt.set(scope, left)
    else this.waitingAt.delete(scope)
  }
}
