import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { AccountId, KeyId, ProjectId } from "../../domain/Ids.ts"
import type { AdminProjectOut } from "../../wire/account/Admin.ts"
import type { BalanceOut } from "../../wire/account/Billing.ts"
import type { ApiKeyOut, CreateApiKeyResponse } from "../../wire/account/Keys.ts"

/** The command could not do what it was asked for; the message says why. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{ readonly message: string }> {}

/** The account and the project of the first start, which commands use where none is named. */
export interface Defaults {
  readonly accountId: AccountId
  readonly projectId: ProjectId | null
}

export interface OperationsShape {
  readonly defaults: Effect.Effect<Defaults, CommandFailed>
  /** Of all accounts, newest first. */
  readonly projects: Effect.Effect<ReadonlyArray<AdminProjectOut>, CommandFailed>
  readonly createKey: (
    project: ProjectId,
    key: { readonly name: string; readonly limitMicroUsd: number | null }
  ) => Effect.Effect<CreateApiKeyResponse, CommandFailed>
  /** Newest first. */
  readonly keys: (project: ProjectId) => Effect.Effect<ReadonlyArray<ApiKeyOut>, CommandFailed>
  readonly revokeKey: (key: KeyId) => Effect.Effect<ApiKeyOut, CommandFailed>
  readonly credit: (
    account: AccountId,
    amountMicroUsd: number,
    note: string
  ) => Effect.Effect<typeof BalanceOut.Type, CommandFailed>
  readonly balance: (account: AccountId) => Effect.Effect<typeof BalanceOut.Type, CommandFailed>
}

/**
 * The operations of the command, by the programs of the account API: those of a running service that has the embedded database
 * open, or in this process on the database itself.
 */
export class Operations extends Context.Tag("gateway/app/command/Operations")<Operations, OperationsShape>() {}

/** Rows that a list is read in. */
export const rowsAtOnce = 100
