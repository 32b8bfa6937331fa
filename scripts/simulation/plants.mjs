// @ts-check
// Bugs to plant into the simulated program, to see that the simulation finds them. `find` occurs exactly once in `file`.

/** @typedef {{ name: string, file: string, find: string, replace: string }} Plant */

const program = "src/gateway/CallProgram.ts"
const queues = "src/ledger/batcher/LedgerQueues.ts"
const failure = "src/ledger/batcher/BatchFailure.ts"
const rows = "src/ledger/memory/MemoryState.ts"
const database = "test/simulation/SimulatedDatabase.ts"

/** @type {ReadonlyArray<Plant>} */
export const plants = [
  {
    name: "the settlement of a cancelled call is left out",
    file: "src/gateway/CallEnd.ts",
    find: "      ? deps.ledger.settle(call.hold, settlement)\n",
    replace: '      ? settlement.state === "cancelled" ? Effect.void : deps.ledger.settle(call.hold, settlement)\n'
  },
  {
    name: "a settlement is applied whatever the state of its hold (compare-and-set made unconditional)",
    file: rows,
    find: 'if (call.state !== "held") return\n',
    replace: ""
  },
  {
    name: "a void leaves no tombstone",
    file: database,
    find: 'if (state === "void") this.buried.add(callId)',
    replace: ""
  },
  {
    name: "a batch is no heartbeat, and the own heartbeat is left out",
    file: database,
    find: "node.seenAtMillis = now\n",
    replace: ""
  },
  {
    name: "a node judges others by an absence of its own",
    file: database,
    find: "const canJudge = asking !== undefined && now - asking.heardSinceMillis >= silenceMillis",
    replace: "const canJudge = true"
  },
  {
    name: "a reservation whose response was lost is not voided",
    file: failure,
    find: "uncertain && !reservation.extends",
    replace: "false"
  },
  {
    name: "the settlements of a failed batch are dropped",
    file: queues,
    find: "    this.settlements.putBack(settlements)\n    const isUncertain",
    replace: "    this.settlements.settled(settlements)\n    const isUncertain"
  },
  {
    name: "a call charges what it used, above its hold too",
    file: rows,
    find: "call.charged = microUsd(Math.min(actual, call.amount))",
    replace: "call.charged = microUsd(actual * 2)"
  },
  {
    name: "a refused hold keeps its place in the concurrency limits",
    file: program,
    find: "      release()\n      return Effect.failCause(Cause.map(cause,",
    replace: "      return Effect.failCause(Cause.map(cause,"
  },
  {
    name: "an extension is not taken from the room",
    file: rows,
    find: "for (const scope of scopes) scope.heldMicroUsd += amount - call.amount\n",
    replace: ""
  },
  {
    name: "output is priced as input",
    file: "src/domain/Prices.ts",
    find: "(usage.outputTokens - audioOutput + usage.reasoningTokens) * rates.output",
    replace: "(usage.outputTokens - audioOutput + usage.reasoningTokens) * rates.input"
  },
  {
    name: "the claim of a call whose response is kept is released before its settlement is written",
    file: "src/calls/Idempotency.ts",
    find: "Effect.ensuring(isKept ? Effect.void : begun.release, Effect.sync(begun.ended))",
    replace: "Effect.ensuring(begun.release, Effect.sync(begun.ended))"
  },
  {
    name: "a hold without a client's cap takes all the room",
    file: "src/ledger/Hold.ts",
    find: "Math.floor(room / minShareDivisor),",
    replace: "room,"
  },
  {
    name: "the prices of another kind of tokens are recorded with a call",
    file: "src/domain/Prices.ts",
    find: "  input,\n  output,\n  ...(cacheRead",
    replace: "  input: output,\n  output,\n  ...(cacheRead"
  },
  {
    name: "the upstream of a call that has ended stays open",
    file: "src/gateway/Call.ts",
    find: "    this.upstream?.close()\n",
    replace: ""
  }
]
