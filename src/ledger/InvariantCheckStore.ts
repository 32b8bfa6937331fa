import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Database, type DatabaseShape } from "../sql/Database.ts"
import { Int8 } from "../sql/Rows.ts"
import { brokenOf, invariants, type Table } from "./LedgerInvariants.ts"

/** A row that breaks an invariant. */
export interface Violation {
  readonly invariant: string
  readonly text: string
  readonly subject: string
  readonly detail: unknown
}

const Summary = Schema.Struct({
  checkedSecondsAgo: Schema.NullOr(Schema.Number),
  checkLagSeconds: Schema.NullOr(Schema.Number),
  overrunMicroUsd: Int8,
  lateMicroUsd: Int8,
  absorbedMicroUsd: Int8,
  expiredHolds: Int8,
  oldestOpenHoldSeconds: Schema.Number,
  violations: Schema.Record({ key: Schema.String, value: Schema.Int })
})
/** What is known of the ledger, from the checks of whichever process made them. */
export type Summary = typeof Summary.Type

export interface InvariantCheckStoreShape {
  /** The pause between two portions, in times that the last one took: it leaves the database to calls. */
  readonly pauseFactor: number
  /** True when this process is to check now: no other has begun to in the last `everySeconds`. */
  readonly claim: (everySeconds: number) => Effect.Effect<boolean, SqlError>
  /** Checks one portion of holds that are new since the last one; false when none is left. */
  readonly checkNew: Effect.Effect<readonly [found: ReadonlyArray<Violation>, isMore: boolean], SqlError>
  /**
   * Checks one portion of everything else, of holds that have closed since they were checked, and of rows that were checked before;
   * violations that are gone are forgotten.
   */
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
  static readonly layer = (maxCallSeconds: number): Layer.Layer<InvariantCheckStore, never, Database | SqlClient> =>
    Layer.effect(
      this,
      Effect.map(Effect.all([SqlClient, Database]), ([sql, { kind }]) => make(sql, kind, maxCallSeconds))
    )
}

/** Rows of one statement. 10,000 took the embedded database, where calls wait meanwhile, up to 0.2 s. */
const portionOf = { postgres: 10_000, embedded: 1_000 }
/** The embedded database shares the processor with the calls: it is checked in a tenth of the time, holds of up to 1,400 calls/s. */
const pauseFactorOf = { postgres: 4, embedded: 9 }
/** Violations of an invariant that one statement adds to those that are known: each is a line in the log. */
const maxNewViolations = 100
/** Violations of an invariant that are known at a time, each of them checked with every portion. */
const maxViolations = 1_000
/** What is checked of the journal must have been committed. */
const settleTime = "1 minute"

const Ids = Schema.Array(Schema.String)
const HoldPage = Schema.Struct({ from: Schema.String, to: Schema.String, isMore: Schema.Boolean, ids: Ids })
const decodeHoldPage = Schema.decodeUnknown(Schema.Tuple(HoldPage))
const decodeViolations = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ invariant: Schema.String, subject: Schema.String, detail: Schema.Unknown }))
)
const decodeIds = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ ids: Ids })))
const decodeThrough = Schema.decodeUnknown(Schema.Tuple(Schema.Struct({ through: Schema.String })))
const decodeSummary = Schema.decodeUnknown(Schema.Tuple(Summary))

const textOf = new Map(invariants.map(({ name, text }) => [name, text]))

