import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { AccountId, KeyId, ProjectId } from "../domain/Ids.ts"
import { type MicroUsd, microUsd } from "../domain/Money.ts"

/** The money of one account, project or key. */
export interface ScopeState {
  /** Of what. */
  readonly kind: "account" | "project" | "key"
  /** `null` is no limit; for an account it is the sum of its credits. */
  readonly limitMicroUsd: number | null
  /** What ended calls have cost. */
  readonly spentMicroUsd: number
  /** What running calls hold. */
  readonly heldMicroUsd: number
}

/**
 * Opens scopes, and raises and reads them. Amounts are whole micro-USD below 2^53, a credit is above zero: another one is a defect, and
 * changes nothing.
 */
export interface ScopesShape {
  /** Creates the scope of a new account, project or key; an existing one is not changed. An account starts without credit. */
  readonly open: {
    (kind: "account", id: AccountId, limitMicroUsd: null): Effect.Effect<void, StoreUnavailable>
    (kind: "project", id: ProjectId, limitMicroUsd: number | null): Effect.Effect<void, StoreUnavailable>
    (kind: "key", id: KeyId, limitMicroUsd: number | null): Effect.Effect<void, StoreUnavailable>
  }
  /** May be lower than what is spent: then nothing new is granted. */
  readonly setLimit: (id: ProjectId | KeyId, limitMicroUsd: number | null) => Effect.Effect<void, StoreUnavailable>
  /**
   * Adds to an account's balance. `source` identifies the payment or gift; the same source credits an account once. True if
   * it was credited by this call. The journal keeps the note.
   */
  readonly credit: (
    account: AccountId,
    amountMicroUsd: number,
    source: string,
    note?: string
  ) => Effect.Effect<boolean, StoreUnavailable>
  /** None for an id that has no scope. */
  readonly read: (id: AccountId | ProjectId | KeyId) => Effect.Effect<Option.Option<ScopeState>, StoreUnavailable>
}

/** Balances and limits that bound spending. */
export class Scopes extends Context.Tag("gateway/ledger/Scopes")<Scopes, ScopesShape>() {}

/** A larger limit could be written, but not read again. */
export const limitOf = (limitMicroUsd: number | null): MicroUsd | null =>
  limitMicroUsd === null ? null : microUsd(limitMicroUsd)

/** The same of a credit, which the journal keeps. */
export const creditOf = (amountMicroUsd: number): MicroUsd => {
  if (amountMicroUsd === 0) throw new RangeError("a credit of nothing")
  return microUsd(amountMicroUsd)
}
