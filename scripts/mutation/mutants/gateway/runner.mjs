// @ts-check

const runner = "src/gateway/CallRunner.ts"
const program = "src/gateway/CallProgram.ts"
const defects = "src/observe/Defects.ts"
const running = "src/gateway/RunningCalls.ts"
const admission = "src/gateway/Admission.ts"
const routing = "src/gateway/RequestRouting.ts"
const ended = "src/gateway/CallEnd.ts"
const dispatch = "src/gateway/Dispatch.ts"
const numbers = "src/gateway/RequestNumbers.ts"
const holdOptions = "src/gateway/HoldOptions.ts"
const deadlines = "src/gateway/Deadlines.ts"

const runnerTests = [
  "test/gateway/Places.test.ts",
  "test/gateway/Defects.test.ts",
  "test/gateway/Costs.test.ts",
  "test/gateway/CallObserver.test.ts",
  "test/gateway/StreamEnds.test.ts",
  "test/gateway/Embedding.test.ts"
]
const admissionTests = [
  "test/gateway/Places.test.ts",
  "test/gateway/Holds.test.ts",
  "test/gateway/RoutingConfigurations.test.ts",
  "test/gateway/Admission.test.ts"
]
const holdOptionsTests = ["test/gateway/HoldOptions.test.ts"]
const dispatchTests = [
  "test/gateway/HoldSlices.test.ts",
  "test/gateway/Holds.test.ts",
  "test/gateway/Retries.test.ts",
  "test/gateway/OpenCircuits.test.ts",
  "test/gateway/RouteHealth.test.ts",
  "test/gateway/Deadlines.test.ts",
  "test/gateway/CallObserver.test.ts"
]
const deadlinesTests = ["test/gateway/Deadlines.test.ts"]

/**
 * Before the first attempt, around all attempts, and after the last one.
 * @type {ReadonlyArray<import("../../mutants.mjs").Mutant>}
 */
