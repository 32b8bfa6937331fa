import * as Effect from "effect/Effect"

/** An invariant of the ledger, and a query for the rows that break it. */
interface Violation {
  readonly invariant: string
  readonly query: string
}

/**
 * Each query reads one snapshot, so the invariants hold while calls run. A limit that was lowered below what is spent is no
 * violation: that spending never exceeds a limit is checked when a hold is granted. The journal's account `house` is the
 * operator, who bears what is written off.
 */
const violations: ReadonlyArray<Violation> = [
  {
    invariant: "a scope's held amount is the sum of its open holds, and its spent amount the sum of its closed ones",
    query: `
      with sums as (
        select s.id, coalesce(sum(h.amount_micro_usd) filter (where h.state = 'held'), 0) as held,
          coalesce(sum(h.actual_micro_usd), 0) as spent
        from hold h cross join lateral (
          values (h.key_id), (h.project_id), (case when h.managed then h.account_id end)) as s(id)
        where s.id is not null group by s.id
      )
      select s.id, s.held_micro_usd, s.spent_micro_usd, t.held, t.spent from scope s full join sums t on t.id = s.id
      where s.id is null or s.held_micro_usd <> coalesce(t.held, 0) or s.spent_micro_usd <> coalesce(t.spent, 0)`
  },
  {
    invariant: "an account's credit is the sum of its credits in the journal, and its spending the sum of its debits",
    query: `
      with moves as (
        select account, sum(credited) as credited, sum(debited) as debited from (
          select credit as account, amount_micro_usd as credited, 0 as debited from journal
          union all
          select debit, 0, amount_micro_usd from journal
        ) m where account like 'account:%' group by account
      )
      select s.id, s.limit_micro_usd, s.spent_micro_usd, m.credited, m.debited
      from (select * from scope where kind = 'account') s full join moves m on m.account = 'account:' || s.id
      where s.id is null or s.limit_micro_usd <> coalesce(m.credited, 0) or s.spent_micro_usd <> coalesce(m.debited, 0)`
  },
  {
    invariant: "an account never spends and holds more than it was credited",
    query: `select id, limit_micro_usd, spent_micro_usd, held_micro_usd from scope
      where kind = 'account' and spent_micro_usd + held_micro_usd > limit_micro_usd`
  },
  {
    invariant:
      "each closed hold that is charged to an account has exactly its charge in the journal, and no other hold has any",
    query: `
      select h.id, h.state, h.actual_micro_usd, j.amount_micro_usd
      from hold h full join (select * from journal where kind = 'usage') j on j.call_id = h.id
      where h.id is null or coalesce(j.amount_micro_usd, 0) <> case when h.managed then coalesce(h.actual_micro_usd, 0) else 0 end
        or (j.id is not null and j.debit <> 'account:' || h.account_id)`
  },
  {
    invariant: "only overruns of closed holds and late settlements of expired holds are written off",
    query: `
      select j.id, j.kind, j.call_id, h.state from journal j left join hold h on h.id = j.call_id
      where (j.kind = 'overrun' and (h.state is null or h.state not in ('settled', 'cancelled') or j.debit <> 'house'))
        or (j.kind = 'late' and (h.state is distinct from 'expired' or j.debit <> 'house'))`
  },
  {
    invariant: "a call's row belongs to a closed hold of the same key, and an expired hold has a call row",
    query: `
      select h.id, h.state, c.key_id from hold h full join call c on c.id = h.id
      where (c.id is not null and (h.id is null or h.state = 'held' or h.key_id <> c.key_id))
        or (h.state = 'expired' and c.id is null)`
  }
]

/** Names the invariants that do not hold, each with the first rows that break it. */
export const check = <E>(
  run: (query: string) => Effect.Effect<ReadonlyArray<object>, E>
): Effect.Effect<ReadonlyArray<string>, E> =>
  Effect.map(
    Effect.forEach(violations, ({ invariant, query }) =>
      Effect.map(run(query), (rows) => (rows.length === 0 ? [] : [`${invariant}: ${JSON.stringify(rows.slice(0, 3))}`]))
    ),
    (found) => found.flat()
  )
