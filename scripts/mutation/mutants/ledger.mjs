// @ts-check
import { batcherMutants } from "./ledger/batcher.mjs"

const batches = ["test/ledger/Batching.test.ts", "test/ledger/batcher"]
const estimate = ["test/ledger/Estimate.test.ts"]
const money = ["test/ledger/Estimate.test.ts", "test/gateway"]

/** @type {import("../mutants.mjs").Area} */
export const ledger = {
  name: "ledger",
  tests: batches,
  mutants: [
    ...batcherMutants,
    {
      file: "src/sql/migrations/0005_ledger_batch.ts",
      find: "or (hears and h.node <> p_node",
      replace: "or (h.node <> p_node",
      breaks: "the first process that is back after an outage expires the calls of all others",
      tests: ["test/ledger/Recovery.test.ts"]
    },
    {
      file: "src/sql/migrations/0005_ledger_batch.ts",
      find: "    perform node_heard(p_node);",
      replace: "    null;",
      breaks: "a batch is no heartbeat of its process",
      tests: ["test/ledger/Recovery.test.ts"]
    },
    {
      file: "src/sql/migrations/0005_ledger_batch.ts",
      find: "if p_voids is not null then",
      replace: "if false then",
      breaks: "a reservation that is committed after its void leaves a hold",
      tests: ["test/ledger/LedgerStore.test.ts"]
    },
    {
      file: "src/ledger/Estimate.ts",
      find: "const minTokens = reasoning ? minReasoningTokens : need",
      replace: "const minTokens = need",
      breaks: "a model that reasons is granted too little to answer",
      tests: money
    },
    {
      file: "src/ledger/Estimate.ts",
      find: "request.maxOutputTokens === undefined ? maxCost",
      replace: "request.maxOutputTokens !== undefined ? maxCost",
      breaks: "a call without a client's cap takes all the room there is",
      tests: money
    },
    {
      file: "src/ledger/Hold.ts",
      find: "Math.min(typical - base, Math.floor(room / typicalShareDivisor))",
      replace: "typical - base",
      breaks: "what is typical takes more than half of the room",
      tests: ["test/gateway/Holds.test.ts", "test/ledger/Ledger.test.ts"]
    },
    {
      file: "src/ledger/Estimate.ts",
      find: "prompt.highTokens * safetyFactor",
      replace: "prompt.highTokens",
      breaks: "the most that a prompt may count has no margin",
      tests: ["test/ledger/TokenEstimator.test.ts"]
    },
    {
      file: "src/ledger/Estimate.ts",
      find: "prompt.utf8Bytes / minBytesPerToken",
      replace: "0",
      breaks: "a prompt of random letters has more tokens than its bound",
      tests: ["test/ledger/TokenEstimator.test.ts"]
    },
    {
      file: "src/ledger/TokenEstimator.ts",
      find: "high: (parts + extra) / token",
      replace: "high: parts / token",
      breaks: "a prompt in a script that tokenizers take apart has more tokens than its bound",
      tests: ["test/ledger/TokenEstimator.test.ts"]
    },
    {
      file: "src/ledger/Estimate.ts",
      find: "(prompt.images + prompt.files) * model.imageTokens",
      replace: "prompt.images * model.imageTokens",
      breaks: "files are held for as nothing",
      tests: estimate
    },
    {
      file: "src/ledger/Estimate.ts",
      find: "Math.min(cap, Math.floor(left / outputRate))",
      replace: "Math.min(cap, Math.ceil(left / outputRate))",
      breaks: "one token more is affordable than is held",
      tests: estimate
    },
    {
      file: "src/ledger/Estimate.ts",
      find: "model.contextTokens - likelyPromptTokens(prompt)",
      replace: "model.contextTokens",
      breaks: "an answer may take the whole context",
      tests: estimate
    },
    {
      file: "src/domain/Money.ts",
      find: "microUsd(Math.ceil(tokensTimesRate / 1_000_000))",
      replace: "microUsd(Math.floor(tokensTimesRate / 1_000_000))",
      breaks: "costs are rounded down",
      tests: money
    },
    {
      file: "src/domain/Prices.ts",
      find: "if (prompt > tier.abovePromptTokens) rates = tier",
      replace: "if (prompt >= tier.abovePromptTokens) rates = tier",
      breaks: "a price tier begins one token too early",
      tests: ["test/ledger/Estimate.test.ts", "test/policy/EffectivePolicy.test.ts", "test/routing/Router.test.ts"]
    }
  ]
}
