// @ts-check

const health = ["test/routing/Health.test.ts"]
const budget = ["test/routing/RetryBudget.test.ts", "test/routing/SlidingWindow.test.ts"]
const exploration = ["test/routing/Exploration.test.ts", "test/gateway/Exploration.test.ts"]

/** @type {import("../mutants.mjs").Area} */
export const routing = {
  name: "routing",
  tests: ["test/routing"],
  mutants: [
    {
      file: "src/routing/HealthStates.ts",
      find: "    this.credentials.delete(id)\n",
      replace: "",
      breaks: "a credential with another secret is passed over for the last one",
      tests: health
    },
    {
      file: "src/routing/Score.ts",
      find: "textTokens + imagesAndFiles * (imageTokens[at] ?? 0)",
      replace: "textTokens",
      breaks: "images cost nothing",
      tests: ["test/routing/Router.test.ts"]
    },
    {
      file: "src/routing/Breaker.ts",
      find: "if (isHalfOpen && nowMillis >= this.openUntilMillis)",
      replace: "if (isHalfOpen)",
      breaks: "each call while a circuit is open keeps it open for longer",
      tests: health
    },
    {
      file: "src/routing/Breaker.ts",
      find: "this.halfOpenUntilMillis = nowMillis + halfOpenMillis",
      replace: "this.halfOpenUntilMillis = 0",
      breaks: "every call probes a half-open circuit",
      tests: health
    },
    {
      file: "src/routing/Breaker.ts",
      find: "    if (nowMillis < this.ejectedUntilMillis) return false\n    this.recordOutcome(nowMillis)\n    this.failures += weight",
      replace: "    this.recordOutcome(nowMillis)\n    this.failures += weight",
      breaks: "calls that were running when a circuit opened keep it open for longer",
      tests: health
    },
    {
      file: "src/routing/Breaker.ts",
      find: "    if (nowMillis < this.ejectedUntilMillis) return false\n    this.recordOutcome(nowMillis)\n    this.successes++",
      replace: "    this.recordOutcome(nowMillis)\n    this.successes++",
      breaks: "a success of a call that was running ends the half-open state, and makes the next open period short",
      tests: health
    },
    {
      file: "src/routing/Breaker.ts",
      find: "openMillis * this.ejections",
      replace: "openMillis",
      breaks: "a circuit whose probe fails is open no longer than before",
      tests: health
    },
    {
      file: "src/routing/Breaker.ts",
      find: "attempts >= minAttemptsInWindow && failures > attempts / 2",
      replace: "attempts >= minAttemptsInWindow && failures >= attempts / 2",
      breaks: "the circuit of a route that fails half of the time opens",
      tests: health
    },
    {
      file: "src/routing/Breaker.ts",
      find: "    this.consecutiveFailures = 0\n    this.halfOpenUntilMillis = 0\n",
      replace: "    this.consecutiveFailures = 0\n",
      breaks: "a route whose probe has succeeded keeps others away",
      tests: health
    },
    {
      file: "src/domain/BoundedMap.ts",
      find: "    this.older.delete(key)\n    if",
      replace: "    if",
      breaks: "what is set again is in a bounded map twice",
      tests: ["test/domain/BoundedMap.test.ts"]
    },
    {
      file: "src/domain/BoundedMap.ts",
      find: "if (this.newer.size < this.kept) return",
      replace: "if (this.newer.size <= this.kept / 2) return",
      breaks: "entries that a cache is to keep are dropped",
      tests: ["test/domain/BoundedMap.test.ts"]
    },
    {
      file: "src/routing/Breaker.ts",
      find: "    this.failures *= kept\n",
      replace: "",
      breaks: "failures never fade",
      tests: health
    },
    {
      file: "src/routing/Breaker.ts",
      find: "const halfLifeMillis = 60_000",
      replace: "const halfLifeMillis = 30_000",
      breaks: "outcomes are forgotten twice as fast",
      tests: health
    },
    {
      file: "src/routing/Health.ts",
      find: 'error.reason._tag === "EmptyCompletion" ? emptyWeight : 1',
      replace: "1",
      breaks: "an empty answer counts as a whole failure",
      tests: health
    },
    {
      file: "src/routing/Health.ts",
      find: "  if (now < access.coolingUntilMillis) return access.coolingUntilMillis\n",
      replace: "",
      breaks: "calls that are limited together double the cool-down together",
      tests: health
    },
    {
      file: "src/routing/Health.ts",
      find: "  access.coolDowns = 0\n",
      replace: "",
      breaks: "cool-downs stay long after a success",
      tests: health
    },
    {
      file: "src/routing/HealthStates.ts",
      find: "(model.listed ? model.providerId : model.id)",
      replace: "model.providerId",
      breaks: "what befalls an unlisted route counts against its provider",
      tests: health
    },
    {
      file: "src/routing/Health.ts",
      find: "return error.retryAfterMillis === null ? broken : [...broken, cooled()]",
      replace: "return broken",
      breaks: "an overloaded provider that names a time is asked before it",
      tests: health
    },
    {
      file: "src/routing/Health.ts",
      find: "    outUntilMillis > now\n      ? 1\n      : ",
      replace: "    ",
      breaks: "a route whose credential is refused is ranked as if it could answer",
      tests: health
    },
    {
      file: "src/routing/RetryBudget.ts",
      find: "if (retries + 1 > minRetries + retryShare * calls) return false",
      replace: "if (retries > minRetries + retryShare * calls) return false",
      breaks: "one retry more than the budget is made",
      tests: budget
    },
    {
      file: "src/routing/RetryBudget.ts",
      find: "      window.add(now, 0, 1)\n",
      replace: "",
      breaks: "retries are not counted",
      tests: budget
    },
    {
      file: "src/routing/RetryBudget.ts",
      find: "windows.get(model.providerId)",
      replace: "windows.get(model.id)",
      breaks: "every call starts a new budget for its provider",
      tests: budget
    },
    {
      file: "src/routing/SlidingWindow.ts",
      find: "if (slot - this.slot >= slots) {",
      replace: "if (slot - this.slot > slots) {",
      breaks: "a window's slots are all emptied one by one",
      equivalent: "emptying each slot in turn leaves the same window as emptying all at once",
      tests: budget
    },
    {
      file: "src/routing/Score.ts",
      find: "const forCost = unit - forQuality",
      replace: "const forCost = unit",
      breaks: "at alpha 1 cost still counts"
    },
    {
      file: "src/routing/Score.ts",
      find: "const forQuality = Math.round(alpha * unit)",
      replace: "const forQuality = Math.round(Math.max(alpha, 0.01) * unit)",
      breaks: "at alpha 0 quality still counts"
    },
    {
      file: "src/routing/Score.ts",
      find: "(state.failure - priorFailure) / (1 - priorFailure)",
      replace: "state.failure",
      breaks: "a route in use is beaten by one that nobody has tried, or the reverse"
    },
    {
      file: "src/routing/Score.ts",
      find: "(isOpen ? 2 : 0) + (state.failure > mostlyFailing ? 1 : 0)",
      replace: "isOpen ? 2 : 0",
      breaks: "a route that mostly fails is not put behind the others"
    },
    {
      file: "src/routing/Score.ts",
      find: "ascending(costs, a, b) || ",
      replace: "",
      breaks: "of two routes alike the dearer may be first"
    },
    {
      file: "src/routing/Router.ts",
      find: "  diversify(scores, order)\n",
      replace: "",
      breaks: "the second candidate is the same provider's although another is near"
    },
    {
      file: "src/routing/Arrange.ts",
      find: "if (other === undefined || tiers[other] !== tiers[second]) return",
      replace: "if (other === undefined) return",
      breaks: "a route that rests is made the second candidate"
    },
    {
      file: "src/routing/Router.ts",
      find: 'if (!scores.areWell && order.some((at) => byHealthyRank(scores, at, first) < 0)) return "health_demotion"',
      replace: "",
      breaks: "a demotion for health is not told"
    },
    {
      file: "src/routing/Router.ts",
      find: "fallbackEnabled: policy.fallbackEnabled && !pool.pinned",
      replace: "fallbackEnabled: policy.fallbackEnabled",
      breaks: "a pinned model falls back"
    },
    {
      file: "src/routing/Router.ts",
      find: "...(bestTier >= 2 ?",
      replace: "...(bestTier >= 1 ?",
      breaks: "a route that mostly fails is waited for"
    },
    {
      file: "src/routing/ModelPool.ts",
      find: "{ models: snapshot.listed, pinned: false }",
      replace: "{ models: snapshot.models, pinned: false }",
      breaks: "auto takes routes that are not listed"
    },
    {
      file: "src/routing/Exploration.ts",
      find: "{ propensity: 1 - share + each, isOther: false }",
      replace: "{ propensity: 1 - share, isOther: false }",
      breaks: "the propensity of the best model leaves out that exploration may choose it too",
      tests: exploration
    },
    {
      file: "src/routing/Exploration.ts",
      find: "if ((tiers[at] ?? 0) > 0 || (utilities[first]",
      replace: "if ((utilities[first]",
      breaks: "a route that rests is tried",
      tests: exploration
    },
    {
      file: "src/routing/Exploration.ts",
      find: "explorationShare > 0 && fallbackEnabled && alpha > 0",
      replace: "explorationShare > 0 && alpha > 0",
      breaks: "a call without fallback is left to chance",
      tests: exploration
    },
    {
      file: "src/routing/Eligibility.ts",
      find: "promptTokens + Math.min(maxOutputTokens ?? 1, outputTokens[at] ?? 0) > (contextTokens[at] ?? 0)",
      replace: "promptTokens > (contextTokens[at] ?? 0)",
      breaks: "a model without room for the wanted output is eligible"
    },
    {
      file: "src/routing/Eligibility.ts",
      find: 'model.prices === null && input.billingMode === "managed"',
      replace: "model.prices === null",
      breaks: "a project that pays itself cannot use a model without prices"
    },
    {
      file: "src/routing/Eligibility.ts",
      find: "if (layer.serial === null || (layer.capped && table.hasTiers)) return null",
      replace: "if (layer.serial === null) return null",
      breaks: "a price cap is judged by the tier of an earlier prompt"
    },
    {
      file: "src/routing/Eligibility.ts",
      find: "for (const { effort, reason } of requirements) rules +=",
      replace: "for (const { effort, reason } of requirements.slice(1)) rules +=",
      breaks: "a request is routed by the requirements of an earlier one"
    },
    {
      file: "src/routing/Eligibility.ts",
      find: "let rules: string = billingMode",
      replace: 'let rules = ""',
      breaks: "a project is routed by the billing mode of another"
    },
    {
      file: "src/routing/Score.ts",
      find: "order.sort((a, b) => byRank(scores, a, b))\n",
      replace: "",
      breaks: "a ranking that is far from the one before stays half sorted"
    },
    {
      file: "src/routing/Router.ts",
      find: "!scores.areWell && order.some",
      replace: "order.some",
      breaks: "the equal route that is drawn counts as a demotion for health"
    },
    {
      file: "src/routing/Score.ts",
      find: "if (isOpen || excess > 0) scores.areWell = false",
      replace: "",
      breaks: "no demotion for health is told"
    },
    {
      file: "src/routing/Health.ts",
      find: "if (providers.size > 0 || routes.size > places.size) return null",
      replace: "",
      breaks: "the other routes of a provider that cannot be reached are not passed over"
    },
    {
      file: "src/routing/Score.ts",
      find: "return order.slice()",
      replace: "return order",
      breaks: "a later ranking changes the order of an earlier one"
    },
    {
      file: "src/routing/Router.ts",
      find: "if (last !== undefined && isSame(last.order, order)) return last.ids",
      replace: "if (last !== undefined) return last.ids",
      breaks: "the pool is listed in the order of an earlier ranking"
    }
  ]
}
