import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import { periodically } from "../domain/Periodic.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import {
  InvariantCheckStore,
  type InvariantCheckStoreShape,
  type Summary,
  type Violation
} from "./InvariantCheckStore.ts"
import { invariants } from "./LedgerInvariants.ts"

export interface InvariantCheckShape {
  /** What the last check found, by whichever process; `null` before this process has read it. */
  readonly last: () => Summary | null
}

const everySeconds = 60
/** Somewhat less, since a check that begins a moment early must not be left out. */
const claimSeconds = 50
/** New holds are checked for this long in one check; what is left waits for the next. */
const maxCheckMillis = 10_000

const violating = Metric.gauge("gateway_ledger_violations", {
  description: "Rows of the ledger that break an invariant, by invariant; expected to stay 0."
})
const checkedAgo = Metric.gauge("gateway_ledger_check_age_seconds", {
  description: "Seconds since the ledger's invariants were last checked, by any node."
})
const writtenOff = Metric.gauge("gateway_ledger_written_off_micro_usd", {
  description:
    "Written off so far: overrun is what calls cost above their hold, late what ended after its hold expired, absorbed what failed attempts cost."
})
const expiredHolds = Metric.gauge("gateway_ledger_expired_holds", {
  description: "Holds so far whose call was lost in a crash."
})
const oldestHold = Metric.gauge("gateway_ledger_oldest_open_hold_seconds", {
  description: "Age of the oldest open hold."
})

/** Checks the invariants of the ledger every minute, on one node at a time, and shows what it finds. */
export class InvariantCheck extends Context.Tag("gateway/ledger/InvariantCheck")<
  InvariantCheck,
  InvariantCheckShape
>() {
  static readonly layer: Layer.Layer<InvariantCheck, never, InvariantCheckStore | Timers> = Layer.scoped(
    this,
    Effect.gen(function* () {
      const store = yield* InvariantCheckStore
      const timers = yield* Timers
      let last: Summary | null = null
      const check = Effect.gen(function* () {
        if (yield* store.claim(claimSeconds)) yield* run(store, timers)
        last = yield* store.summary
        show(last)
      })
      yield* periodically(`${everySeconds} seconds`, "the ledger's invariants could not be checked", check)
      return { last: () => last }
    })
  )
}

/** One check: what is new in portions, as long as there is time, then one portion of what was checked before. */
export const run = Effect.fn("InvariantCheck.run")(function* (store: InvariantCheckStoreShape, timers: TimersShape) {
  const endsAtMillis = timers.now() + maxCheckMillis
  let isMore = true
  while (isMore && timers.now() < endsAtMillis) {
    const [found, more] = yield* store.checkNew
    yield* report(found)
    isMore = more
  }
  yield* report(yield* store.checkAgain)
  // until the sums are known up to recent holds, a scope's check would read all the others
  if (!isMore) yield* report(yield* store.checkScopes)
})

const report = (found: ReadonlyArray<Violation>): Effect.Effect<void> =>
  Effect.forEach(
    found,
    ({ detail, invariant, subject, text }) =>
      Effect.annotateLogs(Effect.logError("an invariant of the ledger is broken"), {
        invariant,
        text,
        subject,
        detail
      }),
    { discard: true }
  )

const show = (summary: Summary): void => {
  for (const { name } of invariants) {
    Metric.tagged(violating, "invariant", name).unsafeUpdate(summary.violations[name] ?? 0, [])
  }
  if (summary.checkedSecondsAgo !== null) checkedAgo.unsafeUpdate(summary.checkedSecondsAgo, [])
  Metric.tagged(writtenOff, "kind", "overrun").unsafeUpdate(summary.overrunMicroUsd, [])
  Metric.tagged(writtenOff, "kind", "absorbed").unsafeUpdate(summary.absorbedMicroUsd, [])
  Metric.tagged(writtenOff, "kind", "late").unsafeUpdate(summary.lateMicroUsd, [])
  expiredHolds.unsafeUpdate(summary.expiredHolds, [])
  oldestHold.unsafeUpdate(summary.oldestOpenHoldSeconds, [])
}
