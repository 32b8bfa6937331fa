import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { check } from "../../src/ledger/LedgerInvariants.ts"
import * as Database from "../../src/sql/Database.ts"

/** The rows of the ledger, read without the services that would repair them. */
export const ledgerRows = Effect.gen(function* () {
  const sql = yield* SqlClient
  const count = (statement: string) =>
    Effect.map(sql.unsafe<{ readonly count: number }>(statement), ([row]) => row?.count ?? Number.NaN)
  return {
    held: yield* count("select count(*)::int from hold where state = 'held'"),
    heldMoney: yield* count("select sum(held_micro_usd)::int as count from scope"),
    settled: yield* count("select count(*)::int from hold where state = 'settled'"),
    restarted: yield* count(
      "select count(*)::int from call where status = 'error' and error_code = 'gateway_restarted' and cost_micro_usd = 0"
    ),
    // every movement leaves one account and reaches another: over all accounts they come to nothing
    journal: yield* count(
      `select sum(amount)::int as count from (select amount_micro_usd as amount from journal j
        where credit is not null union all select -amount_micro_usd from journal where debit is not null) m`
    ),
    wrong: yield* check(sql.unsafe)
  }
})

/** A database that a service uses, or has used. */
export const databaseAt = ({ dataDir, databaseUrl }: { readonly dataDir?: string; readonly databaseUrl?: string }) =>
  Database.layer({ url: Option.fromNullable(databaseUrl).pipe(Option.map(Redacted.make)), dataDir: dataDir ?? "" })
