import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type { Catalog } from "../../catalog/Catalog.ts"
import type { NotFound, SealingUnavailable } from "../../domain/AccountError.ts"
import type { StoreUnavailable } from "../../domain/GatewayError.ts"
import { IdGenerator } from "../../domain/IdGenerator.ts"
import { periodically } from "../../domain/Periodic.ts"
import { type Change, ChangeNotifications, type ChangeNotificationsShape } from "../../sql/ChangeNotifications.ts"
import type { AnalysisReport } from "../../wire/account/Analyses.ts"
import type { ReplayRun } from "../evidence/ReplayRun.ts"
import type { ExperimentStore } from "../receipts/ExperimentStore.ts"
import type { AnalysisEngine, EngineFailed } from "./AnalysisEngine.ts"
import type { AnalysisSource } from "./AnalysisSource.ts"
import { type AnalysisRow, AnalysisStore, type Lease } from "./AnalysisStore.ts"
import type { AnalysisWork } from "./AnalysisWork.ts"
import { make as makeReplayWork } from "./ReplayWork.ts"
import { ReportSeal } from "./ReportSeal.ts"
import { make as makeReportWork } from "./ReportWork.ts"

export interface AnalysisRunnerShape {
  /** Takes one analysis that waits, or was left by a node that is gone, and runs it to its end; false where there is none. */
  readonly runOne: Effect.Effect<boolean, StoreUnavailable>
}

/** Runs analyses. Any number of nodes may do so: a lease in the database says which one runs which. */
export class AnalysisRunner extends Context.Tag("gateway/analysis/AnalysisRunner")<
  AnalysisRunner,
  AnalysisRunnerShape
>() {
  static readonly layer: Layer.Layer<
    AnalysisRunner,
    never,
    | AnalysisEngine
    | AnalysisSource
    | AnalysisStore
    | Catalog
    | ChangeNotifications
    | ExperimentStore
    | IdGenerator
    | ReplayRun
    | ReportSeal
  > = Layer.effect(
    this,
    Effect.suspend(() => make)
  )
}

const maxRunning = 2
/** A request announces itself: what nobody announces is left by a node that is gone, whose lease ends after 30 s. */
const pollMillis = 15_000
const heartbeatMillis = 10_000
/** Claims of one analysis: what has ended its nodes so often would end the next one too. */
const maxClaims = 5

/** In the background, two at a time; at once when one is asked for on any node. */
export const running: Layer.Layer<never, never, AnalysisRunner | ChangeNotifications> = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { runOne } = yield* AnalysisRunner
    const changes = yield* ChangeNotifications
    for (let each = 0; each < maxRunning; each++) {
      const wake = yield* wakes(changes, ({ kind }) => kind === "analysis")
      const untilNone: Effect.Effect<void, StoreUnavailable> = Effect.flatMap(runOne, (ran) =>
        ran ? untilNone : Effect.void
      )
      yield* periodically(
        0,
        "analyses could not be run",
        Effect.zipRight(untilNone, Effect.raceFirst(Effect.sleep(pollMillis), Queue.take(wake))).pipe(
          Effect.tapError(() => Effect.sleep(pollMillis))
        )
      )
    }
  })
)

const make = Effect.gen(function* () {
  const store = yield* AnalysisStore
  const seal = yield* ReportSeal
  const changes = yield* ChangeNotifications
  const reportWork = yield* makeReportWork
  const replayWork = yield* makeReplayWork
  const node = (yield* IdGenerator).uuid()

  /** Ends when the analysis is to end: `cancelled`, or `lost` when another node has it. */
  const watch = (lease: Lease) =>
    Effect.scoped(
      Effect.gen(function* () {
        const wake = yield* wakes(changes, ({ id }) => id === lease.id)
        for (;;) {
          const cancelRequested = yield* store.heartbeat(lease)
          if (cancelRequested === undefined) return "lost" as const
          if (cancelRequested) return "cancelled" as const
          yield* Effect.raceFirst(Effect.sleep(heartbeatMillis), Queue.take(wake))
        }
      })
    )

  const sealed = ({ id }: Lease, report: AnalysisReport | null) =>
    report === null ? Effect.succeed(null) : seal.seal(id, report)

  const fail = (lease: Lease, error: string) => store.finish(lease, { status: "failed", error, report: null })

  /** Does the work and stores how it has ended. */
  const finished = (lease: Lease, { run }: AnalysisWork) =>
    Effect.gen(function* () {
      const { error, report, status } = yield* run
      return yield* store.finish(lease, { status, error, report: yield* sealed(lease, report) })
    }).pipe(
      Effect.catchTags({
        EngineFailed: ({ reason }: EngineFailed) => fail(lease, `The engine failed: ${reason.slice(0, 200)}.`),
        NotFound: ({ message }: NotFound) => fail(lease, message),
        SealingUnavailable: ({ message }: SealingUnavailable) => fail(lease, message)
      }),
      Effect.as("ended" as const)
    )

  /** A report that cannot be opened or sealed is left out. */
  const cancelled = (lease: Lease, { partial }: AnalysisWork) =>
    Effect.flatMap(partial, (report) => sealed(lease, report)).pipe(
      Effect.catchTag("SealingUnavailable", () => Effect.succeed(null)),
      Effect.flatMap((report) => store.finish(lease, { status: "cancelled", error: null, report }))
    )

  const run = (row: AnalysisRow): Effect.Effect<void, StoreUnavailable> =>
    Effect.gen(function* () {
      if (row.epoch - row.replayEpoch > maxClaims) {
        yield* fail(row, `It did not complete in ${maxClaims} attempts.`)
        return
      }
      const work = row.replay === null ? reportWork(row) : replayWork(row, row.replay)
      const end = yield* Effect.raceFirst(finished(row, work), watch(row))
      if (end === "cancelled") yield* cancelled(row, work)
    })

  return AnalysisRunner.of({
    runOne: Effect.flatMap(store.claim(node), (row) =>
      row === undefined ? Effect.succeed(false) : Effect.as(run(row), true)
    )
  })
})

/** Has something after each change that concerns it, and where one may have been missed. */
const wakes = (changes: ChangeNotificationsShape, concerns: (change: Change) => boolean) =>
  Effect.gen(function* () {
    const wake = yield* Queue.sliding<void>(1)
    const cancel = changes.onChange((change) => {
      if (change === undefined || concerns(change)) wake.unsafeOffer(undefined)
    })
    yield* Effect.addFinalizer(() => Effect.sync(cancel))
    return wake
  })
