// @ts-check

const attempt = "src/gateway/Attempt.ts"
const deadlines = "src/gateway/AttemptDeadlines.ts"
const relay = "src/gateway/Relay.ts"
const usageWait = "src/gateway/UsageWait.ts"
const timers = "src/domain/Timers.ts"
const view = "src/gateway/StreamView.ts"
const timerTests = ["test/domain/Timers.test.ts", "test/gateway/OneClock.test.ts"]

const extensionTests = ["test/gateway/Extensions.test.ts"]
const attemptTests = [
  "test/gateway/Attempt.test.ts",
  "test/gateway/SlowReaders.test.ts",
  "test/gateway/StreamEnds.test.ts",
  "test/gateway/Defects.test.ts",
  "test/gateway/Deadlines.test.ts",
  "test/gateway/Retries.test.ts"
]
const deadlinesTests = [
  "test/gateway/AttemptDeadlines.test.ts",
  "test/gateway/Deadlines.test.ts",
  "test/gateway/SlowReaders.test.ts"
]
const slices = "src/gateway/HoldSlices.ts"
const slicesTests = ["test/gateway/HoldSlices.test.ts"]
const relayTests = [
  "test/gateway/StreamEnds.test.ts",
  "test/gateway/Defects.test.ts",
  "test/gateway/Costs.test.ts",
  "test/gateway/UsageWait.test.ts"
]
const viewTests = ["test/gateway/Embedding.test.ts"]

/**
 * One response: its upstream, its events, its deadlines, its reader.
 * @type {ReadonlyArray<import("../../mutants.mjs").Mutant>}
 */
