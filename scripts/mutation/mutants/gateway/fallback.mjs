// @ts-check

const fallback = "src/gateway/Fallback.ts"
const policy = "src/gateway/FallbackPolicy.ts"
const failures = "src/gateway/CallFailures.ts"

const fallbackTests = ["test/gateway/Fallback.test.ts", "test/gateway/Retries.test.ts"]
const policyTests = [
  "test/gateway/Retries.test.ts",
  "test/gateway/OpenCircuits.test.ts",
  "test/gateway/Holds.test.ts",
  "test/gateway/FallbackPolicy.test.ts"
]
const failuresTests = ["test/gateway/Retries.test.ts", "test/gateway/StreamEnds.test.ts"]

/**
 * What follows a failed attempt, and what the client is told when nothing does.
 * @type {ReadonlyArray<import("../../mutants.mjs").Mutant>}
 */
export const fallbackMutants = [
  {
    file: fallback,
    find: "wait(decision.delay)",
    replace: "wait(0)",
    breaks: "the delay of a retry is not waited for",
    tests: fallbackTests
  },
  {
    file: fallback,
    find: "Effect.flatMap(wait(decision.delay), () => attempt(left, failed))",
    replace: "Effect.zipLeft(attempt(left, failed), wait(decision.delay))",
    breaks: "a retried attempt begins before its delay",
    tests: fallbackTests
  },
  {
    file: fallback,
    find: "() => attempt(left, failed))",
    replace: "() => attempt([candidate], failed))",
    breaks: "after a retry no other candidate is left",
    tests: fallbackTests
  },
  {
    file: fallback,
    find: "return attempt(decision.to, failed)",
    replace: "return attempt(decision.to, [])",
    breaks: "a fallback forgets the failures before it",
    tests: fallbackTests
  },
  {
    file: fallback,
    find: "() => attempt(left, failed))",
    replace: "() => attempt(left, before))",
    breaks: "a retry forgets the failure before it",
    tests: fallbackTests
  },
  {
    file: fallback,
    find: '            case "GiveUp":\n              return Effect.fail(new Exhausted<C, E>({ failed }))',
    replace:
      '            case "GiveUp":\n              return Arr.isNonEmptyReadonlyArray(rest) ? attempt(rest, failed) : Effect.fail(new Exhausted<C, E>({ failed }))',
    breaks: "a decision to give up is not followed while candidates are left",
    tests: fallbackTests
  },
  {
    file: fallback,
    find: "Math.max(0, Intervals.start(decision.intervals) - now)",
    replace: "Intervals.start(decision.intervals)",
    breaks: "the delay of a schedule is taken from the epoch",
    tests: fallbackTests
  },
  {
    file: fallback,
    find: "ScheduleDecision.isContinue(decision)\n",
    replace: "ScheduleDecision.isContinue(decision) || true\n",
    breaks: "a schedule that has ended allows a retry",
    tests: fallbackTests
  },
  {
    file: policy,
    find: "  if (hasRetried) return false\n",
    replace: "",
    breaks: "a request is retried as often as the retry budget allows",
    tests: policyTests
  },
  {
    file: policy,
    find: "areAllAttempted(maxAttempts, attemptedModels(failures))",
    replace: "failures.length >= maxAttempts",
    breaks: "a retry counts as a candidate",
    tests: policyTests
  },
  {
    file: policy,
    find: '  if (error._tag === "Unaffordable") return rest\n',
    replace: '  if (error._tag === "Unaffordable") return []\n',
    breaks: "a candidate that cannot be paid for ends the call although others are left",
    tests: policyTests
  },
  {
    file: policy,
    find: "  if (!error.facts.mayFallBack) return []\n",
    replace: "",
    breaks: "a content policy refusal is shown to the next provider",
    tests: policyTests
  },
  {
    file: policy,
    find: 'return isLast || (reason._tag === "Unreachable" && reason.detail === "reset-before-response")',
    replace: "return isLast",
    breaks: "a reused connection that was reset is not retried while others are left",
    tests: policyTests
  },
  {
    file: policy,
    find: ' && reason.detail === "reset-before-response")',
    replace: ")",
    breaks: "a refused connection is retried while others are left",
    tests: policyTests
  },
  {
    file: policy,
    find: 'return isLast || (reason._tag === "Unreachable" && reason.detail === "reset-before-response")',
    replace: "return true",
    breaks: "a connect deadline is retried instead of falling back",
    tests: policyTests
  },
  {
    file: policy,
    find: "isLast && reason.status === 500",
    replace: "isLast",
    breaks: "a 503 is retried",
    tests: policyTests
  },
  {
    file: policy,
    find: "isLast && reason.status === 500",
    replace: "reason.status === 500",
    breaks: "a 500 is retried while others are left",
    tests: policyTests
  },
  {
    file: policy,
    find: "isLast && retryAfterMillis !== null && retryAfterMillis <= maxWaitMillis",
    replace: "isLast && retryAfterMillis !== null",
    breaks: "a long rate limit is waited for",
    tests: policyTests
  },
  {
    file: policy,
    find: "isLast && retryAfterMillis !== null && retryAfterMillis <= maxWaitMillis",
    replace: "isLast && (retryAfterMillis ?? 0) <= maxWaitMillis",
    breaks: "a rate limit of unknown length is retried at once",
    tests: policyTests
  },
  {
    file: policy,
    find: "isLast && retryAfterMillis !== null",
    replace: "retryAfterMillis !== null",
    breaks: "a rate limit is waited for while others are left",
    tests: policyTests
  },
  {
    file: policy,
    find: "model.contextTokens > tooSmall",
    replace: "model.contextTokens >= tooSmall",
    breaks: "a prompt that was too long is shown to a model with the same context",
    tests: policyTests
  },
  {
    file: policy,
    find: "model.contextTokens !== null && model.contextTokens > tooSmall",
    replace: "model.contextTokens === null || model.contextTokens > tooSmall",
    breaks: "a prompt that was too long is shown to a model with an undocumented context",
    tests: policyTests
  },
  {
    file: policy,
    find: "tooSmall === null\n        ? []",
    replace: "tooSmall === null\n        ? rest",
    breaks: "a prompt that was too long for an undocumented context is shown to every other model",
    tests: policyTests
  },
  {
    file: policy,
    find: 'countOf(failures, "RequestRejected") > 1',
    replace: 'countOf(failures, "RequestRejected") > 2',
    breaks: "a rejected request is shown to a third provider",
    tests: policyTests
  },
  {
    file: policy,
    find: "rest.filter(({ model }) => model.providerId !== candidate.model.providerId)",
    replace: "rest",
    breaks: "a rejected request is shown to another model of the same provider",
    tests: policyTests
  },
  {
    file: policy,
    find: 'countOf(failures, "EmptyCompletion") > 1',
    replace: 'countOf(failures, "EmptyCompletion") > 2',
    breaks: "a third candidate is asked after two empty answers",
    tests: policyTests
  },
  {
    file: policy,
    find: "Duration.millis(reason.retryAfterMillis ?? 0)",
    replace: "Duration.zero",
    breaks: "a rate limit is retried before it ends",
    tests: policyTests
  },
  {
    file: policy,
    find: "Duration.millis(random * maxBackOffMillis)",
    replace: "Duration.millis(maxBackOffMillis)",
    breaks: "calls that failed together with a 500 return together",
    tests: policyTests
  },
  {
    file: policy,
    find: "Option.isSome(delay) && Duration.toMillis(delay.value) < options.remainingMillis()",
    replace: "Option.isSome(delay)",
    breaks: "the delay of a retry may exceed what is left of the call",
    tests: policyTests
  },
  {
    file: policy,
    find: " && options.allows(candidate, true)) {",
    replace: ") {",
    breaks: "retries have no budget",
    tests: policyTests
  },
  {
    file: policy,
    find: "others.slice(allowed)",
    replace: "others",
    breaks: "a candidate that the retry budget does not allow is tried before one that it allows",
    tests: policyTests
  },
  {
    file: failures,
    find: "errors.find((error) => blames(error) !== undefined) ?? last",
    replace: "last",
    breaks: "the client is told the last reason for a rejected request, not the first",
    tests: failuresTests
  },
  {
    file: failures,
    find: "Math.min(soonest, reason.retryAfterMillis)",
    replace: "Math.max(soonest, reason.retryAfterMillis)",
    breaks: "the latest end of several rate limits is named",
    tests: failuresTests
  },
  {
    file: failures,
    find: 'if (reason._tag !== "RateLimited" || reason.retryAfterMillis === null) return null',
    replace: 'if (reason._tag !== "RateLimited" || reason.retryAfterMillis === null) continue',
    breaks: "a time is named although a provider has failed otherwise",
    tests: failuresTests
  },
  {
    file: failures,
    find: '  if (last?.reason._tag === "Shutdown") return new ServiceRefused({ reason: "shutting_down" })\n',
    replace: "",
    breaks: "a call that is aborted before its first content is called a failure of its providers",
    tests: failuresTests
  },
  {
    file: failures,
    find: 'param: reason._tag === "RequestRejected" ? reason.param : null',
    replace: "param: null",
    breaks: "the parameter that a provider blames is not named",
    tests: failuresTests
  }
]
