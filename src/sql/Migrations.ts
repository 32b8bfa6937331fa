import * as Migrator from "@effect/sql/Migrator"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { identity } from "./migrations/0001_identity.ts"
import { ledger } from "./migrations/0002_ledger.ts"
import { idempotency } from "./migrations/0003_idempotency.ts"
import { openHoldsIndex } from "./migrations/0004_open_holds.ts"

export type MigrationError = Migrator.MigrationError

/** Applied in this order, each once, never changed afterwards; a new one is appended. */
export const migrations = {
  "0001_identity": identity,
  "0002_ledger": ledger,
  "0003_idempotency": idempotency,
  "0004_open_holds": openHoldsIndex
}

/** Any number will do, as long as every version of the gateway takes the same. */
const lockKey = 7_021_406

/**
 * Brings the schema up to date in one transaction, under a lock that makes other processes which start at the same time
 * wait and then find nothing to do. A process that is killed on the way leaves the schema as it was.
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
      yield* sql`select pg_advisory_xact_lock(${lockKey})`
      // The migrator would find the table missing by a failing statement, which ends a transaction.
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

/** A migration that the database refuses is a defect to the migrator, and something an operator may put right to us. */
export const layer: Layer.Layer<never, MigrationError | SqlError, SqlClient> = Layer.effectDiscard(
  Effect.catchSomeDefect(run, (defect) =>
    defect instanceof Migrator.MigrationError ? Option.some(Effect.fail(defect)) : Option.none()
  )
)
