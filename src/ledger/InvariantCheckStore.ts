import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Invariant, invariants, queryOf } from "./LedgerInvariants.ts"

/** A row that breaks an invariant. */
export interface Violation {
  readonly invariant: string
  readonly text: string
  readonly subject: string
  readonly detail: unknown
}

const Count = Schema.NumberFromString
const Summary = Schema.Struct({
  checkedSecondsAgo: Schema.NullOr(Schema.Number),
  overrunMicroUsd: Count,
  lateMicroUsd: Count,
  absorbedMicroUsd: Count,
  expiredHolds: Count,
  oldestOpenHoldSeconds: Schema.Number,
  violations: Schema.Record({ key: Schema.String, value: Schema.Int })
})
/** What is known of the ledger, from the checks of whichever process made them. */
export type Summary = typeof Summary.Type

export interface InvariantCheckStoreShape {
  /** True when this process is to check now: no other has begun to in the last `everySeconds`. */
  readonly claim: (everySeconds: number) => Effect.Effect<boolean, SqlError>
  /** Checks one portion of holds that are closed since the last one; false when none is left. */
  readonly checkNew: Effect.Effect<readonly [found: ReadonlyArray<Violation>, isMore: boolean], SqlError>
  /** Checks one portion of everything else, and of rows that were checked before; violations that are gone are forgotten. */
  readonly checkAgain: Effect.Effect<ReadonlyArray<Violation>, SqlError>
  /** Checks the scopes of recent holds and one portion of all others; to be called when `checkNew` has nothing left. */
  readonly checkScopes: Effect.Effect<ReadonlyArray<Violation>, SqlError>
  readonly summary: Effect.Effect<Summary, SqlError>
}

/** Checks the invariants of the ledger in portions that are each done well within a statement's time limit. */
export class InvariantCheckStore extends Context.Tag("gateway/ledger/InvariantCheckStore")<
  InvariantCheckStore,
  InvariantCheckStoreShape
>() {
  static readonly layer = (maxCallSeconds: number): Layer.Layer<InvariantCheckStore, never, SqlClient> =>
    Layer.effect(
      this,
      Effect.map(SqlClient, (sql) => make(sql, maxCallSeconds))
    )
}

const portion = 10_000
/** The later half of a minute's holds is left for the next check: what is summed up must have been committed. */
const settleTime = "1 minute"
const maxRows = 100

const Range = Schema.Tuple(Schema.Struct({ from: Schema.String, to: Schema.String, rows: Schema.Int }))
const decodeRange = Schema.decodeUnknown(Range)
const Broken = Schema.Array(Schema.Struct({ subject: Schema.String, detail: Schema.Unknown }))
const decodeBroken = Schema.decodeUnknown(Broken)
const Cursor = Schema.Tuple(Schema.Struct({ last: Schema.NullOr(Schema.String) }))
const decodeCursor = Schema.decodeUnknown(Cursor)
const decodeSummary = Schema.decodeUnknown(Schema.Tuple(Summary))

