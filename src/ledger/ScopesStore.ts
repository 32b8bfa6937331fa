import { SqlClient } from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { MicroUsd } from "../domain/Money.ts"
import { fromSql } from "../sql/StoreErrors.ts"
import { creditOf, limitOf, type ScopeState, Scopes, type ScopesShape } from "./Scopes.ts"

/** The scopes in the database. Inside a transaction of the same client its changes are part of that transaction. */
export const layer: Layer.Layer<Scopes, never, SqlClient> = Layer.effect(
  Scopes,
  Effect.map(SqlClient, (sql) => make(sql))
)

const make = (sql: SqlClient): ScopesShape => ({
  open: (kind: ScopeState["kind"], id: string, limitMicroUsd: number | null) =>
    statement(
      () => sql`insert into scope (id, kind, limit_micro_usd)
        values (${id}, ${kind}, ${kind === "account" ? 0 : limitOf(limitMicroUsd)}) on conflict (id) do nothing`
    ).pipe(Effect.asVoid),
  setLimit: (id, limitMicroUsd) =>
    statement(
      () => sql`update scope set limit_micro_usd = ${limitOf(limitMicroUsd)}
        where id = ${id} and kind <> 'account' returning id`
    ).pipe(
      Effect.flatMap((rows) =>
        rows.length === 1 ? Effect.void : Effect.dieMessage(`no project or key has the scope ${id}`)
      )
    ),
  credit: (account, amountMicroUsd, source, note) =>
    statement(() =>
      sql`with written as (
        insert into journal (kind, debit, credit, amount_micro_usd, source, note)
        select 'credit', 'payments', 'account:' || s.id, ${creditOf(amountMicroUsd)}::bigint, ${source}::text, ${note ?? null}::text
        from scope s
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
    fromSql(
      sql`select kind, limit_micro_usd as "limitMicroUsd", spent_micro_usd as "spentMicroUsd",
        held_micro_usd as "heldMicroUsd" from scope where id = ${id}`.pipe(
        Effect.flatMap(decodeStates),
        Effect.map((states) => Option.fromNullable(states[0]))
      )
    )
})

/** What is thrown where its parameters are made is a defect of the effect, not of who makes it. */
const statement = <A, E, R>(make: () => Effect.Effect<A, E, R>) => fromSql(Effect.suspend(make))

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
