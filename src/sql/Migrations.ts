import * as Migrator from "@effect/sql/Migrator"
import { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { identity } from "./migrations/0001_identity.ts"
import { ledger } from "./migrations/0002_ledger.ts"
import { idempotency } from "./migrations/0003_idempotency.ts"
import { openHoldsIndex } from "./migrations/0004_open_holds.ts"
import { batchesAndHeartbeats } from "./migrations/0005_ledger_batch.ts"
import { idempotentClaims } from "./migrations/0006_idempotent_claims.ts"
import { rateLimitTables } from "./migrations/0007_rate_limits.ts"
import { growthAndChecks } from "./migrations/0008_growth.ts"
import { callPrices } from "./migrations/0009_call_prices.ts"
import { accountTables } from "./migrations/0010_account.ts"
import { activityAndRetention } from "./migrations/0011_activity.ts"
import { billing } from "./migrations/0012_billing.ts"
import { keysAndVersions } from "./migrations/0013_keys.ts"
import { memberTables } from "./migrations/0014_members.ts"
import { alertTables } from "./migrations/0015_alerts.ts"
import { erasedSecrets } from "./migrations/0016_erased_secrets.ts"
import { callFeatures } from "./migrations/0018_call_features.ts"
import { personKeysTable } from "./migrations/0019_person_keys.ts"
import { messagesEndpoint } from "./migrations/0020_endpoints.ts"
import { capture } from "./migrations/0021_capture.ts"
import { analysisTables } from "./migrations/0024_analyses.ts"
import { evidenceTables } from "./migrations/0026_evidence.ts"
import { replayTables } from "./migrations/0027_replay.ts"
import { conversationTables } from "./migrations/0028_conversations.ts"
import { callDecisions } from "./migrations/0030_call_decisions.ts"
import { decisions } from "./migrations/0032_decisions.ts"
import { exploration } from "./migrations/0033_exploration.ts"
import { conversationOrigin } from "./migrations/0035_conversation_origin.ts"
import { analysisChanges } from "./migrations/0036_analysis_changes.ts"
import { analysisReplay } from "./migrations/0037_analysis_replay.ts"
import { experimentTable } from "./migrations/0039_experiments.ts"
import { longHolds } from "./migrations/0040_long_holds.ts"
import { modelNumbers } from "./migrations/0041_model_numbers.ts"
import { storedBytesOfPeople } from "./migrations/0042_stored_bytes.ts"
import { refundTable } from "./migrations/0043_refunds.ts"
import { endedSignInRows } from "./migrations/0044_ended_sign_ins.ts"
import { sessionLinkColumn } from "./migrations/0045_session_links.ts"
import { wideRateLimits } from "./migrations/0046_wide_rate_limits.ts"
import { announcedRows } from "./migrations/0047_announced_rows.ts"
import { erasedArtifacts } from "./migrations/0048_erased_artifacts.ts"
import { ledgerReserve } from "./migrations/0049_ledger_reserve.ts"
import { callAttempts } from "./migrations/0050_call_attempts.ts"
import { ledgerApply } from "./migrations/0051_ledger_apply.ts"
import { reservePeriods } from "./migrations/0052_reserve_periods.ts"
import { thresholdsSetAt } from "./migrations/0053_thresholds_set_at.ts"
import { changedRateLimits } from "./migrations/0054_changed_rate_limits.ts"
import { clockSetBack } from "./migrations/0055_clock_set_back.ts"
import { erasedArtifactCalls } from "./migrations/0056_erased_artifact_calls.ts"

export type MigrationError = Migrator.MigrationError

/** Applied in this order, each once, never changed afterwards; a new one is appended. */
export const migrations = {
  "0001_identity": identity,
  "0002_ledger": ledger,
  "0003_idempotency": idempotency,
  "0004_open_holds": openHoldsIndex,
  "0005_ledger_batch": batchesAndHeartbeats,
  "0006_idempotent_claims": idempotentClaims,
  "0007_rate_limits": rateLimitTables,
  "0008_growth": growthAndChecks,
  "0009_call_prices": callPrices,
  "0010_account": accountTables,
  "0011_activity": activityAndRetention,
  "0012_billing": billing,
  "0013_keys": keysAndVersions,
  "0014_members": memberTables,
  "0015_alerts": alertTables,
  "0016_erased_secrets": erasedSecrets,
  "0018_call_features": callFeatures,
  "0019_person_keys": personKeysTable,
  "0020_endpoints": messagesEndpoint,
  "0021_capture": capture,
  "0024_analyses": analysisTables,
  "0026_evidence": evidenceTables,
  "0027_replay": replayTables,
  "0028_conversations": conversationTables,
  "0030_call_decisions": callDecisions,
  "0032_decisions": decisions,
  "0033_exploration": exploration,
  "0035_conversation_origin": conversationOrigin,
  "0036_analysis_changes": analysisChanges,
  "0037_analysis_replay": analysisReplay,
  "0039_experiments": experimentTable,
  "0040_long_holds": longHolds,
  "0041_model_numbers": modelNumbers,
  "0042_stored_bytes": storedBytesOfPeople,
  "0043_refunds": refundTable,
  "0044_ended_sign_ins": endedSignInRows,
  "0045_session_links": sessionLinkColumn,
  "0046_wide_rate_limits": wideRateLimits,
  "0047_announced_rows": announcedRows,
  "0048_erased_artifacts": erasedArtifacts,
  "0049_ledger_reserve": ledgerReserve,
  "0050_call_attempts": callAttempts,
  "0051_ledger_apply": ledgerApply,
  "0052_reserve_periods": reservePeriods,
  "0053_thresholds_set_at": thresholdsSetAt,
  "0054_changed_rate_limits": changedRateLimits,
  "0055_clock_set_back": clockSetBack,
  "0056_erased_artifact_calls": erasedArtifactCalls
}

/** An arbitrary number, the same in every version of the gateway. */
const lockKey = 7_021_406

/** No other process migrates, or starts, until the transaction ends. */
export const lockMigrations: Effect.Effect<void, SqlError, SqlClient> = Effect.flatMap(SqlClient, (sql) =>
  Effect.asVoid(sql`select pg_advisory_xact_lock(${lockKey})`)
)

/** How long another process may take to migrate. */
const migratingMillis = 300_000
/** How long a migration waits for the lock of a table. */
const tableLockMillis = 5_000
/** How long the process may be held up between two migrations: a busy machine starts many at once. */
const idleMillis = 60_000

/**
 * Migrates the schema in one transaction, under a lock: processes that start at the same time wait and then find nothing to
 * do. A process that is killed meanwhile leaves the schema as it was.
 */
export const run: Effect.Effect<
  ReadonlyArray<readonly [id: number, name: string]>,
  MigrationError | SqlError,
  SqlClient
> = Effect.gen(function* () {
  const sql = yield* SqlClient
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`set local statement_timeout = 0`
      yield* sql.unsafe(`set local idle_in_transaction_session_timeout = ${idleMillis}`)
      yield* sql.unsafe(`set local lock_timeout = ${migratingMillis}`)
      yield* lockMigrations
      // what waits for a table makes everything else wait for it too
      yield* sql.unsafe(`set local lock_timeout = ${tableLockMillis}`)
      // The migrator detects the missing table by a failing statement, which would abort the transaction.
      yield* sql`create table if not exists migration (
        migration_id integer primary key,
        created_at timestamptz not null default now(),
        name text not null
      )`
      return yield* migrate
    })
  )
})

