import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { periodically } from "../domain/Periodic.ts"
import { Timers, type TimersShape } from "../domain/Timers.ts"
import * as LedgerMetrics from "../observe/LedgerMetrics.ts"
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
/** A node asks this often whether it is to check, and reads what the last check found. */
const readEverySeconds = 10
/** New holds are checked for this long in one check; what is left waits for the next. */
const maxCheckMillis = 50_000

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
        if (yield* store.claim(everySeconds)) yield* run(store, timers)
        last = yield* store.summary
        show(last)
      })
      yield* periodically(`${readEverySeconds} seconds`, "the ledger's invariants could not be checked", check)
      return { last: () => last }
    })
  )
}

/** One check: what is new in portions, as long as there is time, then one portion of what was checked before. */
export const run = Effect.fn("InvariantCheck.run")(function* (store: InvariantCheckStoreShape, timers: TimersShape) {
  const endsAtMillis = timers.now() + maxCheckMillis
  let isMore = true
  while (isMore && timers.now() < endsAtMillis) {
    const startedAtMillis = timers.now()
    const [found, more] = yield* store.checkNew
    yield* report(found)
    isMore = more
    if (more) yield* Effect.sleep(store.pauseFactor * (timers.now() - startedAtMillis))
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
  for (const { name } of invariants) LedgerMetrics.violations(name, summary.violations[name] ?? 0)
  if (summary.checkedSecondsAgo !== null) LedgerMetrics.checkAgeSeconds(summary.checkedSecondsAgo)
  if (summary.checkLagSeconds !== null) LedgerMetrics.checkLagSeconds(summary.checkLagSeconds)
  LedgerMetrics.writtenOff("overrun", summary.overrunMicroUsd)
  LedgerMetrics.writtenOff("absorbed", summary.absorbedMicroUsd)
  LedgerMetrics.writtenOff("late", summary.lateMicroUsd)
  LedgerMetrics.expiredHolds(summary.expiredHolds)
  LedgerMetrics.oldestOpenHoldSeconds(summary.oldestOpenHoldSeconds)
}