export const streamMutants = [
  {
    file: attempt,
    find: '    if (received._tag !== "Ended") this.closeUpstream()\n',
    replace: "",
    breaks: "an upstream that has failed is not closed at once",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "          if (Cause.isInterrupted(cause)) attempt?.close()\n",
    replace: "",
    breaks: "an attempt that is interrupted while it opens leaves its upstream open",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    owner.own(attempt)\n",
    replace: "",
    breaks: "an abort does not reach a response that is being opened or relayed",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    if (this.ended !== undefined) return\n    try",
    replace: "    try",
    breaks: "events that come after a response's end are part of it",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    if (this.ended !== undefined) return\n    const isWhole",
    replace: "    const isWhole",
    breaks: "a failure that comes after a response's end replaces it",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    } catch (defect) {\n      this.closeFailed(defect)\n    }\n",
    replace: "    } finally {\n    }\n",
    breaks: "a provider that throws as its call is closed leaves the hold open"
  },
  {
    file: attempt,
    find: "    this.ended = undefined\n    this.over",
    replace: "    this.over",
    breaks: "a reader that throws on the last buffered events receives the end of a whole response",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "      // without this the call would neither go on nor end: nothing waits for what a socket's callback throws\n      this.died(defect)",
    replace: "      throw defect",
    breaks: "a call whose sink throws neither goes on nor ends",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "      } catch (defect) {\n        this.died(defect)\n      }\n    }\n    if",
    replace: "      } catch (defect) {\n        throw defect\n      }\n    }\n    if",
    breaks: "a call whose sink throws on a buffered event does not close its upstream",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "      if (!this.isRelaying()) return\n      try",
    replace: "      try",
    breaks: "a reader that has thrown is given the other buffered events",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    if (!this.isRelaying()) return\n    if (this.ended",
    replace: "    if (this.ended",
    breaks: "a reader that has thrown on a buffered event receives a second end",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    if (!this.isPausedByReader) this.resume()\n",
    replace: "    this.resume()\n",
    breaks: "a reader that is slow at the first piece does not hold the upstream back",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    if (!this.isPausedByReader) this.resume()\n",
    replace: "    if (!this.isPausedByReader) this.upstream.resume()\n",
    breaks: "silence after the first content is not noticed",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    if (!this.isPausedByReader) this.resume()\n",
    replace: "    if (!this.isPausedByReader) this.deadlines.resume()\n",
    breaks: "nothing is read after the first content",
    tests: attemptTests
  },
  {
    file: attempt,
    find: 'if (this.isFinished && isPartOfResponse(event)) return { _tag: "BadResponse", detail: "content after the finish" }',
    replace: "",
    breaks: "a response that goes on after its finish is taken for a complete one",
    tests: attemptTests
  },
  {
    file: attempt,
    find: 'event._tag !== "Finish" && (isContent(event) || event._tag === "Annotation")',
    replace: 'event._tag !== "Finish"',
    breaks: "usage after the finish is taken for content",
    tests: attemptTests
  },
  {
    file: attempt,
    find: '(isContent(event) || event._tag === "Annotation")',
    replace: "isContent(event)",
    breaks: "an annotation after the finish is accepted",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "if (!this.hasContent && this.isEmptyFinish(event))",
    replace: "if (this.isEmptyFinish(event))",
    breaks: "a response with content is taken for an empty one",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "if (!this.hasContent && this.isEmptyFinish(event))",
    replace: "if (false)",
    breaks: "an empty answer is accepted although another candidate could be tried",
    tests: attemptTests
  },
  {
    file: attempt,
    find: ' || this.options.until === "end") return',
    replace: ") return",
    breaks: "a non-streaming response is open with its first content",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "this.buffered.length > maxStartupEvents",
    replace: "this.buffered.length > 1_000_000",
    breaks: "any number of events is kept before the first content",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "      this.deadlines.pause()\n      this.upstream.pause()\n      this.open()",
    replace: "      this.upstream.pause()\n      this.open()",
    breaks: "a stream has to be complete within the time for its first content",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "      this.deadlines.pause()\n      this.upstream.pause()\n      this.open()",
    replace: "      this.deadlines.pause()\n      this.open()",
    breaks: "an upstream is read between its first content and the relay",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "this.reader.event(event) || this.isPausedByReader) return",
    replace: "this.reader.event(event)) return",
    breaks: "a slow reader is asked for each piece when it will go on",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    this.upstream.pause()\n    this.deadlines.pause()\n    this.reader",
    replace: "    this.upstream.pause()\n    this.reader",
    breaks: "an upstream that is held back for a slow reader is taken for silent",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    this.upstream.pause()\n    this.deadlines.pause()\n    this.reader",
    replace: "    this.deadlines.pause()\n    this.reader",
    breaks: "a slow reader does not hold the upstream back",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "      this.isPausedByReader = false\n      this.resume()\n",
    replace: "      this.isPausedByReader = false\n      this.upstream.resume()\n",
    breaks: "after a slow reader has gone on, silence is not noticed",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "      this.isPausedByReader = false\n      this.resume()\n",
    replace: "      this.resume()\n",
    breaks: "a reader can hold the upstream back only once",
    tests: attemptTests
  },
  {
    file: attempt,
    find: 'this.isFinished ? this.over({ _tag: "Ended" }) : this.failWith({ _tag: "Disconnected" })',
    replace: 'this.over({ _tag: "Ended" })',
    breaks: "a response that ends without a finish is not a cut",
    tests: attemptTests
  },
  {
    file: attempt,
    find: 'return native === "" || (',
    replace: "return (",
    breaks: "an empty answer with a blank finish reason is accepted",
    tests: attemptTests
  },
  {
    file: attempt,
    find: '(reason === "stop" || reason === "tool_calls")',
    replace: '(reason === "stop")',
    breaks: "an answer that says it calls tools, and calls none, is not empty",
    tests: attemptTests
  },
  {
    file: attempt,
    find: '(reason === "stop" || reason === "tool_calls")',
    replace: "true",
    breaks: "an empty answer that its finish reason explains is a failure",
    tests: attemptTests
  },
  {
    file: attempt,
    find: 'reason._tag === "Stalled" && this.phase === "opening" ? late : reason',
    replace: "reason",
    breaks: "silence before the first content is called a stall",
    tests: attemptTests
  },
  {
    file: attempt,
    find: 'reason._tag === "Stalled" && this.phase === "opening" ? late : reason',
    replace: 'reason._tag === "Stalled" ? late : reason',
    breaks: "a stall is called a late first content",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "    this.timers.after(millis, () => this.close())\n",
    replace: "",
    breaks: "the socket of a complete answer may stay open forever",
    tests: attemptTests
  },
  {
    file: attempt,
    find: 'isStream ? "FirstContentTimeout" : "AnswerTimeout"',
    replace: '"FirstContentTimeout"',
    breaks: "a non-streaming response that is late is said to lack its first content",
    tests: attemptTests
  },
  {
    file: deadlines,
    find: "    if (this.stopped) return\n    const now",
    replace: "    const now",
    breaks: "a response that has failed before its deadlines start has deadlines",
    tests: deadlinesTests
  },
  {
    file: deadlines,
    find: "this.paused ? Number.POSITIVE_INFINITY : (this.markedAtMillis ?? now) + idleMillis",
    replace: "(this.markedAtMillis ?? now) + idleMillis",
    breaks: "deadlines are checked again and again while a response is held back",
    tests: deadlinesTests
  },
  {
    file: deadlines,
    find: "Math.min(this.firstAtMillis, endsAtMillis, idleUntilMillis)",
    replace: "Math.min(this.firstAtMillis, endsAtMillis)",
    breaks: "silence is noticed only at another deadline",
    tests: deadlinesTests
  },
  {
    file: deadlines,
    find: "Math.min(this.firstAtMillis, endsAtMillis, idleUntilMillis)",
    replace: "Math.min(this.firstAtMillis, idleUntilMillis)",
    breaks: "the end of the call is noticed only at another deadline",
    tests: deadlinesTests
  },
  {
    file: deadlines,
    find: "    if (!this.stopped && this.checksAtMillis > now + this.options.idleMillis) this.scheduleCheck(now)\n",
    replace: "",
    breaks: "silence after a slow reader is noticed too late",
    tests: deadlinesTests
  },
  {
    file: deadlines,
    find: "    this.cancel?.()\n    this.cancel = timers",
    replace: "    this.cancel = timers",
    breaks: "an attempt has several timers",
    tests: deadlinesTests
  },
  {
    file: deadlines,
    find: "    this.markedAtMillis = now\n",
    replace: "",
    breaks: "the time that a slow reader took counts as silence",
    tests: deadlinesTests
  },
  {
    file: deadlines,
    find: "!this.paused && now >= (this.markedAtMillis",
    replace: "now >= (this.markedAtMillis",
    breaks: "a response that is held back is said to stall at the check of another deadline",
    tests: deadlinesTests
  },
  {
    file: usageWait,
    find: "      if (this.isStopped) return\n",
    replace: "",
    breaks: "a response that has ended in the turn of its finish leaves a timer behind",
    tests: relayTests
  },
  {
    file: usageWait,
    find: "    this.isScheduled = true\n",
    replace: "",
    breaks: "usage in the turn of the finish leaves a second timer behind",
    tests: relayTests
  },
  {
    file: usageWait,
    find: "const usageWaitMillis = 2_000",
    replace: "const usageWaitMillis = 20_000",
    breaks: "a finish waits too long for usage that does not come",
    tests: relayTests
  },
  {
    file: usageWait,
    find: "const usageWaitMillis = 2_000",
    replace: "const usageWaitMillis = 1_000",
    breaks: "a finish does not wait for usage that comes late",
    tests: relayTests
  },
  {
    file: usageWait,
    find: "Math.min(this.untilMillis, this.timers.now() + usageRepeatMillis)",
    replace: "this.untilMillis",
    breaks: "an answer whose usage has come waits for its upstream to end",
    tests: relayTests
  },
  {
    file: usageWait,
    find: "Math.min(this.untilMillis, this.timers.now() + usageRepeatMillis)",
    replace: "this.timers.now() + usageRepeatMillis",
    breaks: "usage that is repeated holds the end back",
    tests: relayTests
  },
  {
    file: relay,
    find: "    if (this.isOver) return true\n",
    replace: "",
    breaks: "events are passed on after the answer is complete",
    tests: relayTests
  },
  {
    file: relay,
    find: "        if (this.finish !== undefined) return true\n",
    replace: "",
    breaks: "a second finish replaces the first",
    tests: relayTests
  },
  {
    file: attempt,
    find: 'error.reason._tag === "BadResponse"',
    replace: 'error.reason._tag !== "BadResponse"',
    breaks: "a connection that breaks after the finish fails the answer",
    tests: relayTests
  },
  {
    file: attempt,
    find: "return this.isFinished && this.options.until",
    replace: "return this.options.until",
    breaks: "a connection that breaks before the finish is taken for a complete response",
    tests: attemptTests
  },
  {
    file: attempt,
    find: '    const isWhole = received._tag === "Failed" && this.isCollectedWhole(received.error)',
    replace: "    const isWhole = false",
    breaks: "a connection that breaks after the finish fails a collected answer",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "if (!this.isFinished) this.usageWait?.finished()",
    replace: "this.usageWait?.finished()",
    breaks: "a collected answer waits anew after each finish",
    tests: attemptTests
  },
  {
    file: attempt,
    find: "      if (!this.isFinished) this.usageWait?.finished()\n",
    replace: "",
    breaks: "a collected answer waits for its upstream to end",
    tests: attemptTests
  },
  {
    file: attempt,
    find: ' else if (event._tag === "Usage" && this.isFinished) this.usageWait?.reported()',
    replace: "",
    breaks: "a collected answer whose usage has come waits for its upstream to end",
    tests: attemptTests
  },
  {
    file: "src/domain/Completion.ts",
    find: "this.finish ??= event",
    replace: "this.finish = event",
    breaks: "a second finish replaces the first of a collected answer",
    tests: attemptTests
  },
  {
    file: relay,
    find: "return Effect.sync(() => relay.stop())",
    replace: "return Effect.void",
    breaks: "a client that has left during the wait for usage is given its end",
    tests: relayTests
  },
  {
    file: relay,
    find: "    if (this.isOver) return\n    this.stop()\n",
    replace: "    this.stop()\n",
    breaks: "a response can end twice",
    tests: relayTests
  },
  {
    file: relay,
    find: "    this.call.disown()\n",
    replace: "",
    breaks: "an upstream that has not ended is closed with its call",
    tests: relayTests
  },
  {
    file: relay,
    find: "    this.opened.closeAfter(lingerMillis)\n",
    replace: "",
    breaks: "an upstream that does not end is never closed",
    tests: relayTests
  },
  {
    file: relay,
    find: "const lingerMillis = 1_000",
    replace: "const lingerMillis = 10_000",
    breaks: "an upstream that does not end is closed late",
    tests: relayTests
  },
  {
    file: relay,
    find: "    call.failed(end.error)\n    sink",
    replace: "    sink",
    breaks: "a stream that breaks is settled as cancelled",
    tests: relayTests
  },
  {
    file: relay,
    find: "      this.resume(Effect.die(defect))\n",
    replace: "      this.resume(Effect.void)\n",
    breaks: "a sink that cannot take its end is taken for one that has",
    tests: relayTests
  },
  {
    file: relay,
    find: "      call.received(opened.attempt, event)\n      response.add(event)",
    replace: "      response.add(event)",
    breaks: "a non-streaming answer is not counted",
    tests: relayTests
  },
  {
    file: relay,
    find: "    this.call.received(this.opened.attempt, event)\n    switch",
    replace: "    switch",
    breaks: "a streamed answer is not counted",
    tests: relayTests
  },
  {
    file: view,
    find: "    this.waiting -= count\n",
    replace: "",
    breaks: "a stream that was held back once is held back forever",
    tests: viewTests
  },
  {
    file: view,
    find: "return this.waiting < maxWaiting\n  }",
    replace: "return true\n  }",
    breaks: "an embedding reader that does not read holds nothing back",
    tests: viewTests
  },
  {
    file: view,
    find: "mailbox.failCause(Cause.stripFailures(cause))",
    replace: "mailbox.end",
    breaks: "a defect after the first content passes as the end of a whole response"
  },
  {
    file: view,
    find: "Effect.zipRight(Deferred.failCause(begun, cause), mailbox.failCause(Cause.stripFailures(cause)))",
    replace: "mailbox.failCause(Cause.stripFailures(cause))",
    breaks: "an embedding program waits forever for a stream that failed before its first content",
    tests: viewTests
  },
  {
    file: timers,
    find: "{ immediate: false }",
    replace: "{ immediate: true }",
    breaks: "a callback of the Clock's timers may run before `after` returns",
    tests: timerTests
  },
  {
    file: timers,
    find: "        remove()\n",
    replace: "",
    breaks: "the Clock's timers cannot be cancelled",
    tests: timerTests
  },
  {
    file: "src/domain/TimerQueue.ts",
    find: "a.order < b.order",
    replace: "a.order > b.order",
    breaks: "timers of the same instant run in the reverse order of their creation",
    tests: timerTests
  },
  {
    file: timers,
    find: "Layer.setClock(clocks.get(timers) ?? clockOf(timers))",
    replace: "Layer.setClock(clockOf(timers))",
    breaks: "a TestClock is lost where its timers are provided",
    tests: ["test/testing/doubles/TestGateway.test.ts"]
  },
  {
    file: timers,
    find: "Layer.merge(Layer.succeed(this, timers), Layer.setClock(clocks.get(timers) ?? clockOf(timers)))",
    replace: "Layer.succeed(this, timers)",
    breaks: "Effect's Clock does not move with the timers",
    tests: timerTests
  },
  {
    file: timers,
    find: "currentTimeMillis: Effect.sync(() => Math.floor(timers.now()))",
    replace: "currentTimeMillis: Effect.sync(() => timers.now())",
    breaks: "Effect's Clock shows fractions of a millisecond",
    tests: timerTests
  },
  {
    file: timers,
    find: "BigInt(Math.round(timers.now() * 1_000)) * 1_000n",
    replace: "BigInt(Math.round(timers.now() * 1_000))",
    breaks: "Effect's Clock shows microseconds as nanoseconds",
    tests: timerTests
  },
  {
    file: timers,
    find: "return Effect.sync(cancel)\n",
    replace: "return Effect.void\n",
    breaks: "a sleep that is interrupted leaves its timer behind",
    tests: timerTests
  },
  {
    file: attempt,
    find: '    if (event._tag === "Usage") this.attempt.tally.add(event)\n',
    replace: "",
    breaks: "what a provider has told before the first content is not used for a call that is cancelled",
    tests: relayTests
  },
  {
    file: slices,
    find: 'return this.extension === undefined ? "exhausted" : "waiting"',
    replace: 'return "covered"',
    breaks: "a stream goes on when its hold is used up",
    tests: slicesTests
  },
  {
    file: slices,
    find: "if (used >= askAtPart * this.call.hold.amount) this.ask(slice, used)",
    replace: "",
    breaks: "a hold is never extended while its stream comes",
    tests: slicesTests
  },
  {
    file: slices,
    find: "if (cost <= amount || most === undefined || this.isAway()) return undefined",
    replace: "if (cost >= 0 || most === undefined || this.isAway()) return undefined",
    breaks: "what a response costs beyond its hold is written off although there is money",
    tests: slicesTests
  },
  {
    file: slices,
    find: "this.asksAgainAtMillis = isRefused ? undefined : this.deps.timers.now() + askAgainMillis",
    replace: "this.asksAgainAtMillis = undefined",
    breaks: "a stream ends as if its money were used up when the ledger cannot be asked",
    tests: slicesTests
  },
  {
    file: slices,
    find: "if (isRefused) this.refused =",
    replace: "this.refused =",
    breaks: "a ledger that could not be asked once is never asked again",
    tests: slicesTests
  },
  {
    file: relay,
    find: "if (!this.sink.event(event)) this.sinkIsFull()",
    replace: "if (!this.sink.event(event)) this.isSinkFull = true",
    breaks: "a reader that has room again while its hold is extended is never given the rest",
    tests: extensionTests
  },
  {
    file: slices,
    find: "if (Exit.isFailure(exit)) this.defect = Cause.squash(exit.cause)",
    replace: "",
    breaks: "an extension that dies is asked for again without a pause",
    tests: extensionTests
  },
  {
    file: timers,
    find: "Effect.interruptible(slept)",
    replace: "slept",
    breaks: "timers that are made where nothing can be interrupted cannot be cancelled",
    tests: timerTests
  }
]