const make = (sql: SqlClient, maxCallSeconds: number): InvariantCheckStoreShape => {
  const run = (statement: string, parameters: ReadonlyArray<unknown> = []) => sql.unsafe(statement, parameters)

  /** Checks these rows and those that are known to break it, and remembers which of them break it now. */
  const checkOne = (invariant: Invariant, candidates: string, parameters: ReadonlyArray<unknown>) => {
    const type = invariant.of === "journal" ? "bigint" : "uuid"
    const query = queryOf(invariant, {
      candidates: `(${candidates}) union
        select v.subject::${type} from ledger_violation v where v.invariant = '${invariant.name}'`,
      base: "select scope_id as id, spent_micro_usd as spent from ledger_scope_base",
      since: "(select holds_through from ledger_check)",
      maxCallSeconds
    })
    return Effect.gen(function* () {
      const rows = yield* run(
        `select subject::text as subject, to_jsonb(broken) as detail from (${query}) broken limit ${maxRows}`,
        parameters
      ).pipe(Effect.flatMap(decodeBroken), Effect.catchTag("ParseError", Effect.die))
      yield* run("delete from ledger_violation where invariant = $1 and subject <> all ($2::text[])", [
        invariant.name,
        rows.map(({ subject }) => subject)
      ])
      if (rows.length === 0) return []
      const added = yield* run(
        `insert into ledger_violation (invariant, subject, detail)
          select $1, r.subject, r.detail from jsonb_to_recordset($2::jsonb) as r(subject text, detail jsonb)
          on conflict do nothing returning subject, detail`,
        [invariant.name, JSON.stringify(rows)]
      ).pipe(Effect.flatMap(decodeBroken), Effect.catchTag("ParseError", Effect.die))
      return added.map((row): Violation => ({ ...row, invariant: invariant.name, text: invariant.text }))
    })
  }
  const checkAll = (of: Invariant["of"], candidates: string, parameters: ReadonlyArray<unknown>) =>
    Effect.map(
      Effect.forEach(
        invariants.filter((invariant) => invariant.of === of),
        (invariant) => checkOne(invariant, candidates, parameters)
      ),
      (found) => found.flat()
    )
  const cursorAfter = (query: string, parameters: ReadonlyArray<unknown> = []) =>
    run(query, parameters).pipe(
      Effect.flatMap(decodeCursor),
      Effect.catchTag("ParseError", Effect.die),
      Effect.map(([{ last }]) => last)
    )

  const checkNew = Effect.gen(function* () {
    const [{ from, rows, to }] = yield* run(nextHolds).pipe(
      Effect.flatMap(decodeRange),
      Effect.catchTag("ParseError", Effect.die)
    )
    if (from === to) return [[], false] as const
    const range = "select id from hold where created_at >= $1::timestamptz and created_at < $2::timestamptz"
    const found = yield* checkAll("hold", range, [from, to])
    yield* run(sumUp, [from, to])
    return [found, rows >= portion] as const
  })

  /** One portion of a table in the order of its ids, from where the last one ended; from the start after the end. */
  const portionOf = (of: "call" | "scope", column: string) =>
    Effect.gen(function* () {
      const page = `select id from ${of} where id > (select ${column} from ledger_check) order by id limit ${portion}`
      const last = yield* cursorAfter(
        `select case when count(*) >= ${portion} then max(id::text) end as last from (${page}) page`
      )
      const found = yield* checkAll(of, page, [])
      yield* run(`update ledger_check set ${column} = $1`, [last ?? "00000000-0000-0000-0000-000000000000"])
      return found
    })

  const holdsAgain = Effect.gen(function* () {
    const page = `select id, created_at from hold where created_at > (select holds_again from ledger_check)
      and created_at < (select holds_through from ledger_check) order by created_at limit ${portion}`
    const last = yield* cursorAfter(
      `select case when count(*) >= ${portion} then max(created_at)::text end as last from (${page}) page`
    )
    const found = yield* checkAll("hold", `select id from (${page}) page`, [])
    yield* run("update ledger_check set holds_again = $1::timestamptz", [last ?? "-infinity"])
    return found
  })

  const journalNew = Effect.gen(function* () {
    const page = `select id, kind, amount_micro_usd from journal
      where id > (select journal_through from ledger_check) and at < now() - interval '${settleTime}'
      order by id limit ${portion}`
    const found = yield* checkAll("journal", `select id from (${page}) page`, [])
    yield* run(`
      with page as (${page})
      update ledger_check set journal_through = greatest(journal_through, coalesce((select max(id) from page), 0)),
        overrun_micro_usd = overrun_micro_usd + coalesce((select sum(amount_micro_usd) from page where kind = 'overrun'), 0),
        late_micro_usd = late_micro_usd + coalesce((select sum(amount_micro_usd) from page where kind = 'late'), 0),
        absorbed_micro_usd = absorbed_micro_usd + coalesce((select sum(amount_micro_usd) from page where kind = 'absorbed'), 0)`)
    return found
  })

  /** The scopes of recent holds, once the sums are known up to them. */
  const recentScopes = checkAll("scope", recentScopeIds, [])
  const oldHolds = checkAll("hold", oldOpenHolds, [`${maxCallSeconds} seconds`])

  return {
    claim: (everySeconds) =>
      Effect.map(
        run("update ledger_check set checked_at = now() where checked_at <= now() - $1::interval returning id", [
          `${everySeconds} seconds`
        ]),
        (rows) => rows.length > 0
      ),
    checkNew,
    checkAgain: Effect.map(Effect.all([oldHolds, holdsAgain, journalNew, portionOf("call", "calls_again")]), (found) =>
      found.flat()
    ),
    checkScopes: Effect.map(Effect.all([recentScopes, portionOf("scope", "scopes_again")]), (found) => found.flat()),
    summary: run(summary).pipe(
      Effect.flatMap(decodeSummary),
      Effect.catchTag("ParseError", Effect.die),
      Effect.map(([row]) => row)
    )
  }
}

/** Text keeps the microseconds that a Date would lose. */
const nextHolds = `
  select c.holds_through::text as from, count(h.*)::int as rows,
    greatest(c.holds_through, coalesce(
      case when count(h.*) >= ${portion} then max(h.created_at) end, o.since - interval '${settleTime}'))::text as to
  from ledger_check c cross join open_holds o left join lateral (
    select created_at from hold where created_at >= c.holds_through and created_at < o.since - interval '${settleTime}'
    order by created_at limit ${portion}) h on true
  group by c.holds_through, o.since`

const sumUp = `
  with closed as (
    select key_id, project_id, account_id, managed, actual_micro_usd, state from hold
    where created_at >= $1::timestamptz and created_at < $2::timestamptz
  ), summed as (
    insert into ledger_scope_base as b (scope_id, spent_micro_usd)
    select s.id, sum(c.actual_micro_usd) from closed c cross join lateral (
      values (c.key_id), (c.project_id), (case when c.managed then c.account_id end)) as s(id)
    where s.id is not null group by s.id having sum(c.actual_micro_usd) > 0
    on conflict (scope_id) do update set spent_micro_usd = b.spent_micro_usd + excluded.spent_micro_usd
  )
  update ledger_check set holds_through = $2::timestamptz,
    expired_holds = expired_holds + (select count(*) from closed where state = 'expired')
  where holds_through = $1::timestamptz`

const recentScopeIds = `
  select distinct s.id from hold h cross join lateral (
    values (h.key_id), (h.project_id), (case when h.managed then h.account_id end)) as s(id)
  where s.id is not null and h.created_at >= (select holds_through from ledger_check)`

const oldOpenHolds = `
  select id from hold where created_at >= (select since from open_holds) and created_at < now() - $1::interval and closed_at is null`

const summary = `
  select case when isfinite(c.checked_at) then extract(epoch from now() - c.checked_at)::float end as "checkedSecondsAgo",
    c.overrun_micro_usd as "overrunMicroUsd", c.late_micro_usd as "lateMicroUsd",
    c.absorbed_micro_usd as "absorbedMicroUsd", c.expired_holds as "expiredHolds",
    coalesce(extract(epoch from now() - (select min(created_at) from hold h
      where h.created_at >= o.since and h.closed_at is null)), 0)::float as "oldestOpenHoldSeconds",
    coalesce((select jsonb_object_agg(v.invariant, v.rows)
      from (select invariant, count(*) as rows from ledger_violation group by invariant) v), '{}') as violations
  from ledger_check c cross join open_holds o`