export const runnerMutants = [
  {
    file: program,
    find: "      release()\n      return Effect.failCause(",
    replace: "      return Effect.failCause(",
    breaks: "a refused hold keeps its place among the running requests",
    tests: runnerTests
  },
  {
    file: ended,
    find: "    admitted.release()\n",
    replace: "",
    breaks: "a call that is over keeps its place among the running requests",
    tests: runnerTests
  },
  {
    file: runner,
    find: "    ({ release }) => Effect.sync(release)",
    replace: "    () => Effect.void",
    breaks: "a model list and a count of tokens keep their places among the running requests",
    tests: runnerTests
  },
  {
    file: ended,
    find: "if (Exit.isFailure(exit) && Cause.isDie(exit.cause)) call.died()",
    replace: "",
    breaks: "a defect is settled as if the client had left",
    tests: runnerTests
  },
  {
    file: running,
    find: 'if (this.wereAborted) call.abort({ _tag: "Shutdown" })',
    replace: "",
    breaks: "a call that begins after the abort runs on",
    tests: runnerTests
  },
  {
    file: running,
    find: '    for (const call of this.calls.values()) call.abort({ _tag: "Shutdown" })\n',
    replace: "",
    breaks: "an abort leaves running calls alone",
    tests: runnerTests
  },
  {
    file: program,
    find: "restore(use(call, dispatch))",
    replace: "use(call, dispatch)",
    breaks: "a client that leaves does not end its call",
    tests: runnerTests
  },
  {
    file: program,
    find: "request.stream ? { ...request, stream: false } : request, callOptions",
    replace: "request, callOptions",
    breaks: "a request for a stream that is completed asks its provider for a stream",
    tests: runnerTests
  },
  {
    file: program,
    find: "request.stream ? request : { ...request, stream: true }, callOptions",
    replace: "request, callOptions",
    breaks: "a request for a non-streaming response that is relayed asks its provider for one",
    tests: runnerTests
  },
  {
    file: program,
    find: "answer: answer.usage === usage ? answer : { ...answer, usage }",
    replace: "answer",
    breaks: "an answer whose usage the gateway has estimated does not contain it",
    tests: runnerTests
  },
  {
    file: program,
    find: "    call.contentReceived()\n",
    replace: "",
    breaks: "a stream has no time to its first content",
    tests: runnerTests
  },
  {
    file: program,
    find: "Math.floor(admitted.startedAtMillis / 1_000)",
    replace: "admitted.startedAtMillis",
    breaks: "a response is dated in milliseconds",
    tests: runnerTests
  },
  {
    file: defects,
    find: "return Effect.logError(message, cause)",
    replace: "return Effect.void",
    breaks: "what an observer throws is not logged",
    tests: runnerTests
  },
  {
    file: defects,
    find: "    Metrics.defect()\n",
    replace: "",
    breaks: "what an observer throws is not counted as a defect",
    tests: runnerTests
  },
  {
    file: program,
    find: '    return Spans.span(\n      call.isTraced,\n      "gateway.relay",\n      Spans.noAttributes,\n      pump(call, opened, sink, deps.call.timers, slices)\n    )',
    replace: "    return pump(call, opened, sink, deps.call.timers, slices)",
    breaks: "the relay of a stream has no span",
    tests: runnerTests
  },
  {
    file: ended,
    find: '    "gateway.status": status,\n',
    replace: "",
    breaks: "the span of a call does not say how it ended",
    tests: runnerTests
  },
  {
    file: admission,
    find: "() => Effect.sync(release)",
    replace: "() => Effect.void",
    breaks: "a request that is refused by policy or routing keeps its place among the running requests",
    tests: admissionTests
  },
  {
    file: admission,
    find: "deps.rateLimits.admit(caller, Estimate.likelyPromptTokens(measure))",
    replace: "deps.rateLimits.admit(caller, 0)",
    breaks: "prompts are not counted against the tokens per minute",
    tests: admissionTests
  },
  {
    file: admission,
    find: "fallbackEnabled ? candidates : candidatesFrom([candidates.first])",
    replace: "candidates",
    breaks: "a request without fallback falls back",
    tests: ["test/gateway/Retries.test.ts", "test/gateway/Holds.test.ts"]
  },
  {
    file: holdOptions,
    find: "request, candidate, reasoning, need)",
    replace: "request, candidate, false, need)",
    breaks: "a model that reasons is called with too small a hold for it",
    tests: holdOptionsTests
  },
  {
    file: holdOptions,
    find: "need) >= lowest) continue",
    replace: "need) > lowest) continue",
    breaks: "options that can never be granted are sent to the ledger",
    tests: holdOptionsTests
  },
  {
    file: holdOptions,
    find: "      lowest = option.min\n",
    replace: "      lowest = option.max\n",
    breaks: "a candidate that fits the room is passed over",
    tests: holdOptionsTests
  },
  {
    file: routing,
    find: "const active = configurations.filter((configuration) => configuration.isActive)",
    replace: "const active = configurations",
    breaks: "an inactive routing configuration can be named",
    tests: admissionTests
  },
  {
    file: admission,
    find: "\n      .filter((configuration) => configuration.isActive)",
    replace: "",
    breaks: "an inactive routing configuration is listed",
    tests: admissionTests
  },
  {
    file: routing,
    find: "if (byName !== null && byName.id !== bySlug.id) {",
    replace: "if (false) {",
    breaks: "model and routing_config may name different configurations",
    tests: admissionTests
  },
  {
    file: dispatch,
    find: "  if (abortReason !== undefined) {",
    replace: '  if (abortReason?._tag === "Shutdown") {',
    breaks: "a call that is stopped in the wait before a retry sends another request, which is charged",
    tests: ["test/gateway/StoppedCalls.test.ts"]
  },
  {
    file: dispatch,
    find: "call.own({ close: cancel, fail: end })",
    replace: "call.own({ close: cancel, fail: () => {} })",
    breaks: "an aborted call waits for its retry",
    tests: runnerTests
  },
  {
    file: dispatch,
    find: "const rank = admitted.holdOptions.candidateOf(hold.option)",
    replace: "const rank = 0 * hold.option",
    breaks: "a candidate that the hold has passed over is tried first",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "isCounted ? inTheEnd : affordable(hold.amount)",
    replace: "inTheEnd",
    breaks: "a non-streaming call may generate more than its hold pays for",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "  const missing = unheld(call, candidate)",
    replace: "  const missing = undefined as ReturnType<typeof unheld>",
    breaks: "a dearer candidate is called without extending the hold",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "      call.extended(hold)\n",
    replace: "",
    breaks: "an extended hold is not used",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "candidate === admitted.ranked.candidates.at(admitted.holdOptions.candidateOf(hold.option))",
    replace: "candidate === undefined",
    breaks: "a partial hold is extended for the candidate that it was granted for",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "(option.typical ?? option.max) <= hold.amount ? undefined : option",
    replace: "option",
    breaks: "a hold is extended for a cheaper candidate",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "    endsAtMillis: endsAtMillis(deps, call),\n    acceptEmpty",
    replace: "    endsAtMillis: deps.timers.now() + deps.deadlines.totalMillis,\n    acceptEmpty",
    breaks: "each attempt has the whole call's time anew",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "remainingMillis: () => endsAtMillis(deps, call) - deps.timers.now()",
    replace: "remainingMillis: () => Number.POSITIVE_INFINITY",
    breaks: "a retry is waited for that starts after the call's end",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "Math.min(call.admitted.ranked.openUntilMillis ?? 0, endsAtMillis(deps, call))",
    replace: "(call.admitted.ranked.openUntilMillis ?? 0)",
    breaks: "an open circuit is waited for beyond the call's end",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "waitMillis <= maxWaitMillis ? waitMillis : 0",
    replace: "waitMillis",
    breaks: "an open circuit is waited for however long that is",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "closedFirst(deps, [held.first, ...held.others()])",
    replace: "[held.first, ...held.others()]",
    breaks: "after a wait the best route is called although its circuit is still open",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "  deps.retryBudget.called(first.model)\n",
    replace: "",
    breaks: "calls earn no retry budget",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "(!isRetry && isClosed(deps, candidate)) ||",
    replace: "!isRetry ||",
    breaks: "a fallback to a route whose circuit is open needs no budget",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "(!isRetry && isClosed(deps, candidate)) ||",
    replace: "isClosed(deps, candidate) ||",
    breaks: "a retry of a route whose circuit is closed needs no budget",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "(!isRetry && isClosed(deps, candidate)) || deps",
    replace: "deps",
    breaks: "every fallback needs a retry budget",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "deadlines: forCandidate(deps.deadlines, candidate, request)",
    replace: "deadlines: deps.deadlines",
    breaks: "a model that reasons has the time of one that does not",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "acceptEmpty: isLast",
    replace: "acceptEmpty: false",
    breaks: "an empty answer is a failure even where no other candidate can be tried",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "isOnly || areAllAttempted",
    replace: "areAllAttempted",
    breaks: "an empty answer of the last candidate is a failure",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: "isOnly || areAllAttempted(deps.maxAttempts, [...call.attempts.map((before) => before.model), model.id])",
    replace: "isOnly",
    breaks: "an empty answer of the last attempt that is allowed is a failure",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: 'if (error._tag === "ProviderError") call.attemptFailed(error)\n      else call',
    replace: 'if (error._tag !== "ProviderError") call',
    breaks: "failed attempts are not recorded",
    tests: dispatchTests
  },
  {
    file: dispatch,
    find: '  if (last?._tag === "ProviderError") call.failed(last)\n',
    replace: "",
    breaks: "a call whose providers have all failed is settled as cancelled",
    tests: dispatchTests
  },
  {
    file: deadlines,
    find: "idleMillis: deadlines.idleMillis * 4",
    replace: "idleMillis: deadlines.idleMillis",
    breaks: "a model that reasons may not be silent for longer",
    tests: deadlinesTests
  },
  {
    file: deadlines,
    find: "plainAnswerMillis: deadlines.plainAnswerMillis * patience",
    replace: "plainAnswerMillis: deadlines.plainAnswerMillis",
    breaks: "a non-streaming answer of a model that reasons has the time of one that does not",
    tests: deadlinesTests
  },
  {
    file: deadlines,
    find: 'candidate.effort === "xhigh" || candidate.effort === "max" ? 8 : 4',
    replace: "4",
    breaks: "the highest efforts have no more time than the others",
    tests: deadlinesTests
  },
  {
    file: deadlines,
    find: 'effort !== "none"',
    replace: "true",
    breaks: "a model that is told not to reason has the time of one that does",
    tests: deadlinesTests
  },
  {
    file: dispatch,
    find: "affordable(hold.amount + hold.room)",
    replace: "affordable(hold.amount)",
    breaks: "the cap of a stream is what is held at first, not what can be paid for in the end",
    tests: dispatchTests
  },
  {
    file: deadlines,
    find: "Math.max(totalMillis, Math.min(",
    replace: "Math.min(totalMillis, Math.min(",
    breaks: "the total deadline is shorter than what is set",
    tests: deadlinesTests
  },
  {
    file: holdOptions,
    find: 'size > 1 ? "likely" : "min"',
    replace: '"min"',
    breaks: "auto takes a dearer candidate whose answer is cut before one that can give a whole one",
    tests: holdOptionsTests
  },
  {
    file: dispatch,
    find: "if (!call.mayAskFor(missing)) return Effect.fail(new Unaffordable({ candidate }))",
    replace: "",
    breaks: "every candidate that needs a higher hold is a statement, also while the database is away",
    tests: ["test/gateway/HoldSlices.test.ts"]
  },
  {
    file: numbers,
    find: "isValid: (value) => value >= min && value <= max,",
    replace: "isValid: (value) => !(value < min || value > max),",
    breaks: "an alpha that is NaN reaches the ranking",
    tests: ["test/gateway/RequestNumbers.test.ts"]
  },
  {
    file: numbers,
    find: "Number.isInteger(value) && value >= min",
    replace: "value >= min",
    breaks: "a limit on the cost that is a fraction ends the call as a defect",
    tests: ["test/gateway/RequestNumbers.test.ts"]
  }
]