const make = (sql: SqlClient, kind: DatabaseShape["kind"], maxCallSeconds: number): InvariantCheckStoreShape => {
  const portion = portionOf[kind]
  const run = (statement: string, parameters: ReadonlyArray<unknown> = []) => sql.unsafe(statement, parameters)

  /**
   * Checks these rows and those that are known to break an invariant, and remembers which of them break one now. `through` is what
   * the base was known to be through; if it has moved, nothing is found. The planner knows how few ids are, and of a range only that
   * it might be all rows.
   */
  const check = (of: Table, ids: ReadonlyArray<string>, through?: string) => {
    const type = of === "journal" ? "bigint" : "uuid"
    const names = invariants.filter((invariant) => invariant.of === of).map(({ name }) => `'${name}'`)
    const isKnown = `v.invariant in (${names.join(",")})`
    const isCurrent =
      through === undefined ? "true" : `(select holds_through from ledger_check) = '${through}'::timestamptz`
    const query = brokenOf(of, {
      candidates: `select unnest($1::${type}[]) as id union select v.subject::${type} from ledger_violation v where ${isKnown}`,
      base: "select scope_id as id, spent_micro_usd as spent from ledger_scope_base",
      // a literal: of an unknown time the planner would expect a third of all holds since
      since: through === undefined ? "(select holds_through from ledger_check)" : `'${through}'::timestamptz`,
      unsummed: "select id from unsummed_hold",
      maxCallSeconds
    })
    return run(
      `${query}, gone as (
        delete from ledger_violation v where ${isKnown} and ${isCurrent}
          and not exists (select from broken b where b.invariant = v.invariant and b.subject = v.subject)
      )
      insert into ledger_violation (invariant, subject, detail)
      select invariant, subject, detail from (
        select b.*, row_number() over (partition by invariant) as place from broken b where ${isCurrent}
          and not exists (select from ledger_violation v where v.invariant = b.invariant and v.subject = b.subject)) n
      where place <= least(${maxNewViolations}, ${maxViolations}
        - (select count(*) from ledger_violation v where v.invariant = n.invariant))
      on conflict do nothing returning invariant, subject, detail`,
      [`{${ids.join(",")}}`]
    ).pipe(
      Effect.flatMap(decodeViolations),
      Effect.catchTag("ParseError", Effect.die),
      Effect.map((rows) => rows.map((row): Violation => ({ ...row, text: textOf.get(row.invariant) ?? row.invariant })))
    )
  }
  const idsOf = (query: string, parameters: ReadonlyArray<unknown> = []) =>
    run(`select coalesce(array_agg(id::text), '{}') as ids from (${query}) page`, parameters).pipe(
      Effect.flatMap(decodeIds),
      Effect.catchTag("ParseError", Effect.die),
      Effect.map(([{ ids }]) => ids)
    )
  const holdPage = (from: string, end: string) =>
    run(nextHolds(from, end, portion)).pipe(
      Effect.flatMap(decodeHoldPage),
      Effect.catchTag("ParseError", Effect.die),
      Effect.map(([page]) => page)
    )

  const checkNew = Effect.gen(function* () {
    const { from, ids, isMore, to } = yield* holdPage("c.holds_through", "o.since")
    if (from === to) return [[], false] as const
    const found = yield* check("hold", ids)
    yield* run(sumUp, [from, to])
    return [found, isMore] as const
  })

  const oldHolds = Effect.flatMap(idsOf(oldOpenHolds, [`${maxCallSeconds} seconds`]), (ids) => check("hold", ids))

  /** Holds that were open when they were checked first. */
  const closedSince = Effect.gen(function* () {
    const ids = yield* idsOf(
      `select id from hold where id = any(array(select id from unsummed_hold)) and closed_at is not null limit ${portion}`
    )
    if (ids.length === 0) return []
    const found = yield* check("hold", ids)
    yield* run(sumUpClosed, [`{${ids.join(",")}}`])
    return found
  })

  const holdsAgain = Effect.gen(function* () {
    const { ids, isMore, to } = yield* holdPage("c.holds_again", "c.holds_through")
    const found = yield* check("hold", ids)
    yield* run("update ledger_check set holds_again = $1::timestamptz", [isMore ? to : "-infinity"])
    return found
  })

  /** One portion of a table in the order of its ids, from where the last one ended; from the start after the end. */
  const portionAfter = (of: "call" | "scope", column: string) =>
    idsOf(`select id from ${of} where id > (select ${column} from ledger_check) order by id limit ${portion}`)
  /** After its check: a portion that could not be checked is the next one again. */
  const passPortion = (column: string, ids: ReadonlyArray<string>, isChecked = "true") => {
    const last = ids.length < portion ? undefined : ids.at(-1)
    return run(`update ledger_check set ${column} = $1 where ${isChecked}`, [
      last ?? "00000000-0000-0000-0000-000000000000"
    ])
  }
  const callsAgain = Effect.gen(function* () {
    const ids = yield* portionAfter("call", "calls_again")
    const found = yield* check("call", ids)
    yield* passPortion("calls_again", ids)
    return found
  })

  /** Up to the first entry that may not have been committed for long: an id before it may still be in a running transaction. */
  const journalNew = Effect.gen(function* () {
    const ids = yield* idsOf(
      `select id from (
        select id, bool_and(at < now() - interval '${settleTime}') over (order by id) as is_settled from (
          select id, at from journal where id > (select journal_through from ledger_check) order by id limit ${portion}) next) page
      where is_settled`
    )
    const found = yield* check("journal", ids)
    yield* run(
      `with page as (select j.* from unnest($1::bigint[]) as u(id) join journal j on j.id = u.id)
      update ledger_check set journal_through = greatest(journal_through, coalesce((select max(id) from page), 0)),
        overrun_micro_usd = overrun_micro_usd + coalesce((select sum(amount_micro_usd) from page where kind = 'overrun'), 0),
        late_micro_usd = late_micro_usd + coalesce((select sum(amount_micro_usd) from page where kind = 'late'), 0),
        absorbed_micro_usd = absorbed_micro_usd + coalesce((select sum(amount_micro_usd) from page where kind = 'absorbed'), 0)`,
      [`{${ids.join(",")}}`]
    )
    return found
  })

  const checkScopes = Effect.gen(function* () {
    const { through } = yield* run("select holds_through::text as through from ledger_check").pipe(
      Effect.flatMap(decodeThrough),
      Effect.catchTag("ParseError", Effect.die),
      Effect.map(([row]) => row)
    )
    const recent = yield* idsOf(recentScopeIds(through))
    const others = yield* portionAfter("scope", "scopes_again")
    const found = yield* check("scope", [...recent, ...others], through)
    yield* passPortion("scopes_again", others, `holds_through = '${through}'::timestamptz`)
    return found
  })

  return {
    pauseFactor: pauseFactorOf[kind],
    claim: (everySeconds) =>
      Effect.map(
        run("update ledger_check set begun_at = now() where begun_at <= now() - $1::interval returning id", [
          `${everySeconds} seconds`
        ]),
        (rows) => rows.length > 0
      ),
    checkNew,
    checkAgain: Effect.map(Effect.all([oldHolds, closedSince, holdsAgain, journalNew, callsAgain]), (found) =>
      found.flat()
    ),
    checkScopes,
    summary: run(summary).pipe(
      Effect.flatMap(decodeSummary),
      Effect.catchTag("ParseError", Effect.die),
      Effect.map(([row]) => row)
    )
  }
}

