import { SqlClient } from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { StoreUnavailable } from "../domain/GatewayError.ts"
import type { AccountId, KeyId, ProjectId } from "../domain/Ids.ts"
import { MicroUsd } from "../domain/Money.ts"
import { unavailable } from "../sql/Unavailable.ts"

export interface ScopeState {
  readonly kind: "account" | "project" | "key"
  /** `null` is no limit; for an account it is what has been credited. */
  readonly limitMicroUsd: number | null
  readonly spentMicroUsd: number
  readonly heldMicroUsd: number
}

export interface ScopesShape {
  /** Makes the scope of a new account, project or key; one that exists is left as it is. An account starts without credit. */
  readonly open: {
    (kind: "account", id: AccountId, limitMicroUsd: null): Effect.Effect<void, StoreUnavailable>
    (kind: "project", id: ProjectId, limitMicroUsd: number | null): Effect.Effect<void, StoreUnavailable>
    (kind: "key", id: KeyId, limitMicroUsd: number | null): Effect.Effect<void, StoreUnavailable>
  }
  /** May go below what is spent: then nothing new is granted. */
  readonly setLimit: (id: ProjectId | KeyId, limitMicroUsd: number | null) => Effect.Effect<void, StoreUnavailable>
  /**
   * Adds to an account's balance. `source` names the payment or gift; the same source credits an account once, and the
   * answer says whether this time was it.
   */
  readonly credit: (
    account: AccountId,
    amountMicroUsd: number,
    source: string
  ) => Effect.Effect<boolean, StoreUnavailable>
  readonly read: (id: AccountId | ProjectId | KeyId) => Effect.Effect<Option.Option<ScopeState>, StoreUnavailable>
}

/** What limits spending. Inside a transaction of the same client its changes are part of that transaction. */
export class Scopes extends Context.Tag("gateway/ledger/Scopes")<Scopes, ScopesShape>() {
  static readonly layer: Layer.Layer<Scopes, never, SqlClient> = Layer.effect(
    this,
    Effect.map(SqlClient, (sql) => make(sql))
  )
}

const make = (sql: SqlClient): ScopesShape => ({
  open: (kind: ScopeState["kind"], id: string, limitMicroUsd: number | null) =>
    unavailable(
      sql`insert into scope (id, kind, limit_micro_usd) values (${id}, ${kind}, ${kind === "account" ? 0 : limitMicroUsd})
        on conflict (id) do nothing`
    ).pipe(Effect.asVoid),
  setLimit: (id, limitMicroUsd) =>
    unavailable(
      sql`update scope set limit_micro_usd = ${limitMicroUsd} where id = ${id} and kind <> 'account' returning id`
    ).pipe(
      Effect.flatMap((rows) =>
        rows.length === 1 ? Effect.void : Effect.dieMessage(`no project or key has the scope ${id}`)
      )
    ),
  credit: (account, amountMicroUsd, source) =>
    unavailable(
      sql`with written as (
        insert into journal (kind, debit, credit, amount_micro_usd, source)
        select 'credit', 'payments', 'account:' || s.id, ${amountMicroUsd}::bigint, ${source}::text from scope s
        where s.id = ${account} and s.kind = 'account'
        on conflict (credit, source) where source is not null do nothing
        returning amount_micro_usd
      ), raised as (
        update scope s set limit_micro_usd = s.limit_micro_usd + w.amount_micro_usd from written w where s.id = ${account}
        returning s.id
      )
      select (select count(*)::int from raised) as raised,
        (select count(*)::int from scope where id = ${account} and kind = 'account') as known`.pipe(
        Effect.flatMap(decodeCredited)
      )
    ).pipe(
      Effect.flatMap(([{ known, raised }]) =>
        known === 1 ? Effect.succeed(raised === 1) : Effect.dieMessage(`the account ${account} has no scope`)
      )
    ),
  read: (id) =>
    unavailable(
      sql`select kind, limit_micro_usd as "limitMicroUsd", spent_micro_usd as "spentMicroUsd",
        held_micro_usd as "heldMicroUsd" from scope where id = ${id}`.pipe(
        Effect.flatMap(decodeStates),
        Effect.map((states) => Option.fromNullable(states[0]))
      )
    )
})

const decodeCredited = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ known: Schema.Int, raised: Schema.Int })))

/** PostgreSQL's 64-bit integers come as text. */
const Amount = Schema.compose(Schema.NumberFromString, MicroUsd)

const decodeStates = Schema.decodeUnknown(
  Schema.Array(
    Schema.Struct({
      kind: Schema.Literal("account", "project", "key"),
      limitMicroUsd: Schema.NullOr(Amount),
      spentMicroUsd: Amount,
      heldMicroUsd: Amount
    })
  )
)
