// @ts-check
import { batcherMutants } from "./ledger/batcher.mjs"
import { migrationMutants } from "./ledger/migrations.mjs"

const batches = ["test/ledger/Batching.test.ts", "test/ledger/batcher"]
const estimate = ["test/ledger/Estimate.test.ts"]
const attempts = ["test/ledger/CallAttempts.test.ts"]
const priced = ["test/domain/Prices.test.ts", "test/gateway/PricedParts.test.ts"]
const money = ["test/ledger/Estimate.test.ts", "test/gateway"]

/** @type {import("../mutants.mjs").Area} */
export const ledger = {
  name: "ledger",
  tests: batches,
  mutants: [
    ...batcherMutants,
    ...migrationMutants,
    {
      file: "src/ledger/CallRows.ts",
      find: "record.attempts.length === 1 &&",
      replace: "record.attempts.length >= 1 &&",
      breaks: "attempts after the first are in no row",
      tests: attempts
    },
    {
      file: "src/ledger/CallRows.ts",
      find: 'record.status === "success" &&',
      replace: "",
      breaks: "an attempt that succeeded in a call that did not is read as failed",
      tests: attempts
    },
    {
      file: "src/ledger/CallRows.ts",
      find: 'attempt?.status === "success" &&',
      replace: "attempt !== undefined &&",
      breaks: "a failed attempt of a call that succeeded is read as a success",
      tests: attempts
    },
    {
      file: "src/ledger/CallRows.ts",
      find: "attempt.cost.amount_microusd === record.cost.amount_microusd &&",
      replace: "",
      breaks: "an attempt is read with the cost of its call",
      tests: attempts
    },
    {
      file: "src/ledger/CallRows.ts",
      find: "    areSame(use.usage, record.usage)",
      replace: "    (use.usage === null) === (record.usage === null)",
      breaks: "an attempt is read with the usage of its call",
      tests: attempts
    },
    {
      file: "src/sql/migrations/0050_call_attempts.ts",
      find: "from call where attempt_latency_millis is not null;",
      replace: "from call;",
      breaks: "calls are read with an attempt more",
      tests: attempts
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
      find: "highTokens * safetyFactor",
      replace: "highTokens",
      breaks: "the most that a prompt may count has no margin",
      tests: ["test/ledger/TokenEstimator.test.ts"]
    },
    {
      file: "src/ledger/Estimate.ts",
      find: "utf8Bytes / minBytesPerToken",
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
      find: "images + files + furtherPages",
      replace: "images + furtherPages",
      breaks: "files are held for as nothing",
      tests: estimate
    },
    {
      file: "src/ledger/Estimate.ts",
      find: "images + files + furtherPages",
      replace: "images + files",
      breaks: "a PDF is held for as one page",
      tests: estimate
    },
    {
      file: "src/ledger/PdfPages.ts",
      find: "pages += more",
      replace: "pages = Math.max(pages, more)",
      breaks: "pages of several object streams count once",
      tests: ["test/ledger/PdfPages.test.ts"]
    },
    {
      file: "src/ledger/PdfPages.ts",
      find: "namesLeft > 0 ? 1 : assumedPages, pages, count",
      replace: "namesLeft > 0 ? 1 : assumedPages, pages",
      breaks: "a page object that stands for many is held for once",
      tests: ["test/ledger/PdfPages.test.ts"]
    },
    {
      file: "src/domain/HighestCost.ts",
      find: "Math.floor(left / rate)",
      replace: "Math.ceil(left / rate)",
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
    },
    {
      file: "src/domain/Prices.ts",
      find: "requested === prices ? standard : Math.max(standard,",
      replace: "requested === prices ? standard : Math.min(standard,",
      breaks: "a hold does not cover the dearer of two service tiers",
      tests: priced
    },
    {
      file: "src/domain/Prices.ts",
      find: "terms.serviceTier === null || servedTier === undefined || !isStandardTier(servedTier)",
      replace: "true",
      breaks: "a call that was served in the standard tier costs what was requested",
      tests: priced
    },
    {
      file: "src/routing/Terms.ts",
      find: 'if (billingMode !== "managed" || prices === null) return false',
      replace: "if (prices === null) return false",
      breaks: "a project that pays its providers itself loses what has no price",
      tests: priced
    },
    {
      file: "src/gateway/CallState.ts",
      find: "const isUsed = tally.usage !== undefined || tally.characters > 0 ||",
      replace: "const isUsed = tally.usage !== undefined ||",
      breaks: "what a stream that broke has used is not recorded",
      tests: ["test/gateway/Costs.test.ts"]
    }
  ]
}
