import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defaultMaxCallDuration } from "./Recovery.ts"

/** The tables whose rows the invariants are about; those of a table are checked by one query. */
export type Table = "hold" | "call" | "journal" | "scope"

/** An invariant of the ledger. Each query reads one snapshot, so the invariants hold while calls run. */
export interface Invariant {
  /** Its name in metrics. */
  readonly name: string
  readonly text: string
  readonly of: Table
  /** The rows that break it, each with its id as `subject`; it reads what `sources` has of its table. */
  readonly query: string
}

/** What the invariants of a table read, each row once for all of them; `candidate` has the ids of the rows that are checked. */
const sources: { readonly [Of in Table]: string } = {
  hold: `checked as materialized (
    select h.id, h.state, h.managed, h.account_id, h.key_id, h.node, h.created_at, h.amount_micro_usd, h.actual_micro_usd,
      r.id as call_id, r.key_id as call_key_id, r.cost_micro_usd, r.prices, r.input_tokens, r.cache_read_tokens,
      r.cache_write_tokens, r.output_tokens, r.reasoning_tokens, r.input_audio_tokens, r.output_audio_tokens, a.*, j.*
    from candidate c join hold h on h.id = c.id left join call r on r.id = h.id
    cross join lateral (
      select sum(cost_micro_usd) as attempts_cost, coalesce(sum(provider_cost_micro_usd), 0) as provider_cost
      from attempt where call_id = h.id) a
    cross join lateral (
      -- a call has at most one entry of each kind
      select max(amount_micro_usd) filter (where kind = 'usage') as usage, max(debit) filter (where kind = 'usage') as usage_debit,
        max(amount_micro_usd) filter (where kind = 'absorbed') as absorbed,
        max(debit) filter (where kind = 'absorbed') as absorbed_debit,
        max(debit) filter (where kind = 'overrun') as overrun_debit, max(debit) filter (where kind = 'late') as late_debit
      from journal where call_id = h.id) j
  )`,
  call: "checked as (select r.id, r.key_id from candidate c join call r on r.id = c.id)",
  journal: "checked as (select j.* from candidate c join journal j on j.id = c.id)",
  scope: `checked as materialized (
    select c.id as candidate_id, s.* from candidate c left join scope s on s.id = c.id
  ), counted as (
    select h.* from since join hold h on h.created_at >= since.at
    union all
    select h.* from since join hold h on h.created_at < since.at and h.id = any(array(select id from unsummed))
  ), sums as (
    select s.id, sum(h.amount_micro_usd) filter (where h.state = 'held') as held, sum(h.actual_micro_usd) as spent
    from counted h cross join lateral (
      values (h.key_id), (h.project_id), (case when h.managed then h.account_id end)) as s(id)
    where s.id is not null group by s.id
  )`
}

/**
 * A limit that was lowered below what is spent is no violation, nor is a payment that was paid back after it was spent: then what
 * was spent and held is the ceiling. The journal's account
 * `house` is the operator, who bears what is written off. `base` has what the holds before `since` have spent, by scope, without
 * those of `unsummed`.
 */
