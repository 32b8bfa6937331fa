// @ts-check

const call = "src/gateway/Call.ts"
const state = "src/gateway/CallState.ts"
const tally = "src/gateway/ResponseTally.ts"
const settlement = "src/gateway/Settlement.ts"
const health = "src/gateway/HealthObserver.ts"
const observers = "src/domain/CallObserver.ts"
const spans = "src/observe/Spans.ts"
const spanTests = ["test/observe/Spans.test.ts", "test/gateway/CallObserver.test.ts"]

const callTests = [
  "test/gateway/CallObserver.test.ts",
  "test/gateway/Defects.test.ts",
  "test/gateway/StreamEnds.test.ts",
  "test/gateway/RouteHealth.test.ts",
  "test/gateway/Embedding.test.ts",
  "test/gateway/Retries.test.ts",
  "test/gateway/CallState.test.ts"
]
const stateTests = [
  "test/gateway/CallState.test.ts",
  "test/gateway/Costs.test.ts",
  "test/gateway/Limits.test.ts",
  "test/gateway/Holds.test.ts"
]
const tallyTests = ["test/gateway/Costs.test.ts"]
const settlementTests = [
  "test/gateway/CallState.test.ts",
  "test/gateway/Costs.test.ts",
  "test/gateway/Retries.test.ts",
  "test/gateway/Deadlines.test.ts"
]
const healthTests = ["test/gateway/RouteHealth.test.ts", "test/gateway/OpenCircuits.test.ts"]
const observersTests = ["test/gateway/CallObserver.test.ts"]

/**
 * What a call is, what it costs, and who hears of it.
 * @type {ReadonlyArray<import("../../mutants.mjs").Mutant>}
 */