const migrate = Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: "migration" })

/** The schema of the database is not the one of this version. */
export class SchemaOutdated extends Data.TaggedError("SchemaOutdated")<{ readonly isEmpty: boolean }> {
  override get message(): string {
    return this.isEmpty
      ? "the database is empty: start the service once."
      : "the database has the schema of an earlier version: start the service of this version once."
  }
}

/** For what must not migrate. A later version's schema is taken, as by a service beside others that are newer. */
export const requireCurrent: Effect.Effect<void, SchemaOutdated | SqlError, SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient
  const [found] = yield* sql<{ readonly exists: boolean }>`select to_regclass('migration') is not null as exists`
  if (found?.exists !== true) return yield* new SchemaOutdated({ isEmpty: true })
  const [last] = yield* sql<{ readonly id: number | null }>`select max(migration_id) as id from migration`
  if ((last?.id ?? 0) < lastMigration) return yield* new SchemaOutdated({ isEmpty: false })
})

const lastMigration = Math.max(...Object.keys(migrations).map((name) => Number.parseInt(name, 10)))

/** What was applied, with the wait for another process that migrates; nothing where there was nothing to do. */
const logged = Effect.gen(function* () {
  const [took, applied] = yield* Effect.timed(run)
  if (applied.length > 0) {
    yield* Effect.annotateLogs(Effect.logInfo("the database was migrated"), {
      migrations: applied.map(nameOf).join(" "),
      millis: Math.round(Duration.toMillis(took))
    })
  }
  const sql = yield* SqlClient
  const later = yield* sql<{
    readonly id: number
    readonly name: string
  }>`select migration_id as id, name from migration where migration_id > ${lastMigration} order by migration_id`
  if (later.length > 0) {
    yield* Effect.annotateLogs(
      Effect.logWarning(
        "the database has the schema of a later version, whose change log says whether this one may run on it"
      ),
      { migrations: later.map(({ id, name }) => nameOf([id, name])).join(" ") }
    )
  }
})

const nameOf = ([id, name]: readonly [id: number, name: string]): string => `${String(id).padStart(4, "0")}_${name}`

/**
 * A rejected migration is a defect to the migrator, and so is a transaction whose connection is lost, because it cannot be rolled back;
 * here both are errors, since the operator may be able to do something.
 */
export const layer = (isLogged: boolean): Layer.Layer<never, MigrationError | SqlError, SqlClient> =>
  Layer.effectDiscard(
    Effect.catchSomeDefect(isLogged ? logged : Effect.asVoid(run), (defect) =>
      defect instanceof Migrator.MigrationError || defect instanceof SqlError
        ? Option.some(Effect.fail(defect))
        : Option.none()
    )
  )
