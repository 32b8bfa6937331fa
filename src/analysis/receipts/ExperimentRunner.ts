import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { RoutingVersionStore } from "../../account/routing/RoutingVersionStore.ts"
import { Audit } from "../../audit/Audit.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { periodically } from "../../domain/Periodic.ts"
import { ProjectStore } from "../../identity/projects/ProjectStore.ts"
import { PolicyStore } from "../../policy/PolicyStore.ts"
import { AccountTransactions } from "../../sql/AccountDatabase.ts"
import type { Announce } from "../../sql/ChangeNotifications.ts"
import { routingWith, withFields } from "../actions/ProjectChange.ts"
import { AnalysisStore } from "../job/AnalysisStore.ts"
import { type ExperimentRow, ExperimentStore } from "./ExperimentStore.ts"
import { revertAt } from "./Guards.ts"
import { MeasuredCallStore, maxMeasuredCalls } from "./MeasuredCallStore.ts"
import { type Measurement, measure } from "./Measurement.ts"

export interface ExperimentRunnerShape {
  /** Measures one experiment that is due, and ends it where that is to be; false where none is due. */
  readonly lookOne: Effect.Effect<boolean, StoreUnavailable>
}

/**
 * Measures what changes do while conversations are held out of them, takes harmful ones back and ends the others. Any number of
 * nodes may do so: a look is claimed in the database, and an experiment ends once.
 */
export class ExperimentRunner extends Context.Tag("gateway/analysis/ExperimentRunner")<
  ExperimentRunner,
  ExperimentRunnerShape
>() {
  static readonly layer = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

/** Shorter than the time between two looks at one experiment. */
const pollMillis = 5_000

/** In the background, one at a time. */
export const experimenting: Layer.Layer<never, never, ExperimentRunner> = Layer.scopedDiscard(
  Effect.flatMap(ExperimentRunner, ({ lookOne }) => {
    const untilNone: Effect.Effect<void, StoreUnavailable> = Effect.flatMap(lookOne, (looked) =>
      looked ? untilNone : Effect.void
    )
    return periodically(pollMillis, "experiments could not be measured", untilNone)
  })
)

const make = Effect.gen(function* () {
  const store = yield* ExperimentStore
  const calls = yield* MeasuredCallStore
  const analyses = yield* AnalysisStore
  const policies = yield* PolicyStore
  const routings = yield* RoutingVersionStore
  const projects = yield* ProjectStore
  const transactions = yield* AccountTransactions
  const audit = yield* Audit

  const endSuperseded = (announce: Announce) =>
    Effect.flatMap(store.endSuperseded(changedSince), (ended) =>
      Effect.forEach(ended, (id) => announce({ kind: "project", id }), { discard: true })
    )

  /** Ends an experiment that still runs, once, while nobody else changes its project; calls forget it with the commit. */
  const ending = (
    row: ExperimentRow,
    state: "final" | "reverted",
    reason: string,
    restore: Effect.Effect<void, StoreUnavailable>
  ) =>
    transactions.commit((announce) =>
      Effect.gen(function* () {
        yield* projects.lock(row.projectId)
        yield* endSuperseded(announce)
        if (!(yield* store.end(row.id, { state, reason }))) return false
        yield* restore
        yield* policies.raiseVersion(row.projectId)
        yield* announce({ kind: "configurations", id: row.projectId })
        if (row.analysisId !== null) yield* announce({ kind: "analysis", id: row.analysisId })
        const accountId = yield* projects.findAccount(row.projectId)
        if (accountId === undefined) return true
        yield* audit.recordBy(null, {
          accountId,
          action: state === "final" ? "analysis.experiment.end" : "analysis.action.revert",
          target: { kind: "analysis", id: row.analysisId ?? row.id },
          before: { action_id: row.actionId, ...row.after },
          after: { reason, ...(state === "reverted" && row.before) }
        })
        return true
      })
    )

  /** The fields as they were before the change; what else was changed since stays. */
  const restored = (row: ExperimentRow) =>
    Effect.gen(function* () {
      if (row.slug === null) {
        const policy = yield* policies.find(row.projectId)
        if (policy !== undefined) yield* policies.write(row.projectId, withFields(policy, row.before), false)
      } else {
        const routing = yield* routings.find(row.projectId, row.slug)
        if (routing !== undefined) {
          const version = yield* routings.add(routing.id, routingWith(routing, row.before), row.startedBy)
          yield* routings.activate(routing.id, version)
        }
      }
      if (row.analysisId !== null) yield* analyses.undo(row.analysisId, row.actionId)
    })

  const reverted = (row: ExperimentRow, measurement: Measurement) =>
    Effect.gen(function* () {
      const reason = harmOf(measurement)
      if (!(yield* ending(row, "reverted", reason, restored(row)))) return
      yield* Effect.annotateLogs(Effect.logWarning("a change was reverted: its guards have shown harm"), {
        project: row.projectId,
        analysis: row.analysisId,
        action: row.actionId,
        reason
      })
    })

  return ExperimentRunner.of({
    lookOne: Effect.gen(function* () {
      yield* transactions.commit(endSuperseded)
      const row = yield* store.claim
      if (row === undefined) return false
      const since = yield* calls.since(row)
      const measurement = measure({
        division: row,
        estimatedPerCall: row.estimatedPerCall,
        before: yield* calls.before(row),
        since
      })
      if (!(yield* store.measured(row, measurement))) return true
      if (measurement.eValue >= revertAt) yield* reverted(row, measurement)
      else if (row.isOver) yield* ending(row, "final", "The hold-out period has ended.", Effect.void)
      else if (since.reduce((sum, each) => sum + each.calls, 0) >= maxMeasuredCalls) {
        yield* ending(row, "final", `${maxMeasuredCalls} calls were measured.`, Effect.void)
      }
      return true
    })
  })
})

const changedSince = "A user changed the fields that the action had changed."

/** Which guard says so most clearly. */
const harmOf = ({ conversations, eValue, guards }: Measurement): string => {
  const [worst] = [...guards].sort((a, b) => b.eValue - a.eValue)
  const { before = null, guard, held_out = null, treated = null } = worst ?? {}
  return `After ${conversations.treated} conversations with the change, ${guard} are at ${percent(treated)}; ${percent(held_out)} without it at the same time, ${percent(before)} before it (e-value ${eValue.toFixed(1)}).`
}

const percent = (value: number | null): string => (value === null ? "unknown" : `${(100 * value).toFixed(1)} %`)
