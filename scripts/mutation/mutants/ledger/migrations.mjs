// @ts-check

const rateLimits = "src/sql/migrations/0054_changed_rate_limits.ts"
const longHolds = "src/sql/migrations/0040_long_holds.ts"
const clock = "src/sql/migrations/0055_clock_set_back.ts"
const prices = "src/sql/migrations/0009_call_prices.ts"
const reserve = "src/sql/migrations/0049_ledger_reserve.ts"
const model = ["test/ledger/Model.test.ts", "test/ledger/LedgerStore.test.ts", "test/ledger/Ledger.test.ts"]
const recovery = ["test/ledger/Recovery.test.ts"]
const store = ["test/ledger/LedgerStore.test.ts"]
const checks = ["test/ledger/InvariantCheck.test.ts"]
const limits = ["test/policy/StoredRateLimits.test.ts"]

/** @type {ReadonlyArray<import("../../mutants.mjs").Mutant>} */
export const migrationMutants = [
  {
    file: reserve,
    find: "if known < cardinality(scopes) then return; end if;",
    replace: "",
    breaks: "a call of an account, project or key without a scope is granted",
    tests: model
  },
  {
    file: reserve,
    find: "if o_min[i] <= room then",
    replace: "if o_min[i] <= room + 1 then",
    breaks: "a hold is granted by one micro-USD too much",
    tests: model
  },
  {
    file: reserve,
    find: "else greatest(o_min[i], room / 16, least(o_typical[i], room / 2)) end",
    replace: "else room end",
    breaks: "a call without a cap holds all that is left",
    tests: model
  },
  {
    file: reserve,
    find: "if not found then return; end if;",
    replace: "",
    breaks: "a second hold of a call is counted",
    tests: model
  },
  {
    file: reserve,
    find: "case when p_managed then array[p_account, p_project, p_key] else array[p_project, p_key] end",
    replace: "array[p_account, p_project, p_key]",
    breaks: "a call on own credentials holds money of the balance",
    tests: model
  },
  {
    file: reserve,
    find: "available := least(greatest(0, room - amount), max_safe);",
    replace: "available := least(room, max_safe);",
    breaks: "a hold counts as room beside itself",
    tests: model
  },
  {
    file: reserve,
    find: "if granted > 0 and not exists",
    replace: "if false and not exists",
    breaks: "a node that only reserves is not heard",
    tests: recovery
  },
  {
    file: longHolds,
    find: "hears constant boolean := node_hears(p_node, p_silence);",
    replace: "hears constant boolean := true;",
    breaks: "the first process that is back after an outage expires the calls of all others",
    tests: recovery
  },
  {
    file: clock,
    find: "  insert into long_hold select h.id from hold h\n  where h.created_at >= from_time",
    replace: "  insert into long_hold select h.id from hold h\n  where false and h.created_at >= from_time",
    breaks: "a hold that is open when the search moves past it is never found again",
    tests: recovery
  },
  {
    file: clock,
    find: "select least(now() - p_margin, min(a.xact_start)) into to_time",
    replace: "select least(now() - p_margin, min('infinity'::timestamptz)) into to_time",
    breaks: "the hold of a transaction that lasts longer than the margin is never found",
    tests: recovery
  },
  {
    file: clock,
    find: "  delete from long_hold l where l.id = any(listed) and l.id <> all(open);",
    replace: "",
    breaks: "holds that have ended are read forever",
    tests: recovery
  },
  {
    file: longHolds,
    find: "where written_at < horizon and not exists (select from unsummed_hold u where u.id = call.id)",
    replace: "where written_at < horizon",
    breaks: "a call is deleted before what it has spent is in the sums of its scopes",
    tests: ["test/account/Retention.test.ts"]
  },
  {
    file: "src/ledger/InvariantCheckStore.ts",
    find: "insert into unsummed_hold select id from passed where closed_at is null on conflict do nothing",
    replace: "insert into unsummed_hold select id from passed where false on conflict do nothing",
    breaks: "what a call that lasts has spent is missing in the sums of its scopes",
    tests: checks
  },
  {
    file: rateLimits,
    find: "      if longest = 0 then",
    replace: "      if true then",
    breaks: "a request that is refused counts",
    tests: limits
  },
  {
    file: rateLimits,
    find: "others[place] + own[place] >= lim",
    replace: "own[place] >= lim",
    breaks: "requests that run in other processes do not count",
    tests: limits
  },
  {
    file: rateLimits,
    find: "rate_limit_level(b.tokens_level,",
    replace: "rate_limit_level(0 * b.tokens_level,",
    breaks: "tokens of other processes do not count",
    tests: limits
  },
  {
    file: prices,
    find: "    perform node_heard(p_node);",
    replace: "    null;",
    breaks: "a batch is no heartbeat of its process",
    tests: recovery
  },
  {
    file: prices,
    find: "if p_voids is not null then",
    replace: "if false then",
    breaks: "a reservation that is committed after its void leaves a hold",
    tests: store
  },
  {
    file: prices,
    find: "where h.managed and l.provider_cost_micro_usd > 0",
    replace: "where l.provider_cost_micro_usd > 0",
    breaks: "what a project pays its providers itself is written off",
    tests: store
  },
  {
    file: longHolds,
    find: "audio_input * coalesce((rates ->> 'audioInput')::numeric, input_rate)",
    replace: "audio_input * input_rate",
    breaks: "the database proves charges without the price of audio",
    tests: store
  },
  {
    file: "src/ledger/LedgerInvariants.ts",
    find: "c.actual_micro_usd <> least(p.cost, c.amount_micro_usd)",
    replace: "false",
    breaks: "a charge below what the prices of the call come to is not found",
    tests: checks
  },
  {
    file: "src/ledger/InvariantCheckStore.ts",
    find: "      where is_settled`",
    replace: "      `",
    breaks: "an entry of the journal is passed over that was committed later than those that follow it",
    tests: checks
  },
  {
    file: "src/ledger/InvariantCheckStore.ts",
    find: "not exists (select from ledger_violation v where v.invariant = b.invariant and v.subject = b.subject)",
    replace: "true",
    breaks: "no violation is remembered beyond the first hundred",
    tests: checks
  },
  {
    file: "src/ledger/InvariantCheckStore.ts",
    find: "column} from ledger_check) order by id limit ",
    replace: "column} from ledger_check) order by id desc limit ",
    breaks: "the scopes of a portion are not those that follow the last one",
    tests: checks
  },
  {
    file: "src/ledger/InvariantCheckStore.ts",
    find: "not exists (select from broken b where b.invariant = v.invariant and b.subject = v.subject)",
    replace: "not exists (select from broken b where b.subject = v.subject)",
    breaks: "a violation that is gone is told for as long as its row breaks another invariant",
    tests: checks
  }
]
