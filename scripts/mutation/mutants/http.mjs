// @ts-check

const sink = ["test/http/inference/HttpSink.test.ts"]
const errors = ["test/http/Errors.test.ts"]
const idempotency = ["test/http/inference/Idempotency.test.ts"]
const admission = ["test/http/overload/AdmissionQueue.test.ts"]
const pace = ["test/http/overload/RejectionPace.test.ts"]
const limit = ["test/http/overload/AdaptiveLimit.test.ts"]

/** @type {import("../mutants.mjs").Area} */
export const http = {
  name: "http",
  tests: ["test/http/inference/OrderOfChecks.test.ts", "test/http/server/BadInput.test.ts"],
  mutants: [
    {
      file: "src/http/Errors.ts",
      find: '          reason === "held"\n',
      replace: '          reason === "exhausted"\n',
      breaks: "a client whose money is held by its own calls is not told when to come back",
      tests: errors
    },
    {
      file: "src/http/Errors.ts",
      find: 'scope === "account" ? "insufficient_balance" : "spend_limit_exceeded"',
      replace: '"insufficient_balance"',
      breaks: "a spend limit is called an empty balance",
      tests: errors
    },
    {
      file: "src/http/Errors.ts",
      find: 'retryAfterMillis === null ? { "x-should-retry": "false" } : retryAfter(retryAfterMillis)',
      replace: "{}",
      breaks: "a client repeats a call whose providers have all failed",
      tests: errors
    },
    {
      file: "src/domain/GatewayError.ts",
      find: "new Set(this.attempts.map(({ model }) => model)).size > 1",
      replace: "this.attempts.length > 1",
      breaks: "a retry of one model is called a failure of all providers",
      tests: errors
    },
    {
      file: "src/http/Errors.ts",
      find: "Math.max(1, Math.ceil(millis / 1_000))",
      replace: "Math.floor(millis / 1_000)",
      breaks: "a client is told to come back too early",
      tests: errors
    },
    {
      file: "src/domain/GatewayError.ts",
      find: "text.length > maxQuotedCharacters ?",
      replace: "text.length < 0 ?",
      breaks: "a client's text is quoted at any length",
      tests: errors
    },
    {
      file: "src/http/Errors.ts",
      find: 'error.code === shutdownCode ? "server_error" : "provider_error"',
      replace: '"provider_error"',
      breaks: "the end of this node is called a provider's failure",
      tests: errors
    },
    {
      file: "src/http/inference/StreamSink.ts",
      find: "    if (this.isOver || this.isEnded) return\n    try {",
      replace: "    try {",
      breaks: "a stream that has ended is ended again with an error",
      tests: sink
    },
    {
      file: "src/http/inference/StreamSink.ts",
      find: "this.beatAfter(heartbeatMillis - silentMillis)",
      replace: "this.beatAfter(heartbeatMillis)",
      breaks: "a heartbeat comes late after a stream has fallen silent",
      tests: sink
    },
    {
      file: "src/http/inference/StreamSink.ts",
      find: "    this.lastWriteAtMillis = this.options.timers.now()\n    return this.push(frame)",
      replace: "    return this.push(frame)",
      breaks: "heartbeats are sent between chunks",
      tests: sink
    },
    {
      file: "src/http/inference/StreamSink.ts",
      find: "this.cancelStall = this.options.timers.after(stallMillis, () => this.stalled())",
      replace: "",
      breaks: "a reader that takes nothing keeps its call forever",
      tests: sink
    },
    {
      file: "src/http/inference/StreamSink.ts",
      find: "    this.cancelStall?.()\n    const resume",
      replace: "    const resume",
      breaks: "a reader that was slow once is given up later although it reads",
      tests: sink
    },
    {
      file: "src/http/inference/HttpSink.ts",
      find: "      if (response.closed) this.clientLeft()\n      else response",
      replace: "      response",
      breaks: "a named stream whose client left before it was begun never ends",
      tests: sink
    },
    {
      file: "src/http/inference/KeptStream.ts",
      find: "      this.frames.push(frame)\n",
      replace: "",
      breaks: "a streamed answer is not kept for its repetition",
      tests: [...sink, ...idempotency]
    },
    {
      file: "src/http/inference/StreamSink.ts",
      find: "    if (error.code === shutdownCode) this.repetition?.giveUp()\n",
      replace: "",
      breaks: "a stream that the shutdown of the node has cut short is replayed for a day",
      tests: sink
    },
    {
      file: "src/http/inference/StreamSink.ts",
      find: "const tail = this.isEnded ? this.repetition?.takeTail() : undefined",
      replace: "const tail = this.repetition?.takeTail()",
      breaks: "a kept stream whose end could not be encoded looks complete",
      tests: sink
    },
    {
      file: "src/http/inference/StreamSink.ts",
      find: "    if (this.isUnread) {\n      resume()\n",
      replace: "    if (this.isUnread) {\n",
      breaks: "a kept stream stands still once its client has left",
      tests: sink
    },
    {
      file: "src/http/inference/InferenceHandler.ts",
      find: "if (Cause.isInterruptedOnly(cause)) return Effect.void",
      replace: "",
      breaks: "a client that has left is counted as a defect",
      equivalent: "a client that leaves interrupts the call's fiber, and an interrupted fiber runs no handler",
      tests: ["test/http/inference/Calls.test.ts"]
    },
    {
      file: "src/http/inference/InferenceHandler.ts",
      find: 'drain.isDraining() ? new ServiceRefused({ reason: "shutting_down" }) : undefined',
      replace: "undefined",
      breaks: "new calls are taken while the node drains",
      tests: ["test/http/inference/Calls.test.ts"]
    },
    {
      file: "src/http/inference/InferenceHandler.ts",
      find: "if (!sink.headSent || Exit.isInterrupted(exit)) sink.dispose()",
      replace: "",
      breaks: "heartbeats go on after the call has failed before its head",
      tests: ["test/http/inference/Calls.test.ts"]
    },
    {
      file: "src/http/inference/InferenceHandler.ts",
      find: 'typeof given === "string" && /^[\\w.-]{1,64}$/.test(given) ? given : null',
      replace: 'typeof given === "string" ? given : null',
      breaks: "any text in x-request-id goes into the log",
      tests: ["test/http/inference/Calls.test.ts"]
    },
    {
      file: "src/calls/Idempotency.ts",
      find: "isKept ? Effect.void : begun.release",
      replace: "Effect.void",
      breaks: "a rejected request cannot be sent again under its Idempotency-Key",
      tests: idempotency
    },
    {
      file: "src/calls/Idempotency.ts",
      find: "        state.isKept = sealed !== undefined\n",
      replace: "",
      breaks: "a key is released although its response is kept",
      tests: idempotency
    },
    {
      file: "src/http/inference/InferenceHandler.ts",
      find: "  state.outlivesClient = true\n",
      replace: "",
      breaks:
        "a call with an Idempotency-Key is cancelled when its client leaves, and charged again when it is sent again",
      tests: idempotency
    },
    {
      file: "src/http/inference/KeptAnswers.ts",
      find: ' && failure.value._tag === "ProvidersFailed" && failure.value.attempts.length > 0',
      replace: "",
      breaks: "a rejection is replayed for a day",
      tests: idempotency
    },
    {
      file: "src/http/inference/KeptAnswers.ts",
      find: " && failure.value.attempts.length > 0",
      replace: "",
      breaks: "a failure without an attempt is replayed for a day",
      tests: ["test/http/inference/KeptAnswers.test.ts"]
    },
    {
      file: "src/http/inference/IdempotencyKey.ts",
      find: " && /^[\\x21-\\x7e][\\x20-\\x7e]{0,254}$/.test(given)",
      replace: "",
      breaks: "any Idempotency-Key is taken",
      tests: idempotency
    },
    {
      file: "src/calls/Idempotency.ts",
      find: "if (!requestHash.equals(found.requestHash)) return yield* reused",
      replace: "",
      breaks: "another request under the same key gets the first one's answer",
      tests: ["test/calls/Idempotency.test.ts"]
    },
    {
      file: "src/calls/Idempotency.ts",
      find: 'update(path).update("\\0")',
      replace: 'update("\\0")',
      breaks: "the same body at another endpoint gets the first one's answer",
      tests: ["test/calls/Idempotency.test.ts"]
    },
    {
      file: "src/calls/Idempotency.ts",
      find: "body.length > maxAnswerBytes",
      replace: "false",
      breaks: "answers of any size are kept",
      tests: ["test/calls/Idempotency.test.ts"]
    },
    {
      file: "src/gateway/CallEnd.ts",
      find: "{ ...settlement, kept: keeping.value }",
      replace: "settlement",
      breaks: "a response is charged, but not kept",
      tests: idempotency
    },
    {
      file: "src/ledger/LedgerStore.ts",
      find: "kept.length === 0 ? null : JSON.stringify(kept)",
      replace: "null",
      breaks: "a response is charged, but not kept in the database",
      tests: ["test/calls/Idempotency.test.ts"]
    },
    {
      file: "src/sql/migrations/0006_idempotent_claims.ts",
      find: " and h.state in ('settled', 'cancelled', 'void')",
      replace: "",
      breaks: "a response is replayed although its hold had expired before it was charged",
      tests: ["test/calls/Idempotency.test.ts"]
    },
    {
      file: "src/sql/migrations/0006_idempotent_claims.ts",
      find: "select h.state <> 'held' into is_free from hold h where h.id = found_row.run_id;",
      replace: "is_free := true;",
      breaks: "a key is taken over while the call of its first run can still be charged",
      tests: ["test/calls/Idempotency.test.ts"]
    },
    {
      file: "src/sql/migrations/0006_idempotent_claims.ts",
      find: "if hold_state = 'expired' then is_free := true;",
      replace: "if hold_state = 'none' then is_free := true;",
      breaks: "a key is stuck after its call has expired on a node that lives",
      tests: ["test/calls/Idempotency.test.ts"]
    },
    {
      file: "src/http/overload/AdmissionQueue.ts",
      find: "if (this.tenants.get(tenant.id) === tenant) this.tenants.delete(tenant.id)",
      replace: "this.tenants.delete(tenant.id)",
      breaks: "the end of an earlier call makes its account count twice",
      tests: admission
    },
    {
      file: "src/http/overload/AdmissionQueue.ts",
      find: "return Math.max(1, share, tenant.waiting.size + all - this.queued)",
      replace: "return Math.max(1, share)",
      breaks: "a waiting call of another account halves the queue of a busy one",
      tests: admission
    },
    {
      file: "src/http/overload/OverloadDetector.ts",
      find: " || this.arrivals <= minArrivals * this.departures",
      replace: "",
      breaks: "a burst counts as overload",
      tests: admission
    },
    {
      file: "src/http/overload/OverloadDetector.ts",
      find: " || this.admissions < warmUpCalls",
      replace: "",
      breaks: "a node that is still compiled rejects calls",
      tests: admission
    },
    {
      file: "src/http/overload/OverloadDetector.ts",
      find: "Math.min(this.options.maxLateMillis, Math.max(minLateMillis, latencyFactor * latencyMillis))",
      replace: "Math.max(minLateMillis, latencyFactor * latencyMillis)",
      breaks: "a node whose store is slow is never overloaded",
      tests: admission
    },
    {
      file: "src/http/overload/EvenPace.ts",
      find: "    this.respond(perTick)\n    if (this.left < perTick)",
      replace: "    this.respond(perTick)\n    if (this.waiting.size > 0)",
      breaks: "what was responded to at once is not counted in the next ten milliseconds",
      tests: ["test/http/overload/EvenPace.test.ts"]
    },
    {
      file: "src/identity/keys/ApiKeys.ts",
      find: "if (known.has(hash) || cache.peek(hash)?.caller !== undefined) return undefined",
      replace: "",
      breaks: "a valid key is rejected at an address with too many failures",
      tests: ["test/hardening/Strangers.test.ts"]
    },
    {
      file: "src/http/overload/RejectionPace.ts",
      find: "this.timers.now() - rejectedAtMillis >= overloadRetryMillis",
      replace: "true",
      breaks: "a client that sends again at once is rejected at once",
      tests: pace
    },
    {
      file: "src/http/overload/RejectionPace.ts",
      find: "      this.firstTokens -= 1\n",
      replace: "",
      breaks: "rejections of new connections are not limited",
      tests: pace
    },
    {
      file: "src/http/overload/AdaptiveLimit.ts",
      find: "const riseByWindow = 1.001",
      replace: "const riseByWindow = 1.005",
      breaks: "the minimum follows the latency that the limit itself makes",
      tests: limit
    }
  ]
}
