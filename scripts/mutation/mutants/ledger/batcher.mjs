// @ts-check

const batcher = "src/ledger/batcher/LedgerBatcher.ts"
const queues = "src/ledger/batcher/LedgerQueues.ts"
const flushTimers = "src/ledger/batcher/FlushTimers.ts"
const policy = "src/ledger/batcher/FlushPolicy.ts"
const failure = "src/ledger/batcher/BatchFailure.ts"
const rooms = "src/ledger/batcher/KnownRooms.ts"
const held = "src/ledger/batcher/HeldQueue.ts"
const reservations = "src/ledger/batcher/ReservationQueue.ts"
const settlements = "src/ledger/batcher/SettlementQueue.ts"
const lanes = "src/ledger/batcher/AccountLanes.ts"

/** @type {ReadonlyArray<import("../../mutants.mjs").Mutant>} */
export const batcherMutants = [
  {
    file: lanes,
    find: "if (this.apart.size === 0) return this.shared",
    replace: "if (this.apart.size >= 0) return this.shared",
    breaks: "a locked account meets the others in every batch"
  },
  {
    file: lanes,
    find: "this.eachApart((batcher) => batcher.flushed)",
    replace: "Effect.void",
    breaks: "settlements of a locked account count as written"
  },
  {
    file: lanes,
    find: "accounts.size > 0 && accounts.size <= maxLockedAccounts",
    replace: "false",
    breaks: "others wait for the lock of one account as long as its own calls"
  },
  {
    file: queues,
    find: "now - (queued.lockedSinceMillis ?? now) >= maxLockedMillis",
    replace: "now - (queued.lockedSinceMillis ?? now) < 0",
    breaks: "a call of a locked account waits without a bound"
  },
  {
    file: reservations,
    find: "    this.queued = kept\n    return [...waiting, ...queued]\n",
    replace: "    return [...waiting, ...queued]\n",
    breaks: "what waits behind a batch that met a lock is decided twice"
  },
  {
    file: held,
    find: "this.stay(waiting, caller, scope, true)",
    replace: "this.stay(waiting, caller, scope, false)",
    breaks:
      "a call whose first option does not fit waits for its turn, and without a bound, before its others are asked for"
  },
  {
    file: queues,
    find: 'result?._tag === "Insufficient" && reservation.otherOptions !== undefined',
    replace: "false",
    breaks: "a call whose first option does not fit is refused although another one does"
  },
  {
    file: held,
    find: "if (this.waitingAt.has(entry.scope)) this.dueScopes.add(entry.scope)",
    replace: "",
    breaks: "those behind a reservation that has left wait for the next settlement"
  },
  {
    file: held,
    find: "if (!isFinal && !isUndecided && (count >= maxPerScope",
    replace: "if (!isUndecided && (count >= maxPerScope",
    breaks: "a reservation whose time is up waits for its turn"
  },
  {
    file: reservations,
    find: "maxWaitMillis > 0 ? this.held.blockedAt(caller) : undefined",
    replace: "this.held.blockedAt({ ...caller, accountId: queued.reservation.callId })",
    breaks: "a later reservation overtakes one that waits for held money"
  },
  {
    file: queues,
    find: "    this.reservations.released(settlement.caller)\n",
    replace: "",
    breaks: "money that returns is noticed by a timer only"
  },
  {
    file: queues,
    find: "    this.release(this.settlements.after(lastSequence))\n",
    replace: "",
    breaks: "money that returns while a call is refused is noticed by a timer only"
  },
  {
    file: queues,
    find: "    this.release(settlements)\n",
    replace: "",
    breaks: "money that returns with a settlement that was tried again is noticed by a timer only"
  },
  {
    file: policy,
    find: "export const maxPerStatement = 256",
    replace: "export const maxPerStatement = 512",
    breaks: "a statement has more rows than it should"
  },
  {
    file: policy,
    find: 'if (queue.writing || queue.retrying) return "Wait"',
    replace: 'if (queue.writing) return "Wait"',
    breaks: "a new settlement is written while a failed batch waits for its retry"
  },
  {
    file: policy,
    find: "queue.closing || queue.settlements >= maxPerStatement ?",
    replace: "queue.closing ?",
    breaks: "a full batch of settlements waits for its time"
  },
  {
    file: policy,
    find: "queue.closing || queue.settlements >= maxPerStatement ?",
    replace: "queue.settlements >= maxPerStatement ?",
    breaks: "a settlement during closing waits for its time"
  },
  {
    file: policy,
    find: '  if (queue.reservations > 0) return "FlushNow"\n',
    replace: "",
    breaks: "reservations that arrived during a statement wait for company"
  },
  {
    file: policy,
    find: '  if (queue.retrying) return "Wait"\n',
    replace: "",
    breaks: "after a failed batch its settlements are written again before their time"
  },
  {
    file: policy,
    find: "closing || failures > 0 ||",
    replace: "failures > 0 ||",
    breaks: "closing waits for the time of each batch"
  },
  {
    file: policy,
    find: "failures > 0 || awaited ||",
    replace: "awaited ||",
    breaks: "after a failure settlements wait for company again"
  },
  {
    file: policy,
    find: "awaited || late ||",
    replace: "late ||",
    breaks: "settlements that someone waits for wait for company"
  },
  {
    file: policy,
    find: " || settlements >= maxSettlements\n",
    replace: "\n",
    breaks: "a full batch of settlements that came during a statement waits for its time"
  },
  {
    file: policy,
    find: "awaited || late ||",
    replace: "awaited ||",
    breaks: "settlements that have waited for their time wait for it again"
  },
  {
    file: policy,
    find: "return queue.wanted || queue.closing",
    replace: "return queue.closing",
    breaks: "a call that waits for held money waits for the time of the settlement that releases it"
  },
  {
    file: policy,
    find: "queue.ample && !queue.wanted && !areDue(queue)",
    replace: "queue.ample && !areDue(queue)",
    breaks: "a call that was refused for settlements that wait is decided again and again without them"
  },
  {
    file: policy,
    find: "queue.ample && !queue.wanted && !areDue(queue)",
    replace: "!queue.wanted && !areDue(queue)",
    breaks: "a reservation that could use what settlements release is granted less"
  },
  {
    file: rooms,
    find: "isExtension || known === undefined",
    replace: "known === undefined",
    breaks: "a hold whose settlement waits can be extended"
  },
  {
    file: rooms,
    find: "max <= room / minShareDivisor",
    replace: "max <= room",
    breaks: "a reservation without a client's cap is granted a share of less than the room that it has"
  },
  {
    file: rooms,
    find: "(this.grantedTo(accountId) - known.grantedMicroUsd) - before",
    replace: "(this.grantedTo(accountId) - known.grantedMicroUsd)",
    breaks: "reservations of one account count on the same room"
  },
  {
    file: rooms,
    find: "known.room - (this.grantedTo(accountId) - known.grantedMicroUsd)",
    replace: "known.room",
    breaks: "a key counts on room that another key of the account has taken since"
  },
  {
    file: queues,
    find: "      this.rooms.forget()\n",
    replace: "",
    breaks: "what an account was granted counts against it for as long as the process lives"
  },
  {
    file: queues,
    find: 'if (isPutOff && !queued.interrupted && result?._tag === "Insufficient")',
    replace: "if (false)",
    breaks: "a call is refused while a settlement that makes room for it waits"
  },
  {
    file: policy,
    find: "!queue.retrying && (!queue.suspect || queue.settlementsNext || queue.reservations === 0)",
    replace: "!queue.retrying",
    breaks: "reservations wait while suspect settlements are tried again"
  },
  {
    file: policy,
    find: "!queue.retrying && (!queue.suspect",
    replace: "(!queue.suspect",
    breaks: "settlements that wait for their retry are written with reservations"
  },
  {
    file: policy,
    find: "const mayReserve = !queue.suspect || settlements === 0",
    replace: "const mayReserve = true",
    breaks: "reservations fail together with a settlement that is rejected"
  },
  {
    file: failure,
    find: "uncertain && !reservation.extends",
    replace: "uncertain",
    breaks: "an extension whose statement is uncertain voids the hold of a running call"
  },
  {
    file: failure,
    find: "uncertain && !reservation.extends",
    replace: "!reservation.extends",
    breaks: "a hold that cannot have been granted is voided"
  },
  {
    file: failure,
    find: "firstRetryMillis * 2 ** Math.min(failures - 1, 10)",
    replace: "firstRetryMillis",
    breaks: "retries against a database in trouble come at the same pace forever"
  },
  {
    file: failure,
    find: "Math.min(rejected ? firstRetryMillis : firstRetryMillis * 2 ** Math.min(failures - 1, 10), maxRetryMillis)",
    replace: "rejected ? firstRetryMillis : firstRetryMillis * 2 ** Math.min(failures - 1, 10)",
    breaks: "retries against a database in trouble come ever later"
  },
  {
    file: failure,
    find: "rejected ? firstRetryMillis : firstRetryMillis * 2",
    replace: "firstRetryMillis * 2",
    breaks: "retries of a rejected statement come ever later"
  },
  {
    file: failure,
    find: "repeated ? { ...failed, maxSettlements: Math.max(1, Math.ceil(batch.settlements / 2)) } : failed",
    replace: "failed",
    breaks: "a batch with a rejected row is never halved"
  },
  {
    file: failure,
    find: "batch.rejected ? rejectionsBeforeHalving : failuresBeforeHalving",
    replace: "rejectionsBeforeHalving",
    breaks: "batches are halved at once against a database that does not answer"
  },
  {
    file: failure,
    find: "maxSettlements * 2",
    replace: "maxSettlements",
    breaks: "batches stay small after a rejected row"
  },
  {
    file: failure,
    find: "repeated && batch.rejected && batch.settlements === 1",
    replace: "repeated && batch.settlements === 1",
    breaks: "a settlement is left out although the database only did not answer"
  },
  {
    file: failure,
    find: "batch.settlements === 1 && batch.reservations === 0",
    replace: "batch.settlements === 1",
    breaks: "a settlement is left out although a reservation may have been what was rejected"
  },
  {
    file: failure,
    find: "if (settlement.record !== null) return",
    replace: "if (settlement.record !== null) return undefined\n  if (settlement.record !== null) return",
    breaks: "a settlement whose log row is rejected is left out"
  },
  {
    file: failure,
    find: "if (settlement.kept !== undefined) return",
    replace: "if (settlement.kept === null) return",
    breaks: "a settlement whose kept response is rejected is not charged"
  },
  {
    file: failure,
    find: "suspectThrough: batch.lastSequence }",
    replace: "suspectThrough: 0 }",
    breaks: "settlements of a failed batch are not suspect"
  },
  {
    file: failure,
    find: "elapsedMillis >= outageMillis",
    replace: "elapsedMillis > outageMillis * 2",
    breaks: "an outage of the database is noticed late"
  },
  {
    file: flushTimers,
    find: "const flushMillis = 20\n",
    replace: "const flushMillis = 100\n",
    breaks: "a settlement alone waits longer than 20 ms"
  },
  {
    file: settlements,
    find: "    if (this.settling.has(settlement.callId)) return false\n",
    replace: "",
    breaks: "a second settlement of a call is written"
  },
  {
    file: queues,
    find: "if (BatchFailure.isOutage(tookMillis)) this.failQueued(exit.cause)",
    replace: "",
    breaks: "what waits behind a database that does not answer waits for another outage"
  },
  {
    file: queues,
    find: "if (BatchFailure.isOutage(tookMillis)) this.failQueued(exit.cause)",
    replace: "this.failQueued(exit.cause)",
    breaks: "what waits behind a batch that has failed at once fails with it"
  },
  {
    file: queues,
    find: "      if (queued.interrupted && !reservation.extends) this.settle(voidOf(reservation))\n",
    replace: "",
    breaks: "a hold that is granted after its caller has left stays"
  },
  {
    file: batcher,
    find: 'else if (queued.state === "granted" && !queued.reservation.extends) this.settle(voidOf(queued.reservation))',
    replace: "",
    breaks: "a hold that is granted but never taken stays"
  },
  {
    file: reservations,
    find: 'if (queued.state === "queued") this.queued = this.queued.filter((other) => other !== queued)',
    replace: 'if (queued.state === "queued") return',
    breaks: "a reservation whose caller has left is written"
  },
  {
    file: queues,
    find: "    this.settlements.putBack(settlements)\n    const isUncertain",
    replace: "    const isUncertain",
    breaks: "settlements of a failed batch are lost"
  },
  {
    file: settlements,
    find: "    this.queued = [...settlements, ...this.queued]\n",
    replace: "    this.queued = [...this.queued, ...settlements]\n",
    breaks: "settlements of a failed batch are written after later ones"
  },
  {
    file: queues,
    find: '    if (this.closing) return "closing"\n',
    replace: "",
    breaks: "reservations are taken while the ledger closes"
  },
  {
    file: queues,
    find: "this.reservations.size >= maxReservations || this",
    replace: "this",
    breaks: "any number of reservations may wait"
  },
  {
    file: queues,
    find: " || this.settlements.size >= maxSettlements) {",
    replace: ") {",
    breaks: "reservations are granted while settlements cannot be written without end"
  },
  {
    file: settlements,
    find: "this.waiters.filter((waiter) => waiter.through < oldest)",
    replace: "this.waiters.filter(() => true)",
    breaks: "flushed succeeds before its settlements are written"
  },
  {
    file: batcher,
    find: "    if (!this.writing && !this.flushTimers.isRetrying) this.flush()\n",
    replace: "",
    breaks: "flushed waits for company"
  },
  {
    file: batcher,
    find: "const cancel = this.deps.timers.after(closeMillis, () => resume(Effect.void))",
    replace: "const cancel = () => {}",
    breaks: "closing waits forever for a database that does not answer"
  },
  {
    file: batcher,
    find: "    if (!this.writing) this.perform(FlushPolicy.afterBatch(this.queueState()))\n",
    replace: "    if (!this.writing) this.onIdle()\n",
    breaks: "closing drops the settlements that wait"
  },
  {
    file: queues,
    find: "    this.deps.reports.written()\n",
    replace: "",
    breaks: "the health of the database does not hear of a success"
  },
  {
    file: queues,
    find: " && !this.deps.reports.failed(error.cause) && !error.rejected",
    replace: " && !error.rejected",
    breaks: "the health of the database does not hear of a failure"
  },
  {
    file: queues,
    find: "      this.deps.reports.delayed(error.cause)\n",
    replace: "",
    breaks: "no line says what keeps the ledger from writing"
  },
  {
    file: queues,
    find: "    this.settlementsNext = size.settlements === 0\n",
    replace: "",
    breaks: "suspect settlements and reservations do not take turns"
  },
  {
    file: queues,
    find: "    this.failureState = BatchFailure.afterDrop(this.failureState)\n",
    replace: "",
    breaks: "after a settlement was left out the next failure is taken for a repeated one"
  },
  {
    file: queues,
    find: "    this.settlements.settled([rejected])\n",
    replace: "",
    breaks: "flushed waits forever for a settlement that was left out"
  },
  {
    file: queues,
    find: "rejected: error?.rejected !== false",
    replace: "rejected: error?.rejected === true",
    breaks: "a defect of the store is taken for an outage"
  }
]
