// @ts-check

const rateLimits = "src/sql/migrations/0007_rate_limits.ts"
const growth = "src/sql/migrations/0008_growth.ts"
const prices = "src/sql/migrations/0009_call_prices.ts"
const recovery = ["test/ledger/Recovery.test.ts"]
const store = ["test/ledger/LedgerStore.test.ts"]
const checks = ["test/ledger/InvariantCheck.test.ts"]
const limits = ["test/policy/StoredRateLimits.test.ts"]

/** @type {ReadonlyArray<import("../../mutants.mjs").Mutant>} */
export const migrationMutants = [
  {
    file: growth,
    find: "hears constant boolean := node_hears(p_node, p_silence);",
    replace: "hears constant boolean := true;",
    breaks: "the first process that is back after an outage expires the calls of all others",
    tests: recovery
  },
  {
    file: growth,
    find: "update open_holds set since = coalesce(oldest, now()) - interval '1 minute'",
    replace: "update open_holds set since = now() + interval '1 minute'",
    breaks: "open holds are looked for after the watermark has passed them",
    tests: recovery
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
    find: "others[place] + own[place] >= limits[3]",
    replace: "own[place] >= limits[3]",
    breaks: "requests that run in other processes do not count",
    tests: limits
  },
  {
    file: rateLimits,
    find: "b.tokens_level - (now_millis - b.at_millis)",
    replace: "0 * b.tokens_level - (now_millis - b.at_millis)",
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
    file: prices,
    find: "a.input * coalesce(r.rates ->> 'audioInput', r.rates ->> 'input')::numeric",
    replace: "a.input * (r.rates ->> 'input')::numeric",
    breaks: "the database proves charges without the price of audio",
    tests: store
  },
  {
    file: "src/ledger/LedgerInvariants.ts",
    find: "h.actual_micro_usd <> least(p.cost, h.amount_micro_usd)",
    replace: "false",
    breaks: "a charge below what the prices of the call come to is not found",
    tests: checks
  }
]
