import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AuditStore } from "../audit/AuditStore.ts"
import { type BrokenRow, verify } from "../audit/AuditVerification.ts"
import type * as Settings from "../config/Settings.ts"
import { IdGenerator } from "../domain/IdGenerator.ts"
import { Timers } from "../domain/Timers.ts"
import { AccountTransactions } from "../sql/AccountDatabase.ts"
import { ChangeNotifications } from "../sql/ChangeNotifications.ts"
import * as ExistingDatabase from "./command/ExistingDatabase.ts"

/** A row of the audit log is not as it was written; the message names the first one of each account. */
export class AuditLogBroken extends Data.TaggedError("AuditLogBroken")<{ readonly broken: ReadonlyArray<BrokenRow> }> {
  override get message(): string {
    return this.broken.map(line).join("\n")
  }
}

const line = ({ accountId, id, position, reason }: BrokenRow): string =>
  `the audit log of account ${accountId} is broken at position ${position}${id === null ? "" : ` (row ${id})`}: ${reason}`

/**
 * Checks the audit log of every account in the database of the settings. The embedded database is open in one process only: the
 * service must be stopped.
 */
export const run = (settings: Pick<Settings.Settings, "databaseUrl" | "dataDirectory">) =>
  Effect.gen(function* () {
    yield* ExistingDatabase.required(settings)
    return yield* Effect.provide(verified, storeOf(settings))
  })

const verified = Effect.gen(function* () {
  const { accounts, broken, rows } = yield* verify
  if (broken.length > 0) return yield* new AuditLogBroken({ broken })
  yield* Console.log(`The audit logs are complete and unchanged: ${rows} rows of ${accounts} accounts.`)
})

const storeOf = (settings: Pick<Settings.Settings, "databaseUrl" | "dataDirectory">) =>
  AuditStore.layer.pipe(
    Layer.provide(AccountTransactions.layer),
    Layer.provide(ChangeNotifications.layer),
    Layer.provide(ExistingDatabase.layer(settings)),
    Layer.provide(IdGenerator.layer),
    Layer.provide(Timers.layer)
  )
