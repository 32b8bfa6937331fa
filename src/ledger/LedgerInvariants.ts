import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { defaultMaxCallDuration } from "./Recovery.ts"

/** An invariant of the ledger. Each query reads one snapshot, so the invariants hold while calls run. */
export interface Invariant {
  /** Its name in metrics. */
  readonly name: string
  readonly text: string
  /** The table whose rows it is about; `candidate` has the ids of those that are checked. */
  readonly of: "hold" | "call" | "journal" | "scope"
  /** The rows that break it, each with its id as `subject`. */
  readonly query: string
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
      , counted as (
        select h.* from since join hold h on h.created_at >= since.at
        union all
        select h.* from since join hold h on h.created_at < since.at and h.id = any(array(select id from unsummed))
      ), sums as (
        select s.id, sum(h.amount_micro_usd) filter (where h.state = 'held') as held, sum(h.actual_micro_usd) as spent
        from counted h cross join lateral (
          values (h.key_id), (h.project_id), (case when h.managed then h.account_id end)) as s(id)
        where s.id is not null group by s.id
      )
      select c.id as subject, s.held_micro_usd, s.spent_micro_usd, t.held, coalesce(t.spent, 0) + coalesce(b.spent, 0) as spent
      from candidate c left join scope s on s.id = c.id left join sums t on t.id = c.id left join base b on b.id = c.id
      where s.id is null or s.held_micro_usd <> coalesce(t.held, 0)
        or s.spent_micro_usd <> coalesce(t.spent, 0) + coalesce(b.spent, 0)`
  },
  {
    name: "scope_limit",
    text: "a scope never spends and holds more than its limit, or than it did when the limit was lowered",
    of: "scope",
    query: `
      select s.id as subject, s.kind, s.limit_micro_usd, s.ceiling_micro_usd, s.spent_micro_usd, s.held_micro_usd
      from candidate c join scope s on s.id = c.id
      where s.spent_micro_usd + s.held_micro_usd > s.ceiling_micro_usd`
  },
  {
    name: "account_credit",
    text: "an account's credit is the sum of its credits in the journal, less what was paid back",
    of: "scope",
    query: `
      select s.id as subject, s.limit_micro_usd, j.credited
      from candidate c join scope s on s.id = c.id cross join lateral (
        select coalesce(sum(m.amount), 0) as credited from (
          select amount_micro_usd as amount from journal j where j.credit = 'account:' || s.id and j.source is not null
          union all
          select -amount_micro_usd from journal j where j.debit = 'account:' || s.id and j.source is not null) as m(amount)) j
      where s.kind = 'account' and s.limit_micro_usd <> j.credited`
  },
  {
    name: "journal_charge",
    text: "each closed hold that is charged to an account has exactly its charge in the journal, and no other hold has any",
    of: "hold",
    query: `
      select h.id as subject, h.state, h.actual_micro_usd, j.amount_micro_usd, j.debit
      from candidate c join hold h on h.id = c.id left join journal j on j.call_id = h.id and j.kind = 'usage'
      where coalesce(j.amount_micro_usd, 0) <> case when h.managed then coalesce(h.actual_micro_usd, 0) else 0 end
        or j.debit <> 'account:' || h.account_id`
  },
  {
    name: "write_offs",
    text: "only overruns of closed holds and late settlements of expired holds are written off",
    of: "hold",
    query: `
      select h.id as subject, h.state, j.kind, j.debit
      from candidate c join hold h on h.id = c.id join journal j on j.call_id = h.id
      where (j.kind = 'overrun' and (h.state not in ('settled', 'cancelled') or j.debit <> 'house'))
        or (j.kind = 'late' and (h.state <> 'expired' or j.debit <> 'house'))`
  },
  {
    name: "absorbed",
    text: "what a call's failed attempts cost at their providers is written off, unless the project pays its providers itself",
    of: "hold",
    query: `
      select h.id as subject, h.managed, j.amount_micro_usd, j.debit, a.cost
      from candidate c join hold h on h.id = c.id cross join lateral (
        select coalesce(sum(a.provider_cost_micro_usd), 0) as cost from attempt a where a.call_id = h.id) a
      left join journal j on j.call_id = h.id and j.kind = 'absorbed'
      where coalesce(j.amount_micro_usd, 0) <> case when h.managed then a.cost else 0 end or j.debit <> 'house'`
  },
  {
    name: "call_price",
    text: "a complete call is charged its usage at the prices of its admission, and a cancelled one no more, neither above its hold",
    of: "hold",
    query: `
      select h.id as subject, h.state, h.actual_micro_usd, h.amount_micro_usd, p.cost
      from candidate c join hold h on h.id = c.id join call r on r.id = h.id cross join lateral (
        -- computed once, not for each use
        select call_cost(r.prices, r.input_tokens, r.cache_read_tokens, r.cache_write_tokens, r.output_tokens,
          r.reasoning_tokens, r.input_audio_tokens, r.output_audio_tokens) as cost offset 0) p
      where r.prices is not null and h.state in ('settled', 'cancelled')
        and (h.actual_micro_usd > p.cost or (h.state = 'settled' and h.actual_micro_usd <> least(p.cost, h.amount_micro_usd)))`
  },
  {
    name: "call_row",
    text: "a charged or expired hold has a call row of the same key, and an open one has none",
    of: "hold",
    query: `
      select h.id as subject, h.state, h.key_id, r.key_id as call_key_id
      from candidate c join hold h on h.id = c.id left join call r on r.id = h.id
      where (r.id is null and h.state in ('settled', 'cancelled', 'expired'))
        or (r.id is not null and (h.state = 'held' or h.key_id <> r.key_id))`
  },
  {
    name: "call_cost",
    text: "the cost of a call is the charge of its hold",
    of: "hold",
    query: `
      select h.id as subject, h.state, h.actual_micro_usd, r.cost_micro_usd
      from candidate c join hold h on h.id = c.id join call r on r.id = h.id
      where h.state <> 'held' and r.cost_micro_usd <> h.actual_micro_usd`
  },
  {
    name: "attempt_cost",
    text: "the costs of a call's attempts add up to its cost",
    of: "hold",
    query: `
      select r.id as subject, r.cost_micro_usd, a.cost
      from candidate c join call r on r.id = c.id cross join lateral (
        select sum(a.cost_micro_usd) as cost from attempt a where a.call_id = r.id) a
      where a.cost <> r.cost_micro_usd`
  },
  {
    name: "hold_age",
    text: "no hold is open for longer than a call may take",
    of: "hold",
    query: `
      select h.id as subject, h.created_at, h.node
      from candidate c join hold h on h.id = c.id
      where h.state = 'held' and h.created_at < (select now() - max_age from longest)`
  },
  {
    name: "call_hold",
    text: "a call's row belongs to a hold",
    of: "call",
    query: `
      select r.id as subject, r.key_id from candidate c join call r on r.id = c.id
      where not exists (select from hold h where h.id = r.id)`
  },
  {
    name: "journal_hold",
    text: "what is charged or written off belongs to a hold",
    of: "journal",
    query: `
      select j.id as subject, j.kind, j.call_id from candidate c join journal j on j.id = c.id
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
}