export const invariants: ReadonlyArray<Invariant> = [
  {
    name: "scope_sums",
    text: "a scope's held amount is the sum of its open holds, and its spent amount the sum of its closed ones",
    of: "scope",
    query: `
      select c.candidate_id as subject, c.held_micro_usd, c.spent_micro_usd, t.held, coalesce(t.spent, 0) + coalesce(b.spent, 0) as spent
      from checked c left join sums t on t.id = c.candidate_id left join base b on b.id = c.candidate_id
      where c.id is null or c.held_micro_usd <> coalesce(t.held, 0)
        or c.spent_micro_usd <> coalesce(t.spent, 0) + coalesce(b.spent, 0)`
  },
  {
    name: "scope_limit",
    text: "a scope never spends and holds more than its limit, or than it did when the limit was lowered",
    of: "scope",
    query: `
      select id as subject, kind, limit_micro_usd, ceiling_micro_usd, spent_micro_usd, held_micro_usd
      from checked where spent_micro_usd + held_micro_usd > ceiling_micro_usd`
  },
  {
    name: "account_credit",
    text: "an account's credit is the sum of its credits in the journal, less what was paid back",
    of: "scope",
    query: `
      select c.id as subject, c.limit_micro_usd, j.credited
      from checked c cross join lateral (
        select coalesce(sum(m.amount), 0) as credited from (
          select amount_micro_usd as amount from journal j where j.credit = 'account:' || c.id and j.source is not null
          union all
          select -amount_micro_usd from journal j where j.debit = 'account:' || c.id and j.source is not null) as m(amount)) j
      where c.kind = 'account' and c.limit_micro_usd <> j.credited`
  },
  {
    name: "journal_charge",
    text: "each closed hold that is charged to an account has exactly its charge in the journal, and no other hold has any",
    of: "hold",
    query: `
      select id as subject, state, actual_micro_usd, usage as amount_micro_usd, usage_debit as debit from checked
      where coalesce(usage, 0) <> case when managed then coalesce(actual_micro_usd, 0) else 0 end
        or usage_debit <> 'account:' || account_id`
  },
  {
    name: "write_offs",
    text: "only overruns of closed holds and late settlements of expired holds are written off",
    of: "hold",
    query: `
      select id as subject, state, overrun_debit, late_debit from checked
      where (overrun_debit is not null and state not in ('settled', 'cancelled')) or overrun_debit <> 'house'
        or (late_debit is not null and state <> 'expired') or late_debit <> 'house'`
  },
  {
    name: "absorbed",
    text: "what a call's failed attempts cost at their providers is written off, unless the project pays its providers itself",
    of: "hold",
    query: `
      select id as subject, managed, absorbed as amount_micro_usd, absorbed_debit as debit, provider_cost as cost from checked
      where coalesce(absorbed, 0) <> case when managed then provider_cost else 0 end or absorbed_debit <> 'house'`
  },
  {
    name: "call_price",
    text: "a complete call is charged its usage at the prices of its admission, and a cancelled one no more, neither above its hold",
    of: "hold",
    query: `
      select c.id as subject, c.state, c.actual_micro_usd, c.amount_micro_usd, p.cost
      from checked c cross join lateral (
        -- computed once, not for each use
        select call_cost(c.prices, c.input_tokens, c.cache_read_tokens, c.cache_write_tokens, c.output_tokens,
          c.reasoning_tokens, c.input_audio_tokens, c.output_audio_tokens) as cost offset 0) p
      where c.prices is not null and c.state in ('settled', 'cancelled')
        and (c.actual_micro_usd > p.cost or (c.state = 'settled' and c.actual_micro_usd <> least(p.cost, c.amount_micro_usd)))`
  },
  {
    name: "call_row",
    text: "a charged or expired hold has a call row of the same key, and an open one has none",
    of: "hold",
    query: `
      select id as subject, state, key_id, call_key_id from checked
      where (call_id is null and state in ('settled', 'cancelled', 'expired'))
        or (call_id is not null and (state = 'held' or key_id <> call_key_id))`
  },
  {
    name: "call_cost",
    text: "the cost of a call is the charge of its hold",
    of: "hold",
    query: `
      select id as subject, state, actual_micro_usd, cost_micro_usd from checked
      where state <> 'held' and cost_micro_usd <> actual_micro_usd`
  },
  {
    name: "attempt_cost",
    text: "the costs of a call's attempts add up to its cost",
    of: "hold",
    query: `
      select id as subject, cost_micro_usd, attempts_cost as cost from checked where attempts_cost <> cost_micro_usd`
  },
  {
    name: "hold_age",
    text: "no hold is open for longer than a call may take",
    of: "hold",
    query: `
      select id as subject, created_at, node from checked
      where state = 'held' and created_at < (select now() - max_age from longest)`
  },
  {
    name: "call_hold",
    text: "a call's row belongs to a hold",
    of: "call",
    query: `
      select c.id as subject, c.key_id from checked c where not exists (select from hold h where h.id = c.id)`
  },
  {
    name: "journal_hold",
    text: "what is charged or written off belongs to a hold",
    of: "journal",
    query: `
      select j.id as subject, j.kind, j.call_id from checked j
      where j.source is null and j.at >= (select deleted_before from retention)
        and not exists (select from hold h where h.id = j.call_id)`
  }
]