export const stateMutants = [
  {
    file: call,
    find: "    this.upstream?.close()\n    this.upstream = undefined\n    const now",
    replace: "    this.upstream = undefined\n    const now",
    breaks: "a call that ends leaves its upstream open",
    tests: callTests
  },
  {
    file: call,
    find: "    const delivered = deliver({",
    replace: "    this.change(next, null)\n    const delivered = deliver({",
    breaks: "an answer that cannot be encoded is charged",
    tests: callTests
  },
  {
    file: call,
    find: "    if (this.aborted !== undefined) upstream.fail(this.aborted)\n",
    replace: "",
    breaks: "an attempt that starts after the abort runs on",
    tests: callTests
  },
  {
    file: call,
    find: "    this.aborted = reason\n",
    replace: "",
    breaks: "an abort between two attempts is forgotten",
    tests: callTests
  },
  {
    file: call,
    find: "    this.upstream?.fail(reason)\n",
    replace: "",
    breaks: "an abort does not reach the attempt that is running",
    tests: callTests
  },
  {
    file: call,
    find: "  disown(): void {\n    this.upstream = undefined\n",
    replace: "  disown(): void {\n",
    breaks: "the socket of a complete answer is closed before it can end by itself",
    tests: callTests
  },
  {
    file: call,
    find: "CallState.cancelled(this.state, now), null)",
    replace: "this.state, null)",
    breaks: "observers do not hear that the attempt of a cancelled call has ended",
    tests: callTests
  },
  {
    file: call,
    find: "    this.deps.observer.settled(this.admitted, settlement.record)\n",
    replace: "",
    breaks: "observers do not hear of the settlement",
    tests: callTests
  },
  {
    file: call,
    find: "    deps.observer.admitted(admitted)\n",
    replace: "",
    breaks: "observers do not hear of the admission",
    tests: callTests
  },
  {
    file: call,
    find: "    this.deps.observer.attemptStarted(this.admitted, candidate.model)\n",
    replace: "",
    breaks: "observers do not hear that an attempt starts",
    tests: callTests
  },
  {
    file: call,
    find: "    this.deps.observer.chunk(this.admitted, event)\n",
    replace: "",
    breaks: "observers do not hear of chunks",
    tests: callTests
  },
  {
    file: call,
    find: "    attempt.tally.add(event)\n",
    replace: "",
    breaks: "what is streamed is not counted",
    tests: callTests
  },
  {
    file: call,
    find: "    this.change(next, error)\n",
    replace: "    this.change(next, null)\n",
    breaks: "a stream that breaks after its first content does not count for the health of its route",
    tests: callTests
  },
  {
    file: call,
    find: "CallState.attemptFailed(this.state, error, this.deps.timers.now()), error)",
    replace: "CallState.attemptFailed(this.state, error, this.deps.timers.now()), null)",
    breaks: "a failed attempt does not count for the health of its route",
    tests: callTests
  },
  {
    file: call,
    find: "next.firstContentAtMillis - attempt.startedAtMillis",
    replace: "next.firstContentAtMillis - this.admitted.startedAtMillis",
    breaks: "the time to the first content of an attempt includes the attempts before it",
    tests: callTests
  },
  {
    file: state,
    find: 'state.phase._tag === "Waiting" ? { ...state, phase',
    replace: "isEnded(state) === false ? { ...state, phase",
    breaks: "an attempt can start while another one is running",
    tests: stateTests
  },
  {
    file: state,
    find: 'state.phase._tag === "Waiting" ? { ...state, phase',
    replace: 'state.phase._tag !== "Streaming" ? { ...state, phase',
    breaks: "an attempt can start after the ending",
    tests: stateTests
  },
  {
    file: state,
    find: "  if (isEnded(state)) return state\n  const charge",
    replace: "  const charge",
    breaks: "a call can be complete after another ending",
    tests: stateTests
  },
  {
    file: state,
    find: "  if (isEnded(state)) return state\n  const phase",
    replace: "  const phase",
    breaks: "a call can fail after another ending",
    tests: stateTests
  },
  {
    file: state,
    find: "  if (isEnded(state)) return state\n  const attempt = runningAttempt(state)\n  if",
    replace: "  const attempt = runningAttempt(state)\n  if",
    breaks: "a call can be cancelled after another ending",
    tests: stateTests
  },
  {
    file: state,
    find: 'return phase._tag === "Attempting"\n',
    replace: 'return phase._tag === "Attempting" || phase._tag === "Streaming"\n',
    breaks: "an attempt that has shown content can be followed by another one",
    tests: stateTests
  },
  {
    file: state,
    find: 'phase: { _tag: "Streaming", attempt: state.phase.attempt }',
    replace: "phase: state.phase",
    breaks: "content does not bind a call to its attempt",
    tests: stateTests
  },
  {
    file: state,
    find: "export const attemptOf = (candidate: Candidate, output: OutputLimit, now: number): RunningAttempt => ({\n  candidate,\n  output,\n  startedAtMillis: now,\n  tally: new ResponseTally()",
    replace:
      "const sharedTally = new ResponseTally()\n\nexport const attemptOf = (candidate: Candidate, output: OutputLimit, now: number): RunningAttempt => ({\n  candidate,\n  output,\n  startedAtMillis: now,\n  tally: sharedTally",
    breaks: "text of an earlier attempt is charged with the next one",
    tests: stateTests
  },
  {
    file: state,
    find: "if (reported === undefined) {",
    replace: "if (true) {",
    breaks: "the usage that the provider reports is not used",
    tests: stateTests
  },
  {
    file: state,
    find: "Math.min(actual, state.hold.amount)",
    replace: "actual",
    breaks: "an answer names a cost above what was held and is charged",
    tests: stateTests
  },
  {
    file: state,
    find: "const isReported = isReportBelieved(attempt) && tally.unreportedTokens === 0",
    replace: "const isReported = true",
    breaks: "a cost that the gateway has estimated is called charged",
    tests: stateTests
  },
  {
    file: state,
    find: "isComplete && isReported && state",
    replace: "isReported && state",
    breaks: "the cost of a cancelled call is called charged",
    tests: stateTests
  },
  {
    file: state,
    find: ' && state.admitted.caller.billingMode === "managed"\n',
    replace: "\n",
    breaks: "a cost that the project pays itself is called charged",
    tests: stateTests
  },
  {
    file: state,
    find: "prices === null || !isUsed ? zero",
    replace: "prices === null ? zero",
    breaks: "a call that is cancelled before its first content costs its prompt at every provider",
    tests: stateTests
  },
  {
    file: state,
    find: "state.firstContentAtMillis !== null || billsPrompt(attempt)",
    replace: "state.firstContentAtMillis !== null",
    breaks: "a call that is cancelled before its first content is free where the provider charges for it",
    tests: stateTests
  },
  {
    file: state,
    find: " && !tally.isUnbillable",
    replace: "",
    breaks: "a client that leaves pays for a prompt that was not sent, or that was refused",
    tests: stateTests
  },
  {
    file: state,
    find: "isComplete || state.firstContentAtMillis !== null ||",
    replace: "isComplete ||",
    breaks: "a stream that is cancelled after its first content is free",
    tests: stateTests
  },
  {
    file: state,
    find: "isComplete || state.firstContentAtMillis !== null ||",
    replace: "state.firstContentAtMillis !== null ||",
    breaks: "a complete non-streaming answer is free",
    tests: stateTests
  },
  {
    file: state,
    find: "  if (actual === 0 && !isComplete) return { actual, cost: noCost }\n",
    replace: "",
    breaks: "the cost of a cancelled call that is free is called estimated",
    tests: stateTests
  },
  {
    file: tally,
    find: "        this.addText(event.arguments)\n",
    replace: "",
    breaks: "tool calls that no provider has counted are free",
    tests: tallyTests
  },
  {
    file: tally,
    find: "        else this.addText(event.text)\n",
    replace: "",
    breaks: "reasoning that no provider has counted is free",
    tests: tallyTests
  },
  {
    file: tally,
    find: '      case "Refusal":\n',
    replace: "",
    breaks: "refusals that no provider has counted are free",
    tests: tallyTests
  },
  {
    file: tally,
    find: "        if (event.model !== undefined) this.servedModel = event.model\n",
    replace: "        this.servedModel = event.model\n",
    breaks: "a later report without a model removes the name of the one that answers",
    tests: tallyTests
  },
  {
    file: settlement,
    find: "used: admitted.ranked.candidates.first.model.id !== model.id",
    replace: "used: attempts.length > 1",
    breaks: "a retry of the same model is called a fallback",
    tests: settlementTests
  },
  {
    file: settlement,
    find: "tally.servedModel ?? model.upstreamModel",
    replace: "model.upstreamModel",
    breaks: "the model that the provider says has answered is not told",
    tests: settlementTests
  },
  {
    file: settlement,
    find: "attempts.some(({ model }) => model !== last)",
    replace: "attempts.length > 1",
    breaks: "a retry of the same model is given as the reason of a fallback",
    tests: settlementTests
  },
  {
    file: settlement,
    find: "alpha: admitted.ranked.pinned ? null : admitted.allowed.alpha,\n    latency_ms",
    replace: "alpha: admitted.allowed.alpha,\n    latency_ms",
    breaks: "a pinned model is said to be chosen by alpha",
    tests: settlementTests
  },
  {
    file: settlement,
    find: "alpha: admitted.ranked.pinned ? null : admitted.allowed.alpha,\n    excluded",
    replace: "alpha: admitted.allowed.alpha,\n    excluded",
    breaks: "a call to a pinned model is logged as chosen by alpha",
    tests: settlementTests
  },
  {
    file: settlement,
    find: '(phase._tag === "Cancelled" && cost.amount_microusd > 0)',
    replace: 'phase._tag === "Cancelled"',
    breaks: "a call that is cancelled for nothing is logged with usage",
    tests: settlementTests
  },
  {
    file: settlement,
    find: 'phase._tag === "Complete" || (phase._tag === "Cancelled" && cost.amount_microusd > 0)',
    replace: 'phase._tag === "Cancelled" && cost.amount_microusd > 0',
    breaks: "a complete call is logged without usage",
    tests: settlementTests
  },
  {
    file: settlement,
    find: 'error: phase._tag === "Failed" || phase._tag === "Cancelled" ? phase.error : null',
    replace: "error: null",
    breaks: "a failed call is logged without its error",
    tests: settlementTests
  },
  {
    file: settlement,
    find: 'phase._tag === "Complete" || phase._tag === "Cancelled" ? phase.charge : { actual: zero, cost: noCost }',
    replace: 'phase._tag === "Complete" ? phase.charge : { actual: zero, cost: noCost }',
    breaks: "a cancelled call is free",
    tests: settlementTests
  },
  {
    file: settlement,
    find: 'phase._tag === "Failed" ? "void" : "cancelled"',
    replace: 'phase._tag === "Failed" ? "settled" : "cancelled"',
    breaks: "the hold of a failed call is settled",
    tests: settlementTests
  },
  {
    file: settlement,
    find: '? "void" : "cancelled"',
    replace: '? "void" : "void"',
    breaks: "a cancelled call is settled as void",
    tests: settlementTests
  },
  {
    file: settlement,
    find: "  const state = cancelled(last, now)\n",
    replace: "  const state = last\n",
    breaks: "a call that has not ended is settled without its running attempt",
    tests: settlementTests
  },
  {
    file: settlement,
    find: "  const status = statusOf(state)\n",
    replace: '  const status = state.phase._tag === "Failed" ? "error" : statusOf(state)\n',
    breaks: "a call that ran into a deadline is logged as an error",
    tests: settlementTests
  },
  {
    file: health,
    find: "    if (error !== null) health.failed(model, error, credentialId, startedAtMillis)\n    else if",
    replace: "    if",
    breaks: "a failed attempt does not count against its route",
    tests: healthTests
  },
  {
    file: health,
    find: 'else if (record.status === "success") {',
    replace: "else {",
    breaks: "a client that leaves counts as a success of its route",
    tests: healthTests
  },
  {
    file: health,
    find: "      health.succeeded(model, firstContentMillis ?? record.latency_ms, credentialId, startedAtMillis)\n",
    replace: "",
    breaks: "a success does not count for the health of its route",
    tests: healthTests
  },
  {
    file: health,
    find: "firstContentMillis ?? record.latency_ms",
    replace: "record.latency_ms",
    breaks: "a stream counts for the speed of its route by its length",
    tests: healthTests
  },
  {
    file: health,
    find: "health.attempted(model)",
    replace: "undefined",
    breaks: "every call probes a route whose circuit is half open",
    tests: healthTests
  },
  {
    file: observers,
    find: "              failed(defect)\n",
    replace: "              throw defect\n",
    breaks: "an observer that throws ends the call",
    tests: observersTests
  },
  {
    file: observers,
    find: "            try {\n              listener(call, value)\n            } catch (defect) {\n              failed(defect)\n            }",
    replace:
      "            try {\n              listener(call, value)\n            } catch (defect) {\n              failed(defect)\n              return\n            }",
    breaks: "observers after one that throws hear nothing",
    tests: observersTests
  },
  {
    file: spans,
    find: "(isTraced ? recorded",
    replace: "(true ? recorded",
    breaks: "a span is opened although no tracer is set",
    tests: spanTests
  },
  {
    file: spans,
    find: "(isTraced ? recorded",
    replace: "(false ? recorded",
    breaks: "the application's tracer sees nothing",
    tests: spanTests
  },
  {
    file: spans,
    find: "use(isTraced(fiber))",
    replace: "use(true)",
    breaks: "a call is traced although no tracer is set",
    tests: spanTests
  },
  {
    file: "src/observe/CallMetrics.ts",
    find: "record.error?.code ?? record.status",
    replace: "record.status",
    breaks: "attempts are not counted by the code of their failure",
    tests: ["test/observe/CallMetrics.test.ts"]
  },
  {
    file: "src/observe/CallMetrics.ts",
    find: "record.latencyMillis / 1_000",
    replace: "record.latencyMillis",
    breaks: "the seconds of a call are milliseconds",
    tests: ["test/observe/CallMetrics.test.ts"]
  },
  {
    file: "src/observe/CallMetrics.ts",
    find: "    if (record.firstContentMillis !== null) Metrics",
    replace: "    Metrics",
    breaks: "a call without content counts as one with its first content at once",
    tests: ["test/observe/CallMetrics.test.ts"]
  },
  {
    file: call,
    find: "const next = facts.isOwnLimit\n",
    replace: "const next = false\n",
    breaks: "what a limit of the gateway ends is free",
    tests: stateTests
  },
  {
    file: tally,
    find: "this.hasUnreported = completion === 0",
    replace: "this.hasUnreported = true",
    breaks: "output that is reported is charged again as estimated",
    tests: stateTests
  },
  {
    file: state,
    find: "{ ...reported, outputTokens: reported.outputTokens + unreportedTokens }",
    replace: "reported",
    breaks: "what was streamed after the last report is free",
    tests: stateTests
  },
  {
    file: state,
    find: 'error._tag === "StoreUnavailable" && error.isUnwritten !== true',
    replace: 'error._tag === "StoreUnavailable"',
    breaks: "what a stream has used beyond its hold is forgotten",
    tests: ["test/gateway/HoldSlices.test.ts"]
  }
]