export const queryOf = (
  { query }: Invariant,
  { base, candidates, maxCallSeconds, since, unsummed }: Selection
): string =>
  `with candidate as (${candidates}), base as (${base}), unsummed as (${unsummed}),
    since as not materialized (select ${since} as at),
    longest as (select interval '${maxCallSeconds + expiryGraceSeconds} seconds' as max_age) ${query}`

const allIds: { readonly [Of in Invariant["of"]]: string } = {
  hold: "select id from hold",
  call: "select id from call",
  journal: "select id from journal",
  scope: `select id from scope union select s.id from hold h cross join lateral (
    values (h.key_id), (h.project_id), (case when h.managed then h.account_id end)) as s(id) where s.id is not null`
}

/** Names the invariants that do not hold, each with the first rows that break it. Reads every row. */
export const check = <E>(
  run: (query: string) => Effect.Effect<ReadonlyArray<object>, E>
): Effect.Effect<ReadonlyArray<string>, E> =>
  Effect.map(
    Effect.forEach(invariants, (invariant) =>
      Effect.map(
        run(
          queryOf(invariant, {
            candidates: allIds[invariant.of],
            base: `select scope_id as id, spent_micro_usd as spent from ledger_scope_base
              where exists (select from retention where isfinite(deleted_before))`,
            // holds that are deleted are in the base, which ends here
            since: `(select case when isfinite(r.deleted_before) then c.holds_through else '-infinity' end
              from retention r, ledger_check c)`,
            unsummed: "select id from unsummed_hold",
            maxCallSeconds: Duration.toSeconds(defaultMaxCallDuration)
          })
        ),
        (rows) => (rows.length === 0 ? [] : [`${invariant.text}: ${JSON.stringify(rows.slice(0, 3))}`])
      )
    ),
    (found) => found.flat()
  )