/** A hold is expired when it is older than any call; later than this after it, the expiry has not worked. */
const expiryGraceSeconds = 600

/** What a query reads besides the tables: its candidates, and how far sums are known. */
export interface Selection {
  /** A query of ids. */
  readonly candidates: string
  /** A query of `id` and `spent`, the time through which it is, and a query of the ids of holds that are not in it nevertheless. */
  readonly base: string
  readonly since: string
  readonly unsummed: string
  readonly maxCallSeconds: number
  /** The number of rows that are read of those that break an invariant; unset: all. */
  readonly maxRows?: number
}

/** The beginning of a query: the rows that break the invariants of a table are in `broken`, with the name of what each breaks. */
export const brokenOf = (of: Table, selection: Selection): string => {
  const { base, candidates, maxCallSeconds, maxRows, since, unsummed } = selection
  const limit = maxRows === undefined ? "" : `limit ${maxRows}`
  return `with candidate as (${candidates}), base as (${base}), unsummed as (${unsummed}),
    since as not materialized (select ${since} as at),
    longest as (select interval '${maxCallSeconds + expiryGraceSeconds} seconds' as max_age),
    ${sources[of]},
    broken as (${invariants
      .filter((invariant) => invariant.of === of)
      .map(
        ({ name, query }) =>
          `(select '${name}' as invariant, b.subject::text as subject, to_jsonb(b) as detail from (${query}) b ${limit})`
      )
      .join(" union all ")})`
}

const allIds: { readonly [Of in Table]: string } = {
  hold: "select id from hold",
  call: "select id from call",
  journal: "select id from journal",
  scope: `select id from scope union select s.id from hold h cross join lateral (
    values (h.key_id), (h.project_id), (case when h.managed then h.account_id end)) as s(id) where s.id is not null`
}

/** The first rows are named. */
const maxNamed = 3

const decodeBroken = Schema.decodeUnknown(
  Schema.Array(Schema.Struct({ invariant: Schema.String, detail: Schema.Unknown }))
)

/** Names the invariants that do not hold, each with the first rows that break it. Reads every row. */
export const check = <E>(
  run: (query: string) => Effect.Effect<ReadonlyArray<object>, E>
): Effect.Effect<ReadonlyArray<string>, E> =>
  Effect.gen(function* () {
    const broken = yield* Effect.forEach(["scope", "hold", "call", "journal"] as const, (of) =>
      run(
        `${brokenOf(of, {
          candidates: allIds[of],
          base: `select scope_id as id, spent_micro_usd as spent from ledger_scope_base
            where exists (select from retention where isfinite(deleted_before))`,
          // holds that are deleted are in the base, which ends here
          since: `(select case when isfinite(r.deleted_before) then c.holds_through else '-infinity' end
            from retention r, ledger_check c)`,
          unsummed: "select id from unsummed_hold",
          maxCallSeconds: Duration.toSeconds(defaultMaxCallDuration),
          maxRows: maxNamed
        })} select invariant, detail from broken`
      ).pipe(Effect.flatMap(decodeBroken), Effect.catchTag("ParseError", Effect.die))
    )
    return invariants.flatMap(({ name, text }) => {
      const rows = broken.flat().filter(({ invariant }) => invariant === name)
      return rows.length === 0 ? [] : [`${text}: ${JSON.stringify(rows.map(({ detail }) => detail))}`]
    })
  })