/**
 * A portion of holds by the time of their creation, `from` included and `to` not; there are more up to `end`. Text keeps the
 * microseconds that a Date would lose. The end is no condition of the inner query: for a range of unknown ends the planner expects few
 * rows, and would read and sort them all.
 */
const nextHolds = (from: string, end: string, portion: number): string => `
  with bounds as (
    select ${from} as from_time, ${end} as end_time from ledger_check c cross join open_holds o
  ), page as (
    select id, created_at from hold where created_at >= (select from_time from bounds) order by created_at limit ${portion}
  ), last as (
    select least(b.end_time, (select max(created_at) from page having count(*) >= ${portion})) as to_time from bounds b
  )
  select b.from_time::text as "from", greatest(b.from_time, l.to_time)::text as "to", l.to_time < b.end_time as "isMore",
    coalesce((select array_agg(p.id::text) from page p where p.created_at < l.to_time), '{}') as ids
  from bounds b cross join last l`

/** Adds what `closed` has to the base; the expired ones are counted in one update of `ledger_check`. */
const summed = `
  summed as (
    insert into ledger_scope_base as b (scope_id, spent_micro_usd)
    select s.id, sum(c.actual_micro_usd) from closed c cross join lateral (
      values (c.key_id), (c.project_id), (case when c.managed then c.account_id end)) as s(id)
    where s.id is not null group by s.id having sum(c.actual_micro_usd) > 0
    on conflict (scope_id) do update set spent_micro_usd = b.spent_micro_usd + excluded.spent_micro_usd
  )`
const expired = "expired_holds = expired_holds + (select count(*) from closed where state = 'expired')"

const sumUp = `
  with moved as (
    select id from ledger_check where holds_through = $1::timestamptz for update
  ), passed as (
    select h.* from moved cross join hold h where h.created_at >= $1::timestamptz and h.created_at < $2::timestamptz
  ), closed as (
    select * from passed where closed_at is not null
  ), left_open as (
    insert into unsummed_hold select id from passed where closed_at is null on conflict do nothing
  ), ${summed}
  update ledger_check set holds_through = $2::timestamptz, ${expired} where id in (select id from moved)`

const sumUpClosed = `
  with closed as (
    delete from unsummed_hold u using hold h where h.id = u.id and h.closed_at is not null and u.id = any($1::uuid[])
    returning h.key_id, h.project_id, h.account_id, h.managed, h.actual_micro_usd, h.state
  ), ${summed}
  update ledger_check set ${expired} where exists (select from closed where state = 'expired')`

const recentScopeIds = (through: string): string => `
  select distinct s.id from hold h cross join lateral (
    values (h.key_id), (h.project_id), (case when h.managed then h.account_id end)) as s(id)
  where s.id is not null and h.created_at >= '${through}'::timestamptz`

const oldOpenHolds = `
  select id from hold
  where id = any(array(select id from long_hold)) and created_at < now() - $1::interval and closed_at is null`

const summary = `
  select case when isfinite(c.begun_at) then extract(epoch from now() - c.begun_at)::float end as "checkedSecondsAgo",
    case when isfinite(c.holds_through) then extract(epoch from now() - c.holds_through)::float end as "checkLagSeconds",
    c.overrun_micro_usd as "overrunMicroUsd", c.late_micro_usd as "lateMicroUsd",
    c.absorbed_micro_usd as "absorbedMicroUsd", c.expired_holds as "expiredHolds",
    coalesce(extract(epoch from now() - (select min(created_at) from open_holds_read())), 0)::float as "oldestOpenHoldSeconds",
    coalesce((select jsonb_object_agg(v.invariant, v.rows)
      from (select invariant, count(*) as rows from ledger_violation group by invariant) v), '{}') as violations
  from ledger_check c`
